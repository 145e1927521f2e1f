"""Other clients' hashes and partitions, by what was reported of them: each number is in the thread named beside it."""

from __future__ import annotations

import pytest
from questions import space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.mutants import HASHES, fnv1a
from kafka_conformance.rules.murmur2.ported_hash_mutants import MUTANTS as PORTED
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import MUTANTS as HASHED
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import masked
from kafka_conformance.rules.partition_for_key.mutants import FOLDS
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.releases import NEWEST

BY_SLUG = {mutant.slug: mutant for mutant in MUTANTS}


def partition(slug: str | None, key: str, partitions: int) -> int:
    ask = RULES["partition-for-key"].ask if slug is None else BY_SLUG[slug].ask
    return int(ask(PartitionForKeyQuestion(key.encode().hex(), partitions), NEWEST)["partition"])


@pytest.mark.parametrize(
    ("slug", "key", "partitions", "wrong", "right"),
    [
        ("kafkajs-legacy", "100:48069", 12, 6, 9),  # tulios/kafkajs#357
        ("librdkafka-consistent", "TT0124", 15, 9, 10),  # tulios/kafkajs#1154
        ("sinek-murmur2", "wu", 10, 5, 0),  # nodefluent/node-sinek#39
    ],
)
def test_ported_client_hash_gives_wrong_partition_reported_in_issue(
    slug: str, key: str, partitions: int, wrong: int, right: int
) -> None:
    assert partition(slug, key, partitions) == wrong
    assert partition(None, key, partitions) == right


def test_murmur2_computed_in_doubles_gives_the_wrong_hash_reported_for_kafkajs() -> None:
    assert PORTED_HASHES["murmur2-by-doubles"][1](b"100:48069") == 1713501762  # tulios/kafkajs#357
    assert murmur2(b"100:48069") == 1009543857


def test_murmur2_of_characters_instead_of_bytes_gives_the_wrong_partition_reported_for_sinek() -> None:
    """nodefluent/node-sinek#40: 4 of 10 where 2 is right, once its other issue, the seed, is mended."""
    hashed = PORTED_HASHES["characters-for-bytes"][1]("thingäöüÄÖÜ".encode())
    assert FOLDS["unsigned"][1](hashed, 10) == 4
    assert partition(None, "thingäöüÄÖÜ", 10) == 2


@pytest.mark.parametrize("key", [b"1468509572224", b"16000002EFEBA11E"])
def test_negated_int_min_fnv1a_hash_modulo_3_is_minus_2_and_sarama_partition_2(key: bytes) -> None:
    """IBM/sarama#709 and elastic/beats#25048: negated it is the same, and its remainder over 3 is -2."""
    assert fnv1a(key) == -(2**31)
    assert FOLDS["sign-negate"][1](fnv1a(key), 3) == -2
    assert partition("sarama-hash", key.decode(), 3) == 2


def test_crc32_of_hejsan_equals_value_reported_for_kafka_go() -> None:
    assert HASHES["crc32"][1](b"hejsan") & 0xFFFFFFFF == 0xD077037E  # segmentio/kafka-go#138


def test_kafka_python_murmur2_ignores_all_but_last_left_over_byte() -> None:
    """Of one byte the rule itself, of more the last alone; dpkp/kafka-python#439."""
    wrong = PORTED_HASHES["tail-not-fallen-through"][1]
    assert wrong(b"a") == murmur2(b"a")
    assert wrong(b"abcd") == murmur2(b"abcd")
    assert wrong(b"xbc") == wrong(b"abc") != murmur2(b"abc")
    assert wrong(b"xb") == wrong(b"ab") != murmur2(b"ab")


def test_kafka_node_hash_is_nonnegative_1_if_empty_and_java_hash_code_without_overflow() -> None:
    hashed = PORTED_HASHES["kafka-node"][1]
    assert hashed(b"") == 1
    assert hashed(b"hello") == 99162322  # Java's, as long as it fits
    assert hashed(b"hello, world") >= 0


def test_first_byte_hash_is_equal_for_keys_with_equal_first_byte() -> None:
    hashed = PORTED_HASHES["first-byte-only"][1]
    assert hashed(b"host-1") == hashed(b"host-2") != hashed(b"post-1")


def test_scala_producer_maps_int_min_hash_to_partition_0_and_empty_key_to_1() -> None:
    lowest = -(2**31)
    assert masked(lowest, 7) == 0
    assert BY_SLUG["scala-producer"].ask(PartitionForKeyQuestion("", 7), NEWEST) == {"partition": 1}


@pytest.mark.parametrize("rule", ["murmur2", "partition-for-key"])
def test_ported_hash_mutants_differ_from_other_mutants_of_the_rule(rule: str) -> None:
    new = {mutant.slug for mutant in (*PORTED, *HASHED)}
    said: dict[str, list[str]] = {}
    for mutant in MUTANTS:
        if mutant.rule == rule:
            outcomes = ReferenceAnswerer(instead=mutant.ask).answer(RULES[rule], NEWEST, space_questions(rule))
            said.setdefault(repr(outcomes), []).append(mutant.slug)
    assert [alike for alike in said.values() if len(alike) > 1 and new & set(alike)] == []
