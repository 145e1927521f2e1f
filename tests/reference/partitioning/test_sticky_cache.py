from __future__ import annotations

import pytest

from kafka_reference.errors import ArithmeticException, DrawsExhausted
from kafka_reference.java.thread_local_random import ListedDraws, SeededDraws, seed_for
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache


def cluster(*partitions: tuple[int, int | None]) -> Cluster:
    """Partitions as (id, leader)."""
    return Cluster((Node(0), Node(1), Node(2)), tuple(Partition(*each) for each in partitions))


THREE = cluster((0, 0), (1, 1), (2, 2))
ONE_OF_TWO = cluster((0, None), (1, 0))
LEADERLESS = cluster((5, None), (6, None), (7, None))


def test_sticky_cache_keeps_one_partition_per_topic() -> None:
    draws = ListedDraws([4, 2])
    cache = StickyPartitionCache(draws)
    assert [cache.partition("a", THREE) for _ in range(3)] == [1, 1, 1]
    assert [cache.partition("b", THREE) for _ in range(3)] == [2, 2, 2]
    assert draws.used == 2


def test_new_batch_draws_random_numbers_until_the_sticky_partition_differs() -> None:
    draws = ListedDraws([1, 1, 4, 7, 0])
    cache = StickyPartitionCache(draws)
    assert cache.partition("a", THREE) == 1
    assert cache.next_partition("a", THREE, 1) == 0
    assert draws.used == 5
    assert cache.partition("a", THREE) == 0


def test_sticky_partition_is_unchanged_by_new_batch_of_another_partition() -> None:
    draws = ListedDraws([1])
    cache = StickyPartitionCache(draws)
    assert cache.partition("a", THREE) == 1
    assert cache.next_partition("a", THREE, 0) == 1
    assert draws.used == 1


def test_first_new_batch_of_a_topic_may_choose_the_previous_partition() -> None:
    cache = StickyPartitionCache(ListedDraws([2]))
    assert cache.next_partition("a", THREE, 2) == 2


def test_the_only_available_partition_is_taken_without_a_random_draw() -> None:
    draws = ListedDraws()
    cache = StickyPartitionCache(draws)
    assert cache.partition("b", ONE_OF_TWO) == 1
    assert cache.next_partition("b", ONE_OF_TWO, 1) == 1
    assert draws.used == 0


def test_topic_without_leaders_yields_a_partition_index_that_may_repeat() -> None:
    draws = ListedDraws([4, 1])
    cache = StickyPartitionCache(draws)
    assert cache.partition("c", LEADERLESS) == 1  # not 6, the id in that place
    assert cache.next_partition("c", LEADERLESS, 1) == 1
    assert draws.used == 2


def test_sign_bit_of_a_random_draw_is_cleared() -> None:
    assert StickyPartitionCache(ListedDraws([-1])).partition("a", THREE) == 2147483647 % 3
    assert StickyPartitionCache(ListedDraws([-(2**31)])).partition("a", THREE) == 0
    assert StickyPartitionCache(SeededDraws(seed_for(-1))).partition("a", THREE) == 1


def test_topic_without_partitions_throws_after_a_random_draw_and_caches_no_partition() -> None:
    draws = ListedDraws([7, 2])
    cache = StickyPartitionCache(draws)
    with pytest.raises(ArithmeticException):
        cache.partition("a", cluster())
    assert draws.used == 1
    assert cache.partition("a", THREE) == 2


# Java's loop has no other end than a partition that differs. Two entries with one id, and a producer thread is gone.
def test_next_sticky_partition_among_duplicate_ids_raises_draws_exhausted_instead_of_looping() -> None:
    twice = cluster((3, 0), (3, 1))
    for draws in (ListedDraws([0, 1, 2]), SeededDraws(1)):
        cache = StickyPartitionCache(draws)
        assert cache.partition("a", twice) == 3
        with pytest.raises(DrawsExhausted, match="distinct"):
            cache.next_partition("a", twice, 3)
        assert draws.used == 1


def test_next_partition_with_too_few_random_draws_raises_draws_exhausted() -> None:
    cache = StickyPartitionCache(ListedDraws([1, 1, 1]))
    cache.partition("a", THREE)
    with pytest.raises(DrawsExhausted, match="add draws"):
        cache.next_partition("a", THREE, 1)
