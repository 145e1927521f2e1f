"""Each mutant makes the mistake that is described, and no other: known values of wrong hashes, known wrong partitions."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.releases import NEWEST, parse_release


def said(slug: str, question: Any, version: str = "4.4.0") -> dict[str, Any]:
    mutant = next(mutant for mutant in MUTANTS if mutant.slug == slug)
    (outcome,) = mutant_answerer(slug).answer(RULES[mutant.rule], parse_release(version), [question])
    assert isinstance(outcome, Answered), outcome
    return outcome.answer


def hashed(slug: str, key: bytes) -> int:
    return said(slug, Murmur2Question(key.hex()))["hash"]


def as_int(bits: int) -> int:
    return bits - (1 << 32) if bits >> 31 else bits


def test_mutants_have_unique_slug_description_and_release_of_the_rule() -> None:
    assert len({mutant.slug for mutant in MUTANTS}) == len(MUTANTS)
    assert all(mutant.description and mutant.rule in RULES for mutant in MUTANTS)
    assert all(mutant.release in RULES[mutant.rule].releases for mutant in MUTANTS)


# Published test vectors of each hash.
@pytest.mark.parametrize(
    ("slug", "key", "bits"),
    [
        ("crc32", b"123456789", 0xCBF43926),
        ("fnv-1a", b"", 0x811C9DC5),
        ("fnv-1a", b"a", 0xE40C292C),
        ("fnv-1a", b"foobar", 0xBF9CF968),
        ("murmur3", b"", 0xEBB6C228),
        ("murmur3", b"aaaa", 0x5A97808A),
        ("murmur3", b"Hello, world!", 0x24884CBA),
        ("string-hash-code", b"hello", 99162322),
        ("string-hash-code", b"\x80", 128),
        ("arrays-hash-code", b"\x01\x02", 994),
        ("arrays-hash-code", b"\x80", -97 & 0xFFFFFFFF),
    ],
)
def test_hash_mutant_equals_published_test_vector_of_other_hash(slug: str, key: bytes, bits: int) -> None:
    assert hashed(slug, key) == as_int(bits)


@pytest.mark.parametrize(
    ("slug", "unharmed", "harmed"),
    [
        ("signed-tail", {b"\x7f": 21296028, b"\x80\x80\x80\x80": -95523324}, {b"\x80": 857690492, b"\xff": -311467685}),
        ("big-endian", {b"\x80\x80\x80\x80": -95523324, b"foo": 597841616}, {b"foobar": -790332482}),
        ("length-in-characters", {b"foobar": -790332482}, {"ключ".encode(): 2122343024}),
        ("unsigned-hash", {b"foo": 597841616}, {b"foobar": -790332482}),
        ("one-bit", {}, {b"": 275646681, b"foobar": -790332482}),
        ("seed-left-out", {}, {b"": 275646681, b"foobar": -790332482}),
        ("murmur2-64a", {}, {b"foobar": -790332482}),
    ],
)
def test_murmur2_mutant_is_wrong_only_for_affected_keys(
    slug: str, unharmed: dict[bytes, int], harmed: dict[bytes, int]
) -> None:
    assert {key: hashed(slug, key) for key in unharmed} == unharmed
    assert all(hashed(slug, key) != right for key, right in harmed.items())


def test_unsigned_hash_mutant_adds_2_to_32_to_a_negative_java_hash() -> None:
    assert hashed("unsigned-hash", b"foobar") == 2**32 - 790332482


# "foobar" hashes to -790332482, which is 6 over 12; the other key to -2147483648, which is 0.
@pytest.mark.parametrize(
    ("slug", "foobar", "lowest"),
    [
        ("sign-abs", 2, 8),
        ("sign-negate", 2, -8),
        ("sign-inverted", 1, 7),
        ("unsigned", 2, 8),
        ("sign-kept", -2, -8),
        ("shift", 7, 4),
    ],
)
def test_sign_mutant_gives_wrong_partition_for_negative_hash_and_int_min(slug: str, foobar: int, lowest: int) -> None:
    assert said(slug, PartitionForKeyQuestion(b"foobar".hex(), 12)) == {"partition": foobar}
    assert said(slug, PartitionForKeyQuestion("a7d6506c", 12)) == {"partition": lowest}


def test_float_modulo_mutant_is_one_too_low_for_1000_partitions_and_correct_for_12() -> None:
    assert said("float-arithmetic", PartitionForKeyQuestion(b"foobar".hex(), 1000)) == {"partition": 165}
    assert said("float-arithmetic", PartitionForKeyQuestion(b"foobar".hex(), 12)) == {"partition": 6}


def test_null_key_and_count_mutants_answer_wrongly_and_arithmetic_mutants_throw_as_java() -> None:
    assert said("null-hashed-as-empty", PartitionForKeyQuestion(None, 12)) == {"partition": 9}
    assert said("empty-taken-for-null", PartitionForKeyQuestion("", 12)) == {"raises": "NullPointerException"}
    assert said("negative-count-raises", PartitionForKeyQuestion("", -7)) == {"raises": "ArithmeticException"}
    for slug in ("sign-abs", "unsigned", "float-arithmetic"):
        assert said(slug, PartitionForKeyQuestion("61", 0)) == {"raises": "ArithmeticException"}
        assert said(slug, PartitionForKeyQuestion(None, 12)) == {"raises": "NullPointerException"}


def producer(
    key: str | None = None, partition: int | None = None, returns: int | None = None, ignore: bool = False
) -> Any:
    """A question about partitions 5, 3 and 9, of which the first has no leader; the draw is 4."""
    rule = RULES["producer-partition"]
    document = {
        "record": {"partition": partition, "key": key},
        "config": {"ignore_keys": ignore, "partitioner": None if returns is None else {"returns": returns}},
        "cluster": {
            "nodes": [{"id": 0}, {"id": 1}],
            "partitions": [{"id": 5, "leader": None}, {"id": 3, "leader": 1}, {"id": 9, "leader": 0}],
        },
        "draws": [4],
    }
    import msgspec

    return msgspec.convert(document, rule.question)


@pytest.mark.parametrize(
    ("slug", "version", "question", "answer"),
    [
        ("available-only", "4.4.0", producer("666f6f"), 0),  # over two of the three, where 2 is right
        ("empty-key-is-none", "4.4.0", producer(""), -1),
        ("null-key-is-empty", "4.4.0", producer(), 0),
        ("keys-not-ignored", "4.4.0", producer("666f6f", ignore=True), 2),
        ("unplugged", "4.4.0", producer("666f6f", returns=7), 2),
        ("negative-unchecked", "4.4.0", producer(returns=-3), -3),
        ("producer-partition-3.3.0-like-3.2.3", "3.3.0", producer(), 3),
        ("producer-partition-3.2.0-like-3.1.2", "3.2.0", producer(returns=-1), -1),
        ("index-for-id", "2.8.2", producer(), 0),
    ],
)
def test_producer_partition_mutant_gives_documented_wrong_partition(
    slug: str, version: str, question: Any, answer: int
) -> None:
    assert next(mutant.release for mutant in MUTANTS if mutant.slug == slug) == parse_release(version)
    assert said(slug, question, version) == {"partition": answer}


def test_mutant_with_0_10_0_partition_check_throws_in_0_10_1() -> None:
    assert said("producer-partition-0.10.1.0-like-0.10.0.1", producer(partition=7), "0.10.1.0") == {
        "raises": "IllegalArgumentException",
        "message": "Invalid partition given with record: 7 is not in the range [0...2].",
    }


def test_unknown_mutant_raises_bad_input_with_a_suggestion() -> None:
    with pytest.raises(BadInput, match="unknown mutant 'zero-bit': did you mean one-bit"):
        mutant_answerer("zero-bit")


def test_one_bit_mutant_has_the_newest_release_and_answerer_named_mutant_one_bit() -> None:
    assert mutant_answerer("one-bit").name == "mutant:one-bit"
    assert next(mutant for mutant in MUTANTS if mutant.slug == "one-bit").release == NEWEST
