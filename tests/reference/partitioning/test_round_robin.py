from __future__ import annotations

import pytest

from kafka_reference.errors import ArithmeticException, NotInThisRelease
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner, pick


def cluster(*partitions: tuple[int, int | None]) -> Cluster:
    """Partitions as (id, leader)."""
    return Cluster((Node(0), Node(1), Node(2)), tuple(Partition(*each) for each in partitions))


EMPTY = cluster()
FOUR = cluster((0, 0), (1, 1), (2, 2), (3, 0))
OUT_OF_ORDER = cluster((1, None), (2, 1), (0, 0))  # as in Kafka's RoundRobinPartitionerTest
LEADERLESS = cluster((5, None), (6, None), (7, None))

EVERY_KIND = ["2.4.0", "3.9.1", "3.9.2", "4.0.0", "4.4.0"]


@pytest.mark.parametrize("version", EVERY_KIND)
def test_round_robin_counters_are_per_topic_and_start_at_0(version: str) -> None:
    partitioner = RoundRobinPartitioner(version)
    assert [partitioner.partition(topic, FOUR) for topic in "aabaabba"] == [0, 1, 0, 2, 3, 1, 2, 0]


@pytest.mark.parametrize("version", EVERY_KIND)
def test_round_robin_returns_ids_of_available_partitions_else_indices(version: str) -> None:
    partitioner = RoundRobinPartitioner(version)
    assert [partitioner.partition("t", OUT_OF_ORDER) for _ in range(4)] == [2, 0, 2, 0]
    assert [partitioner.partition("t", LEADERLESS) for _ in range(3)] == [1, 2, 0]


@pytest.mark.parametrize("version", EVERY_KIND)
def test_round_robin_without_partitions_throws_after_the_counter_advanced(version: str) -> None:
    partitioner = RoundRobinPartitioner(version)
    with pytest.raises(ArithmeticException):
        partitioner.partition("t", EMPTY)
    assert partitioner.partition("t", FOUR) == 1


def send(partitioner: RoundRobinPartitioner, records: int) -> list[int]:
    """What KafkaProducer, 2.4.0 to 3.9.x, does when each record needs a new batch."""
    placed = []
    for _ in range(records):
        first = partitioner.partition("t", FOUR)
        partitioner.on_new_batch("t", FOUR, first)
        placed.append(partitioner.partition("t", FOUR))
    return placed


# KAFKA-9965. The sticky partitioners of 2.4.0 made the producer ask again after it announced a new batch. Round robin
# has no use for that and counted twice. With big records and an even number of partitions, half of them stayed empty.
# It took until 3.9.2 to remember the first answer, and 4.0.0 to ask once.
def test_round_robin_starves_half_of_four_partitions_up_to_3_9_1() -> None:
    assert send(RoundRobinPartitioner("2.4.0"), 4) == [1, 3, 1, 3]
    assert send(RoundRobinPartitioner("3.9.1"), 4) == [1, 3, 1, 3]


def test_round_robin_in_3_9_2_visits_every_partition_although_each_record_starts_a_batch() -> None:
    assert send(RoundRobinPartitioner("3.9.2"), 5) == [0, 1, 2, 3, 0]


def test_partition_remembered_in_3_9_2_is_used_once_and_dropped_for_another_topic() -> None:
    partitioner = RoundRobinPartitioner("3.9.2")
    partitioner.on_new_batch("a", FOUR, 2)
    partitioner.on_new_batch("a", FOUR, 77)  # the last one said counts, and nobody looks whether it exists
    assert [partitioner.partition("a", EMPTY), partitioner.partition("a", FOUR)] == [77, 0]
    partitioner.on_new_batch("a", FOUR, 2)
    assert [partitioner.partition(topic, FOUR) for topic in "baa"] == [0, 1, 2]  # forgotten at b


@pytest.mark.parametrize("version", ["2.4.0", "3.9.1"])
def test_on_new_batch_before_3_9_2_does_not_change_the_next_partition(version: str) -> None:
    partitioner = RoundRobinPartitioner(version)
    partitioner.on_new_batch("t", FOUR, 3)
    assert [partitioner.partition("t", FOUR) for _ in range(2)] == [0, 1]


def test_round_robin_partitioner_or_on_new_batch_in_other_releases_raises_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease, match="RoundRobinPartitioner of Kafka"):
        RoundRobinPartitioner("2.3.1")
    for version in ["4.0.0", "4.0.2", "4.4.0"]:
        with pytest.raises(NotInThisRelease, match=r"removed in 4\.0\.0"):
            RoundRobinPartitioner(version).on_new_batch("t", FOUR, 0)


def test_round_robin_counter_of_int_max_picks_partition_by_modulo_without_overflow() -> None:
    assert pick(2147483647, FOUR.available, 4) == 3
    assert pick(2147483647, (), 5) == 2
