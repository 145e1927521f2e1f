from __future__ import annotations

from bisect import bisect_left
from collections import Counter

import pytest

from kafka_reference.errors import (
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DrawsExhausted,
    IllegalArgumentException,
    NotInThisRelease,
    NullPointerException,
)
from kafka_reference.java.thread_local_random import ListedDraws
from kafka_reference.partitioning.builtin import BuiltInPartitioner, binary_search
from kafka_reference.partitioning.cluster import Cluster, Node, Partition


def cluster(*partitions: tuple[int, int | None]) -> Cluster:
    """Partitions as (id, leader); nodes 0 and 1 are in rack a, 2 in b, 3 in the rack without letters, 4 in none."""
    nodes = (Node(0, "a"), Node(1, "a"), Node(2, "b"), Node(3, ""), Node(4, None))
    return Cluster(nodes, tuple(Partition(*each) for each in partitions))


EMPTY = cluster()
THREE = cluster((0, 0), (1, 1), (2, 2))
ONE_LEADERLESS = cluster((0, 0), (1, None), (2, 2))
LEADERLESS = cluster((5, None), (6, None), (7, None))
FIVE = cluster((0, 0), (1, 1), (2, 2), (3, 3), (4, 4))
INT_MAX, INT_MIN = 2**31 - 1, -(2**31)

EVERY_KIND = ["3.3.0", "3.3.2", "3.9.0", "4.0.0", "4.4.0"]


def made(*draws: int, batch: int = 1, version: str = "4.4.0", rack: str | None = None) -> BuiltInPartitioner:
    return BuiltInPartitioner(version, batch, ListedDraws(draws), rack is not None, rack or "")


def places(partitioner: BuiltInPartitioner, draws: int, seen: Cluster = THREE) -> list[int]:
    return [partitioner.next_partition(seen) for _ in range(draws)]


@pytest.mark.parametrize("version", EVERY_KIND)
def test_sticky_partition_is_kept_until_batch_size_bytes_are_produced(
    version: str,
) -> None:  # Kafka's testStickyPartitioning
    partitioner = made(0, 1, batch=3, version=version)
    for appended in (1, 1):
        partitioner.update(partitioner.peek(THREE), appended, THREE)
        assert partitioner.peek(THREE).partition == 0
    stay = partitioner.peek(THREE)
    assert not partitioner.is_changed(stay)
    partitioner.update(stay, 1, THREE)
    assert partitioner.is_changed(stay)
    assert partitioner.peek(THREE).partition == 1
    assert partitioner.peek(THREE).produced == 0


def test_switch_to_the_same_partition_creates_new_sticky_partition_info() -> None:
    partitioner = made(0, 0, 0)
    stay = partitioner.peek(cluster((0, 0)))
    partitioner.update(stay, 1, cluster((0, 0)))
    assert partitioner.peek(THREE).partition == 0
    assert partitioner.is_changed(stay)
    assert not partitioner.is_changed(None)


def test_update_without_sticky_partition_consumes_no_random_draw() -> None:
    partitioner = made()
    partitioner.update(None, 1000, THREE)
    with pytest.raises(DrawsExhausted):
        partitioner.peek(THREE)


def test_late_update_adds_bytes_to_old_sticky_partition_and_switches_the_current_one() -> None:
    partitioner = made(0, 1, 2, batch=10)
    first = partitioner.peek(THREE)
    partitioner.update(first, 10, THREE)
    partitioner.update(first, 1, THREE)
    assert (first.produced, partitioner.peek(THREE).partition, partitioner.peek(THREE).produced) == (11, 2, 0)


# KAFKA-14156. With linger.ms=500 and 12 KiB per 500 ms, a switch at 16 KiB sharp sends batches of 12, then 4, then 12,
# then 4 KiB. So the accumulator forbids the switch until the batch is full or sent, up to twice the batch size. A
# switch that became due is made up for by a report of 0 bytes.
def test_partition_switch_waits_for_full_batch_up_to_twice_batch_size() -> None:
    partitioner = made(0, 1, 2, batch=16384)
    stay = partitioner.peek(THREE)
    partitioner.update(stay, 12288, THREE)
    partitioner.update(stay, 12288, THREE, enable_switch=False)
    assert not partitioner.is_changed(stay)
    partitioner.update(stay, 0, THREE)
    assert partitioner.peek(THREE).partition == 1
    stay = partitioner.peek(THREE)
    partitioner.update(stay, 32767, THREE, enable_switch=False)
    assert not partitioner.is_changed(stay)
    partitioner.update(stay, 1, THREE, enable_switch=False)
    assert partitioner.peek(THREE).partition == 2


def test_produced_bytes_wrap_as_java_int() -> None:
    partitioner = made(0, batch=2**30 - 1)
    stay = partitioner.peek(THREE)
    partitioner.update(stay, 2**30 - 2, THREE)
    partitioner.update(stay, INT_MAX, THREE)
    assert stay.produced == -(2**30) - 3
    assert not partitioner.is_changed(stay)


def test_overflow_of_twice_batch_size_switches_partition_at_every_update() -> None:
    partitioner = made(0, 1, batch=2**30)
    stay = partitioner.peek(THREE)
    partitioner.update(stay, 0, THREE, enable_switch=False)
    assert partitioner.is_changed(stay)


# KAFKA-14303. With batch.size=0 every report switches, also the one of 0 bytes by which the accumulator makes up for a
# deferred switch before it appends. It then looks for the new partition, finds the same, and send() never comes back.
# 3.3.2 refuses such a size here, and the producer asks for at least 1.
def test_batch_size_0_switches_partition_at_every_update_up_to_3_3_1_and_then_throws() -> None:
    for version in ["3.3.0", "3.3.1"]:
        partitioner = made(*range(9), batch=0, version=version)
        for _ in range(8):
            stay = partitioner.peek(THREE)
            partitioner.update(stay, 0, THREE)
            assert partitioner.is_changed(stay)
    for version in ["3.3.2", "4.4.0"]:
        with pytest.raises(IllegalArgumentException, match=r"^stickyBatchSize must be >= 1 but got 0$"):
            made(batch=0, version=version)


def test_uniform_choice_skips_leaderless_partitions_and_gives_indices_if_no_partition_has_a_leader() -> None:
    assert places(made(0, 1, 2, 3), 4, ONE_LEADERLESS) == [0, 2, 0, 2]
    assert places(made(0, 4, -1), 3, LEADERLESS) == [0, 1, INT_MAX % 3]


def test_topic_without_partitions_throws_after_random_draw_and_keeps_the_sticky_partition() -> None:
    partitioner = made(0, 1, 2)
    with pytest.raises(ArithmeticException):
        partitioner.peek(EMPTY)
    stay = partitioner.peek(THREE)
    assert stay.partition == 1
    with pytest.raises(ArithmeticException):
        partitioner.update(stay, 5, EMPTY)
    assert stay.produced == 5
    assert not partitioner.is_changed(stay)


@pytest.mark.parametrize("version", EVERY_KIND)
def test_load_table_weights_partitions_by_inverted_queue_size(version: str) -> None:  # Kafka's adaptivePartitionsTest
    partitioner = made(*range(42), version=version)
    assert partitioner.load([5, 0, 3, 0, 1], range(5), ["a"] * 5, 5) == 21
    assert Counter(places(partitioner, 42)) == {0: 2, 1: 12, 2: 6, 3: 12, 4: 10}


def test_load_table_matches_example_in_kafka_source_comment() -> None:
    partitioner = made(*range(9))
    assert partitioner.load([0, 3, 1], [7, 8, 9], None, 3) == 8
    assert places(partitioner, 9, EMPTY) == [7, 7, 7, 7, 8, 9, 9, 9, 7]


def test_load_table_is_dropped_for_missing_or_equal_queue_sizes_unless_some_are_omitted() -> None:
    partitioner = made(0, 1)
    assert partitioner.load([2, 2, 9], [7, 8, 9], None, 2) == 2  # equal, but one was left out
    assert places(partitioner, 2) == [7, 8]
    assert made().load([4, 4], [7, 8], None, 1) == 1
    for queue_sizes, length in [([4, 4], 2), ([4], 1), ([], 0), ([1, 2], 0), ([1, 2], -1), ([], 3), (None, 2)]:
        assert partitioner.load([0, 1], [7, 8], None, 2) == 3
        assert partitioner.load(queue_sizes, [0] * 2, None, length) is None
    with pytest.raises(DrawsExhausted):
        partitioner.next_partition(THREE)


def test_load_table_update_with_length_beyond_the_array_throws_and_keeps_old_table() -> None:
    partitioner = made(0, 1)
    partitioner.load([0, 1], [7, 8], None, 2)
    with pytest.raises(ArrayIndexOutOfBoundsException):
        partitioner.load([1, 2], [5, 6, 7], None, 3)
    assert places(partitioner, 2) == [7, 7]


def test_load_table_lacking_a_partition_id_throws_only_when_the_missing_id_is_chosen() -> None:
    partitioner = made(0, 2)
    assert partitioner.load([0, 1], [7], None, 2) == 3
    assert partitioner.next_partition(THREE) == 7
    with pytest.raises(ArrayIndexOutOfBoundsException):
        partitioner.next_partition(THREE)


def test_load_table_weights_wrap_as_java_int_for_queue_size_int_max() -> None:
    # biggest + 1 is -2^31. Less 2^31-1 that is 1; less 0, plus 1, -2^31 + 1. So the modulus is 2^31-1.
    partitioner = made(0, 1, INT_MAX, 2)
    assert partitioner.load([INT_MAX, 0, 5], [7, 8, 9], None, 2) == INT_MIN + 1
    assert places(partitioner, 3) == [7, 8, 7]  # below 1; found, so the next; 0 again
    assert partitioner.next_partition(THREE) == 9  # above all: the id of the entry that was left out


def test_next_partition_after_a_load_of_total_weight_0_throws_arithmetic_exception() -> None:
    partitioner = made(5)
    assert partitioner.load([INT_MAX, INT_MIN + 1], [7, 8], None, 2) == 0
    with pytest.raises(ArithmeticException):
        partitioner.next_partition(THREE)


def test_rack_aware_uniform_choice_uses_only_partitions_with_leader_in_the_rack_if_any() -> None:
    assert places(made(0, 1, 2, rack="a"), 3, FIVE) == [0, 1, 0]
    assert places(made(1, rack="b"), 1, FIVE) == [2]
    assert places(made(1, rack=""), 1, FIVE) == [3]  # the empty rack is one; none is not
    assert places(made(4, rack="elsewhere"), 1, FIVE) == [4]
    assert places(made(1, rack="b"), 1, LEADERLESS) == [1]
    assert places(BuiltInPartitioner("4.4.0", 1, ListedDraws([1]), rack="b"), 1, FIVE) == [1]  # not asked for


def test_load_table_of_a_rack_uses_only_queue_sizes_in_the_rack() -> None:
    partitioner = made(*range(6), rack="a")
    # all: 10 - 9, 10 - 0, 10 - 2, so 1, 11, 19; in rack a: 3 - 0, 3 - 2, so 3, 4
    assert partitioner.load([9, 0, 2], [7, 8, 9], ["b", "a", "a"], 3) == 19
    assert places(partitioner, 5) == [8, 8, 8, 9, 8]
    assert partitioner.load([9, 0, 2], [7, 8, 9], ["b", None, ""], 3) == 19
    assert places(partitioner, 1) == [8]  # draw 5 among all


def test_load_table_of_rack_with_negative_queue_sizes_counts_the_largest_as_minus_1() -> None:
    partitioner = made(*range(9), rack="a")
    assert partitioner.load([-5, -4, 3], [7, 8, 9], ["a", "a", "b"], 3) == 9 + 8 + 1
    assert places(partitioner, 9) == [7] * 5 + [8] * 4  # 0 + 5, 0 + 4


def test_random_draw_beyond_the_load_table_of_a_rack_selects_partition_0() -> None:
    partitioner = made(0, 1, 2, rack="a")
    partitioner.load([INT_MAX, 0, 5], [7, 8, 9], ["a", "a", "b"], 3)
    assert places(partitioner, 3) == [7, 8, 0]


def test_equal_queue_sizes_fall_back_to_uniform_choice_within_the_rack() -> None:
    partitioner = made(0, 1, rack="b")
    assert partitioner.load([4, 4, 4], [0, 1, 2], ["a", "a", "b"], 3) is None
    assert places(partitioner, 2) == [2, 2]


def test_rack_aware_load_with_missing_racks_or_ids_throws_and_keeps_the_old_table() -> None:
    partitioner = made(0, rack="a")
    assert partitioner.load([0, 1], [7, 8], ["b", "b"], 2) == 3
    with pytest.raises(NullPointerException):
        partitioner.load([0, 1], [7, 8], None, 2)
    with pytest.raises(ArrayIndexOutOfBoundsException):
        partitioner.load([0, 1], [7, 8], ["a"], 2)
    with pytest.raises(ArrayIndexOutOfBoundsException):
        partitioner.load([0, 1], [7], ["b", "a"], 2)
    assert partitioner.next_partition(THREE) == 7


def test_builtin_partitioner_or_racks_before_first_release_raise_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease, match="BuiltInPartitioner of Kafka"):
        made(version="3.2.3")
    with pytest.raises(NotInThisRelease, match="rack"):
        made(version="4.3.1", rack="a")


def test_binary_search_matches_bisect_on_sorted_and_java_on_unsorted_values() -> None:
    values = [-4, 0, 3, 8, 9]
    for wanted in range(-6, 12):
        place = bisect_left(values, wanted)
        assert binary_search(values, wanted) == (place if wanted in values else -place - 1)
    assert binary_search([], 1) == -1
    assert binary_search([5, 1, 9], 5) == -3  # looks at 1, then at 9
    assert binary_search([9, 1, 1, 5], 1) == 1
