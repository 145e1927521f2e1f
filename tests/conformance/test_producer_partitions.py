"""Spring Cloud Stream's, Debezium's and Maxwell's own classes place keys as the rules that are named after them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.oracle.bridge import Compiler, instance
from kafka_conformance.oracle.oracle import Oracle
from kafka_jars.pins import Jar, load
from kafka_jars.store import default_store
from kafka_reference.partitioning.places import RULES

_CLOUD = "org.springframework.cloud"
SPRING = {
    f"{_CLOUD}:spring-cloud-stream:4.3.0": "7599f6fddf0595963a6f50a846d8043ce50d0d4aff80200197b9489536f82a35",
    "org.springframework:spring-beans:6.2.8": "a6ae270c6eb06e9502aa7e47ee3fc66deb1853285b4a4e020f3d22767f2fabd3",
    "org.springframework:spring-context:6.2.8": "1cf85780301b86f8d876a2dfbfbdd9ee187179cdb361337a2ba4ee56025f6432",
    "org.springframework:spring-core:6.2.8": "27f640340164d74a0e90ee176b75d5a18a93f82fa96f444a757acf0bf3ae7257",
    "org.springframework:spring-expression:6.2.8": "d46b922eb2200710ec5100f00d35fd8786d5e7bc459d09c8bbda32432726a5ba",
    "org.springframework:spring-jcl:6.2.8": "bd8b6add12db54602bc5926b8449a48fd922a36778323218aea88cfaea591e72",
    "org.springframework:spring-messaging:6.2.8": "c202b58b3913a5135709f769c33af4e16349a6713893fea9db99f7c44e16567b",
}
DEBEZIUM = {
    "io.debezium:debezium-core:3.4.2.Final": "27358debc466aa85f770764c434c87087d2f4628aea2acf071fff72c92ad6279",
    "io.debezium:debezium-api:3.4.2.Final": "c2aac03654f140555fc23b4b6eb0147f1c36639b4fb9c823542a771b06e8565b",
    "io.debezium:debezium-common:3.4.2.Final": "274ff766f0384421c02951408cb0a51d4c6ca80f0e61bd3c83ac2a9d692c014c",
    "org.apache.kafka:connect-api:4.1.1": "9e8fe3277d31410e3dd6c84b34967230bb5643b8424d3b96320ce1c43b4b5152",
}
MAXWELL = {"com.zendesk:maxwell:1.22.6": "73980f5d1f270cb057b2fb02252c3f2c784dda03717d0780e3d7489b60186cd0"}
"""The newest on Maven Central; releases since then are archives on GitHub, where the class is unchanged in 1.45.0."""

PRODUCTS = {
    "spring": (SPRING, "string-hash-code-abs-or-zero", "long-hash-code-abs-or-zero"),
    "debezium": (DEBEZIUM, "string-hash-code-text-masked", "long-hash-code-masked"),
    "maxwell": (MAXWELL, "string-hash-code-abs", None),
    "maxwell-murmur3": (MAXWELL, "murmur3-25342-abs", None),
}
"""By product: its jars, its rule for text, and for a Long."""

DRAWS = random.Random(41)
TEXTS = [
    "order-4711", "Zoë-ﬁ-𝄞", "polygenelubricants",  # the hash code of the last is the least int
    *("".join(chr(DRAWS.choice([*range(32, 127), *range(160, 0x500)])) for _ in range(DRAWS.randrange(1, 30)))
      for _ in range(200)),
]  # fmt: skip
LONGS = [
    0,
    7,
    -1,
    -(2**63),
    2**63 - 1,
    1 << 31,
    -(2**63) + 2**31,
    *(DRAWS.randrange(-(2**63), 2**63) for _ in range(200)),
]

Ask = Callable[[list[bytes], bool, int], list[int]]


@pytest.fixture(scope="module")
def host(oracle: Oracle) -> Any:
    """One object for all products: py4j cannot call two classes of one name."""
    spark = str(oracle.jvm.call(lambda: oracle.jvm.view.java.lang.System.getProperty("java.class.path")))
    compiler = Compiler(oracle.jvm, oracle.resolve(load().compiler), default_store().folder)
    source = Path(__file__).with_name("ProducerPartitions.java")
    return instance(oracle.jvm, "ProducerPartitions", [compiler.jar([source], "producers' classes", [], [spark])])


@pytest.fixture(params=PRODUCTS)
def product(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def asked(product: str, oracle: Oracle, host: Any) -> Ask:
    """Return what asks the product where it places keys: bytes of text, or of a Long."""
    jars = [Jar(coordinates, sha256) for coordinates, sha256 in PRODUCTS[product][0].items()]
    stored = oracle.resolve([*jars, *load().jars("4.1.1")])
    oracle.jvm.call(lambda: host.open("\n".join(str(each.path) for each in stored)))

    def ask(keys: list[bytes], is_long: bool, count: int) -> list[int]:
        given = "\n".join(key.hex() for key in keys)
        return [int(line) for line in oracle.jvm.call(lambda: host.ask(product, given, is_long, count)).splitlines()]

    return ask


@pytest.mark.parametrize("count", [1, 7, 12, 2**31 - 1])
def test_spring_debezium_and_maxwell_classes_place_text_and_long_keys_like_the_named_rules(
    product: str, asked: Ask, count: int
) -> None:
    _, of_text, of_long = PRODUCTS[product]
    texts, longs = [text.encode() for text in TEXTS], [number.to_bytes(8, "big", signed=True) for number in LONGS]
    for slug, keys, is_long in ((of_text, texts, False), (of_long, longs, True)):
        if slug:
            assert asked(keys, is_long, count) == [RULES[slug].partition(key, count) for key in keys]
