from __future__ import annotations

import pytest

from kafka_reference.errors import ArithmeticException, NotInThisRelease, NullPointerException
from kafka_reference.java.thread_local_random import ListedDraws
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.default import DefaultPartitioner, UniformStickyPartitioner


def cluster(*partitions: tuple[int, int | None]) -> Cluster:
    """Partitions as (id, leader)."""
    return Cluster((Node(0), Node(1), Node(2)), tuple(Partition(*each) for each in partitions))


EMPTY = cluster()
THREE = cluster((0, 0), (1, 1), (2, 2))
OUT_OF_ORDER = cluster((1, None), (2, 1), (0, 0))  # as in Kafka's DefaultPartitionerTest
LEADERLESS = cluster((5, None), (6, None), (7, None))

EVERY_KIND = ["0.9.0.0", "0.10.1.1", "0.10.2.0", "0.11.0.0", "2.3.1", "2.4.0", "3.2.3", "3.9.2"]


@pytest.mark.parametrize("version", EVERY_KIND)
def test_key_hash_selects_index_among_all_partitions_without_a_random_draw(version: str) -> None:
    partitioner = DefaultPartitioner(version, ListedDraws())
    # murmur2 of "foo" is 597841616, of "foobar" -790332482, which is 1357151166 with its sign bit cleared
    assert partitioner.partition("t", b"foo", THREE) == 597841616 % 3 == 2
    assert partitioner.partition("t", b"foobar", OUT_OF_ORDER) == 1357151166 % 3 == 0
    assert partitioner.partition("t", b"foo", LEADERLESS) == 2  # not 7


def test_round_robin_counter_is_shared_by_all_topics_in_0_10_1() -> None:
    draws = ListedDraws([3])
    partitioner = DefaultPartitioner("0.10.1.1", draws)
    assert [partitioner.partition(topic, None, THREE) for topic in "aabab"] == [0, 1, 2, 0, 1]
    assert draws.used == 1


def test_round_robin_counter_of_a_topic_starts_at_random_draw_at_first_keyless_record() -> None:
    draws = ListedDraws([3, 4])
    partitioner = DefaultPartitioner("0.10.2.0", draws)
    partitioner.partition("b", b"key", THREE)
    assert draws.used == 0
    assert [partitioner.partition(topic, None, THREE) for topic in "aabab"] == [0, 1, 1, 2, 2]
    assert draws.used == 2


@pytest.mark.parametrize("version", ["0.10.1.1", "2.3.1"])
def test_round_robin_counter_wraps_like_java_int(version: str) -> None:
    partitioner = DefaultPartitioner(version, ListedDraws([2147483647]))
    # 2147483647, then -2147483648, which is 0 with its sign bit cleared, then 1
    assert [partitioner.partition("t", None, THREE) for _ in range(3)] == [1, 0, 1]
    assert DefaultPartitioner(version, ListedDraws([-1])).partition("t", None, THREE) == 1


def test_keyless_round_robin_uses_available_partitions_in_order_else_indices_of_leaderless_ones() -> None:
    partitioner = DefaultPartitioner("2.3.1", ListedDraws([0]))
    assert [partitioner.partition("t", None, OUT_OF_ORDER) for _ in range(4)] == [2, 0, 2, 0]
    assert [partitioner.partition("t", None, LEADERLESS) for _ in range(3)] == [1, 2, 0]


@pytest.mark.parametrize("key", [None, b"k"])
def test_topic_without_partitions_throws_npe_up_to_0_10_then_arithmetic_exception(key: bytes | None) -> None:
    for version in ["0.9.0.1", "0.10.0.1", "0.10.2.2"]:
        draws = ListedDraws([1])
        with pytest.raises(NullPointerException):
            DefaultPartitioner(version, draws).partition("t", key, EMPTY)
        assert draws.used == 0
    for version in ["0.11.0.0", "2.3.1", "2.4.0", "3.9.2"]:
        with pytest.raises(ArithmeticException):
            DefaultPartitioner(version, ListedDraws([1])).partition("t", key, EMPTY)


def test_round_robin_counter_advances_even_if_topic_has_no_partitions() -> None:
    partitioner = DefaultPartitioner("2.3.1", ListedDraws([0]))
    with pytest.raises(ArithmeticException):
        partitioner.partition("t", None, EMPTY)
    assert partitioner.partition("t", None, THREE) == 1


# KAFKA-10888. From 2.4.0 on a producer stays at one partition until a batch is full, and a batch of a slow broker, with
# linger.ms=0, stays open longer and so gets more records: the slower, the more. Nothing here looks at sizes or queues.
# 3.3.0 answered with BuiltInPartitioner, which counts bytes and weighs queues.
def test_null_key_keeps_sticky_partition_until_new_batch_since_2_4() -> None:
    draws = ListedDraws([1, 2])
    partitioner = DefaultPartitioner("2.4.0", draws)
    assert [partitioner.partition("t", None, THREE) for _ in range(4)] == [1, 1, 1, 1]
    assert partitioner.partition("t", b"foobar", THREE) == 0
    partitioner.on_new_batch("t", THREE, 0)  # of a keyed record, elsewhere
    assert partitioner.partition("t", None, THREE) == 1
    partitioner.on_new_batch("t", THREE, 1)
    assert partitioner.partition("t", None, THREE) == 2
    assert draws.used == 2


def test_sticky_partition_is_kept_after_topic_loses_all_partitions() -> None:
    partitioner = DefaultPartitioner("3.9.2", ListedDraws([1]))
    assert partitioner.partition("t", None, THREE) == 1
    assert partitioner.partition("t", None, EMPTY) == 1


def test_default_or_uniform_sticky_partitioner_in_other_releases_raises_not_in_this_release() -> None:
    for version in ["0.8.2.2", "4.0.0", "4.4.0"]:
        with pytest.raises(NotInThisRelease, match="DefaultPartitioner of Kafka"):
            DefaultPartitioner(version, ListedDraws())
    with pytest.raises(NotInThisRelease, match=r"came in 2\.4\.0"):
        DefaultPartitioner("2.3.1", ListedDraws()).on_new_batch("t", THREE, 0)
    for version in ["2.3.1", "4.0.0"]:
        with pytest.raises(NotInThisRelease, match="UniformStickyPartitioner of Kafka"):
            UniformStickyPartitioner(version, ListedDraws())


# The counts of Kafka's UniformStickyPartitionerTest: 30 records at the old partition, 60 at the new, whatever the key.
@pytest.mark.parametrize("key", [None, b"key"])
def test_uniform_sticky_partitioner_ignores_keys_and_switches_at_new_batch(key: bytes | None) -> None:
    partitioner = UniformStickyPartitioner("2.4.0", ListedDraws([2, 0]))
    placed = [partitioner.partition("a", key, THREE) for _ in range(30)]
    partitioner.on_new_batch("a", THREE, 2)
    placed += [partitioner.partition("a", key, THREE) for _ in range(30)]
    partitioner.on_new_batch("a", THREE, 2)  # no longer the current one
    placed += [partitioner.partition("a", key, THREE) for _ in range(30)]
    assert placed == [2] * 30 + [0] * 60
