"""Present placements are found, whatever their shares; absent ones are not."""

from __future__ import annotations

import random

import audit_truth
import numpy as np
import pyarrow as pa
import pytest
from audit_truth import Producer, Topic, names

from kafka_conformance.audit.attribution.block import Block, judge
from kafka_conformance.audit.attribution.evidence import evidence
from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.attribution.presence import implies, present
from kafka_conformance.audit.initial_sample import examine
from kafka_conformance.audit.result import Placed
from kafka_reference.partitioning import Partitioner

JAVA, CRC, FNV, UNKNOWN = ("murmur2", 12), ("librdkafka-consistent", 12), ("sarama-hash", 12), ("random", 0)
GROWN = ("murmur2", 3)


def found(
    *producers: Producer, partition: int = 1, partitions: int = 12, records: int = 1500, **more: object
) -> list[str]:
    return names(present(Topic(partition, partitions).write(records, *producers, **more).column()))


ONE_PARTITION = {"first-byte-only"}
"""Rules that place all keys of these topics in one partition: the keys begin with the same byte."""


@pytest.mark.parametrize(
    "placement", [one for one in PLACEMENTS if one.slug not in ONE_PARTITION], ids=lambda placement: placement.slug
)
def test_single_partitioner_of_a_topic_is_identified_as_such_or_as_an_equivalent_one(placement: object) -> None:
    same = {
        "signed-tail": "murmur2", "length-in-characters": "murmur2", "characters-for-bytes": "murmur2",
        "kafka-node-keyed": "string-hash-code-masked",
    }  # fmt: skip
    got = found((placement.slug, 12), records=300)
    assert got == [f"{same.get(placement.slug, placement.slug)}@12"]


@pytest.mark.parametrize("placement", ["signed-tail", "length-in-characters", "characters-for-bytes"])
def test_non_ascii_keys_distinguish_murmur2_variants_equal_for_ascii(placement: str) -> None:
    draws = random.Random(4)
    keys = [f"Zoë-{draws.randrange(10**6)}-ü".encode() for _ in range(3000)]
    here = [key for key in keys if audit_truth.place(placement, key, 5) == 2]
    assert names(present(audit_truth.column(here, 2, 5))) == [f"{placement}@5"]


@pytest.mark.parametrize("share", [0.5, 0.1, 0.03])
@pytest.mark.parametrize("other", [CRC, FNV, ("unsigned", 12), ("string-hash-code-masked", 12), ("murmur2", 7)])
def test_two_partitioners_are_found_at_shares_down_to_three_percent(other: Producer, share: float) -> None:
    assert found(JAVA, other, shares=(1 - share, share)) == ["murmur2@12", f"{other[0]}@{other[1]}"]


def test_rare_partitioner_is_found_with_murmur2_and_a_constant_partition() -> None:
    """The few keys outside that partition are a small part of those that Java's placement leaves unexplained."""
    keys = [b"user-%d" % number for number in range(6000)]
    java, crc = (np.array([audit_truth.place(slug, key, 12) for key in keys]) for slug, _ in (JAVA, CRC))
    number = np.arange(len(keys))
    where = np.where(number % 50 == 0, crc, np.where(number % 3 == 0, 4, java)).astype(np.int32)
    assert names(present(audit_truth.column(keys, where, 12))) == [
        "murmur2@12", "librdkafka-consistent@12", "constant-4@12",
    ]  # fmt: skip


@pytest.mark.parametrize(("partitions", "partition"), [(3, 0), (3, 2), (12, 5), (200, 11)])
def test_three_partitioners_are_found_at_partition_counts_3_12_and_200(partitions: int, partition: int) -> None:
    producers = [(slug, partitions) for slug in ("murmur2", "librdkafka-consistent", "sarama-hash")]
    got = found(*producers, partition=partition, partitions=partitions, records=900 if partitions < 200 else 240)
    assert got == [f"{slug}@{count}" for slug, count in producers]


@pytest.mark.parametrize(
    ("before", "after", "partition"), [(3, 12, 0), (3, 12, 2), (12, 24, 5), (5, 7, 4), (5, 7, 0), (2, 3, 1), (6, 9, 3)]
)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_old_and_new_partition_count_are_found_after_an_increase(
    before: int, after: int, partition: int, share: float
) -> None:
    got = found(
        ("murmur2", before),
        ("murmur2", after),
        partition=partition,
        partitions=after,
        shares=(1 - share, share),
        records=1000,
    )
    assert got == [f"murmur2@{after}", f"murmur2@{before}"]


def test_partition_counts_of_two_increases_are_found_only_where_old_records_exist() -> None:
    assert found(GROWN, ("murmur2", 6), JAVA, partition=0) == ["murmur2@12", "murmur2@6", "murmur2@3"]
    assert found(GROWN, partition=0) == ["murmur2@3"]
    assert found(JAVA, partition=0) == ["murmur2@12"]
    assert found(JAVA, partition=4) == ["murmur2@12"]  # nothing of the old count can be there


def test_new_partition_count_is_found_from_the_first_sixty_records() -> None:
    topic = Topic(5, 24).write(3000, ("murmur2", 12)).write(60, ("murmur2", 24))
    assert names(present(topic.column())) == ["murmur2@24", "murmur2@12"]


def test_partition_count_increase_is_found_with_a_second_partitioner() -> None:
    assert found(GROWN, JAVA, CRC, partition=0, records=2000) == ["murmur2@12", "librdkafka-consistent@12", "murmur2@3"]


def test_fnv_is_not_named_in_a_topic_of_three_correlated_hashes() -> None:
    """Among keys of one length FNV-1a is odd where String.hashCode is even, or the same always."""
    producers = [("librdkafka-consistent", 2), ("string-hash-code-masked", 2), ("seed-left-out", 2)]
    topic = Topic(0, 2).write(3000, *producers, shares=(0.45, 0.45, 0.1))
    assert "sarama-hash@2" not in names(present(topic.column()))


def test_sixty_librdkafka_records_among_eight_thousand_java_records_are_found() -> None:
    topic = Topic(1, 12).write(4000, JAVA).write(60, CRC).write(4000, JAVA)
    assert names(present(topic.column())) == ["murmur2@12", "librdkafka-consistent@12"]


KEYS = {
    "numbers": lambda at: b"%d" % at,
    "padded": lambda at: b"k-%06d" % at,
    "tens": lambda at: b"order-%d0" % at,
    "even": lambda at: b"%08d" % (at * 2),
    "hex": lambda at: b"%08x-0000-4000" % (at * 2654435761 % 2**32),
    "big-endian": lambda at: at.to_bytes(8, "big"),
    "little-endian": lambda at: at.to_bytes(4, "little"),
    "letters": lambda at: bytes((97 + at % 26, 97 + at // 26 % 26, 97 + at // 676 % 26)),
}


@pytest.mark.parametrize("make", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("partitions", [2, 3, 12, 31, 32, 100])
def test_patterned_keys_in_random_partitions_name_no_partitioner(make: object, partitions: int) -> None:
    draws = np.random.default_rng(partitions)
    keys = [make(at) for at in range(15_000)]
    where = draws.integers(0, partitions, len(keys)).astype(np.int32)
    assert present(audit_truth.column(keys, where, partitions)) == ()
    for partition in {0, 1, partitions - 1}:
        here = [keys[at] for at in np.flatnonzero(where == partition)]
        assert names(present(audit_truth.column(here, partition, partitions))) == []


def test_million_random_keys_in_random_partitions_name_no_partitioner() -> None:
    draws = np.random.default_rng(7)
    data = draws.integers(0, 256, 12_000_000).astype(np.uint8)
    column = audit_truth.KeyColumn(
        np.arange(1_000_001) * 12, data, draws.integers(0, 12, 1_000_000).astype(np.int32), 12
    )
    assert present(column) == ()


@pytest.mark.parametrize("partition", range(4))
def test_single_repeated_key_names_the_expected_partitioner_if_placed_so_and_never_another(partition: int) -> None:
    right = audit_truth.place("murmur2", b"the one", 4) == partition
    got = present(audit_truth.column([b"the one"] * 5000, partition, 4))
    assert names(got) == (
        ["murmur2@4"] if right else []
    )  # that it is right everywhere does not prove it, and refutes nothing


def test_seven_keys_confirm_the_expected_partitioner_but_name_no_other() -> None:
    few = [b"%d" % at for at in range(2000)]
    java = [key for key in few if audit_truth.place("murmur2", key, 12) == 3][:7]
    crc = [key for key in few if audit_truth.place("librdkafka-consistent", key, 12) == 3][:7]
    wrong = next(key for key in few if audit_truth.place("murmur2", key, 12) != 3)
    assert names(present(audit_truth.column([*java, wrong], 3, 12))) == ["murmur2@12"]
    assert present(audit_truth.column(crc, 3, 12)) == ()
    expected = Placed("librdkafka-consistent", 12)
    assert present(audit_truth.column(crc, 3, 12), expected) == (expected,)
    assert names(present(audit_truth.column(crc, 3, 12), known=(expected,))) == ["librdkafka-consistent@12"]


def test_known_partitioner_is_found_in_a_partition_unless_the_records_there_contradict_that() -> None:
    known = (Placed("murmur2", 12), Placed("librdkafka-consistent", 12), Placed("murmur2", 3))
    got = present(Topic(0, 12).write(40, JAVA, GROWN).column(), known=known)
    assert {"murmur2@12", "murmur2@3"} <= set(names(got))
    assert names(present(Topic(0, 12).write(1000, JAVA).column(), known=known)) == ["murmur2@12"]
    assert "librdkafka-consistent@12" in names(
        present(Topic(0, 12).write(400, JAVA).column(), known=known)
    )  # 2 % of 400
    assert "murmur2@3" not in names(present(Topic(7, 12).write(40, JAVA, CRC).column(), known=known))


def test_partitioner_ambiguous_in_one_partition_is_found_from_the_whole_topic() -> None:
    draws = random.Random(3)
    keys = [b"customer-%010d" % draws.randrange(10**10) for _ in range(3000)]
    where = np.array([audit_truth.place("sign-abs", key, 6) for key in keys], np.int32)
    here = audit_truth.column([keys[at] for at in np.flatnonzero(where == 4)], 4, 6)
    assert names(present(here)) == ["murmur2@6"]  # no key there tells it from sign-abs
    known = present(audit_truth.column(keys, where, 6))
    assert names(known) == ["sign-abs@6"]
    assert present(here, known=known) == known
    assert set(present(here, known=(Placed("murmur2", 6), *known))) == {Placed("murmur2", 6), *known}


def test_single_partition_topic_names_the_expected_partitioner_and_a_topic_without_keys_none() -> None:
    assert names(present(audit_truth.column([b"a", b"b"], 0, 1))) == ["murmur2@1"]
    assert present(audit_truth.column([], 0, 5)) == ()


def test_evidence_equals_the_log_likelihood_ratio_and_is_zero_at_or_below_chance() -> None:
    assert evidence(100, 8, 1 / 12) == 0
    assert evidence(10, 10, 1 / 10) == pytest.approx(10 * np.log(10))
    assert evidence(0, 0, 0.5) == 0
    assert evidence(12, 12, 1.0) == 0
    assert evidence(1000, 600, 0.5) == pytest.approx(1000 * (0.6 * np.log(1.2) + 0.4 * np.log(0.8)))


def test_partition_modulo_12_determines_only_that_of_the_same_hash_modulo_a_proper_divisor() -> None:
    assert implies(Placed("murmur2", 12), Placed("murmur2", 3))
    assert not implies(Placed("murmur2", 3), Placed("murmur2", 12))
    assert not implies(Placed("murmur2", 12), Placed("murmur2", 5))
    assert not implies(Placed("murmur2", 12), Placed("unsigned", 3))
    assert not implies(Placed("murmur2", 12), Placed("murmur2", 12))


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("consistent_random", "librdkafka-consistent"),
        ("consistent", "librdkafka-consistent"),
        ("murmur2_random", "murmur2"),
        ("murmur2", "murmur2"),
        ("fnv1a_random", "sarama-hash"),
        ("fnv1a", "sarama-hash"),
    ],
)
def test_topic_of_each_librdkafka_partitioner_has_no_misplaced_record_if_that_is_expected(name: str, slug: str) -> None:
    """Some keys are empty; librdkafka's default, ``consistent_random``, draws for them."""
    partitioner, every = Partitioner(name, draws=[number * 7919 for number in range(500)]), list(range(12))
    keys = [b"" if number % 10 == 0 else b"order-%d" % (number % 900) for number in range(3000)]
    where = np.array([partitioner(key, every, every) for key in keys], np.int32)
    expected = Placed(slug, 12)
    known, doubt = examine(audit_truth.column(keys, where, 12), expected)
    assert (known, doubt) == ((expected,), None)
    for partition in every:
        rows = np.flatnonzero(where == partition)
        block = Block(partition, rows, rows, pa.array([keys[row] for row in rows], pa.binary()))
        summary = judge(block, 12, expected, known).summary
        assert (summary.offending, summary.attributed) == (0, {str(expected): rows.size})
