"""Placements are revised if others explain the keys better together."""

from __future__ import annotations

import random

import audit_truth
import numpy as np
import pytest
from random_topics import places, random_topic, unfounded, verdict, wrong

from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.placements import rank
from kafka_conformance.audit.attribution.revision import Revision
from kafka_conformance.audit.result import Placed

JAVA, FNV = Placed("murmur2", 10), Placed("sarama-hash", 10)


def by(rule: str, keys: list[bytes], count: int = 10) -> KeyColumn:
    return audit_truth.column(keys, places(rule, keys, count).astype(np.int32), count)


def again(column: KeyColumn, *members: Placed) -> list[Placed]:
    return revision(column).revised(list(members))


def revision(column: KeyColumn) -> Revision:
    """One that finds nothing beside what it is given."""
    return Revision(column, JAVA, lambda _: 24.0, lambda placed: rank(placed.rule), lambda members: members)


def digits(first: int, behind: int) -> list[bytes]:
    return [b"%d" % number for number in range(first, behind)]


@pytest.mark.parametrize(
    ("topic", "known"),
    [
        ("31/340", "arrays-hash-code@3 int32-big-endian@3"),
        ("101/430", "string-hash-code-masked@10 int32-big-endian@10"),
        ("112/150", "crc32@50"),
        ("112/280", "scala-producer@4 scala-producer@2"),
        ("112/452", "scala-producer@8 scala-producer@4"),
        ("115/420", "string-hash-code-masked@10"),
        ("116/26", "first-byte@50 first-byte@25"),
        ("119/158", "librdkafka-consistent@50"),
        ("122/156", ""),
    ],
)
def test_revision_of_similar_partitioners_in_seeded_topic_names_no_false_partitioner(topic: str, known: str) -> None:
    """Two rules that follow each other, or one with an old partition count.

    Alone, each is off by few distances from the other, and a third agrees with both by arithmetic: kafka-node's hash, that
    of arrays without its sign, one partition. If another rule is as good, neither is present.
    """
    made = random_topic(random.Random(topic))
    found = verdict(made)
    assert " ".join(map(str, found.known)) == known
    assert not wrong(made, found)
    assert not unfounded(made, found)


def test_murmur2_replaces_fnv_if_murmur2_placed_every_key() -> None:
    keys = digits(0, 300)
    column = by("murmur2", keys)
    assert again(column, FNV) == [JAVA]
    assert again(column, JAVA) == [JAVA]


def test_old_partition_count_of_a_present_hash_is_preferred_to_another_hash() -> None:
    """Modulo 2, FNV-1a of these keys is String.hashCode."""
    keys = [b"user-%03d" % number for number in range(300)]
    column = audit_truth.column(
        keys * 2, np.concatenate([places("scala-producer", keys, count) for count in (2, 4)]).astype(np.int32), 4
    )
    new, old = Placed("scala-producer", 4), Placed("scala-producer", 2)
    assert again(column, new, Placed("sarama-reference-hash", 2)) == [new, old]


def test_integer_and_last_byte_partitioners_that_placed_the_keys_are_both_kept() -> None:
    """Modulo 16, the last byte of digits is the integer modulo 10."""
    keys = digits(0, 300)
    where = np.concatenate([places(rule, keys, 16) for rule in ("text-integer", "last-byte")]).astype(np.int32)
    both = [Placed("text-integer", 16), Placed("last-byte", 16)]
    assert again(audit_truth.column(keys * 2, where, 16), *both) == both


def test_unknown_djb_hash_of_digit_keys_is_attributed_to_no_partitioner() -> None:
    """djb's hash, which is unknown here, is modulo 12 better explained by the last byte than by chance."""
    assert again(by("djb", digits(0, 300), 12), Placed("murmur2", 12)) == []


def test_murmur2_is_not_replaced_by_string_hash_code_that_explains_only_another_producers_keys() -> None:
    """String.hashCode explains the sums of bytes, which are unknown here, and none of Java's keys."""
    sums, java = digits(0, 300), digits(5000, 5060)
    where = np.concatenate((places("sum", sums, 10), places("murmur2", java, 10))).astype(np.int32)
    assert again(audit_truth.column(sums + java, where, 10), JAVA) == [JAVA]


def test_murmur2_is_not_replaced_by_a_variant_that_explains_slightly_more_keys_by_chance() -> None:
    """Keys of four bytes have no tail, so that a hash that reads tails otherwise places them as Java does."""
    others, java = digits(0, 1000), digits(5000, 5150)
    where = np.concatenate((places("seventh", others, 10), places("murmur2", java, 10))).astype(np.int32)
    assert again(audit_truth.column(others + java, where, 10), JAVA) == [JAVA]


def nearly_alike(rule: str, accented: int, partitions: int = 12) -> KeyColumn:
    """Keys that are text of ASCII, but for the first ones: of these, the rules of text and of bytes differ."""
    keys = [f"m\u00fcller-{number}".encode() for number in range(accented)] + [b"user-%d" % n for n in range(300)]
    return audit_truth.column(keys, places(rule, keys, partitions).astype(np.int32), partitions)


def test_expected_partitioner_is_replaced_by_a_variant_for_six_differing_keys_but_not_one() -> None:
    java, near = Placed("murmur2", 12), Placed("characters-for-bytes", 12)
    for accented, wanted in ((1, java), (6, near)):
        column = nearly_alike("characters-for-bytes", accented)
        search = Revision(column, java, lambda _: 24.0, lambda placed: rank(placed.rule), lambda members: members)
        assert search.nearest([java]) == [wanted]
        assert search.nearest([near]) == [near]


def test_unexpected_partitioner_is_replaced_by_a_variant_if_a_single_key_follows_the_variant() -> None:
    column = nearly_alike("characters-for-bytes", 1)
    search = Revision(column, FNV, lambda _: 24.0, lambda placed: rank(placed.rule), lambda members: members)
    assert search.nearest([Placed("signed-tail", 12)]) == [Placed("characters-for-bytes", 12)]
    assert search.nearest([Placed("characters-for-bytes", 12)]) == [Placed("characters-for-bytes", 12)]
