"""What the present placements leave is not by chance what another explains."""

from __future__ import annotations

import random

import audit_truth
import numpy as np
import pytest
from random_topics import places, random_topic, unfounded, verdict

from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.joint_presence import evidence_beside, founded, is_function_of_key
from kafka_conformance.audit.result import Placed


def left_by(rule: str, keys: list[bytes], count: int) -> KeyColumn:
    """Keys in partitions that are chosen at random among those that the rule does not choose."""
    draws = np.random.default_rng(2)
    where = [(audit_truth.place(rule, key, count) + int(draws.integers(1, count))) % count for key in keys]
    return audit_truth.column(keys, np.array(where, np.int32), count)


KEYS = [b"%032x" % (number * 2654435761) for number in range(400)]


@pytest.mark.parametrize("count", [2, 12])
def test_keys_avoiding_the_fnv_partition_are_not_evidence_for_another_hash(count: int) -> None:
    """With two partitions, every key is where the other parity puts it."""
    left, fnv = left_by("sarama-hash", KEYS, count), Placed("sarama-hash", count)
    for rule in ("string-hash-code-masked", "murmur2", "text-integer"):
        assert evidence_beside(Placed(rule, count), [fnv], left) < 10


def test_crc32_has_strong_evidence_next_to_murmur2_if_crc32_placed_all_keys() -> None:
    column = audit_truth.column(KEYS, np.array([audit_truth.place("crc32", key, 12) for key in KEYS], np.int32), 12)
    assert evidence_beside(Placed("crc32", 12), [Placed("murmur2", 12)], column) > 900


@pytest.mark.parametrize("topic", ["23/3", "100/272", "105/498"])
def test_seeded_random_topic_is_attributed_to_no_partitioner_that_wrote_nothing(topic: str) -> None:
    """sarama, librdkafka and one partition for all keys, with two partitions; twice the sum of the bytes, modulo 4 and 8.

    String.hashCode modulo 4 is off by 2 from that sum or right, and crc32 modulo 8 is right for half of a hundred keys.
    """
    made = random_topic(random.Random(topic))
    assert unfounded(made, verdict(made)) == []


def test_partition_is_a_function_of_keys_only_if_keys_repeat_and_keep_one_partition() -> None:
    keys = [b"%d" % number for number in range(30)]
    once, again = audit_truth.column(keys, np.zeros(30, np.int32), 12), np.arange(30, dtype=np.int32) % 12
    assert not is_function_of_key(once, np.arange(30))  # no key is repeated
    twice = audit_truth.column(keys * 2, np.concatenate((again, again)), 12)
    assert is_function_of_key(twice, np.arange(60))
    split = audit_truth.column(keys * 2, np.concatenate((again, again[::-1])), 12)
    assert not is_function_of_key(split, np.arange(60))


def sure(_: Placed) -> float:
    return 24.0


def written(records: list[tuple[bytes, str]], count: int) -> KeyColumn:
    """Each key where the rule of this name puts it."""
    where = [int(places(rule, [key], count)[0]) for key, rule in records]
    return audit_truth.column([key for key, _ in records], np.array(where, np.int32), count)


@pytest.mark.parametrize(("count", "kept"), [(8, False), (12, True)])
def test_crc32_that_placed_half_the_keys_is_discarded_at_8_partitions_and_confirmed_at_12(
    count: int, kept: bool
) -> None:
    """No key was placed by both. Modulo 8, crc32 follows the bits of a key; modulo 12, a third of it does not."""
    keys = [b"order-%d0" % number for number in range(200)]
    records = [(key, "crc32" if at % 2 else "sha1") for at, key in enumerate(keys)] * 3
    got = founded([Placed("crc32", count)], written(records, count), sure)
    assert got == [Placed("crc32", count)] * kept


def test_crc32_at_8_partitions_is_confirmed_if_a_sha1_producer_writes_the_same_keys() -> None:
    records = [(b"order-%d0" % number, rule) for number in range(200) for rule in ("crc32", "sha1")] * 2
    assert founded([Placed("crc32", 8)], written(records, 8), sure) == [Placed("crc32", 8)]


def test_crc32_is_confirmed_if_crc32_at_an_old_partition_count_explains_all_other_records() -> None:
    column = audit_truth.column(KEYS * 2, np.array(
        [audit_truth.place("crc32", key, count) for count in (6, 12) for key in KEYS], np.int32), 12)  # fmt: skip
    assert founded([Placed("crc32", 12)], column, sure) == [Placed("crc32", 12)]
