from __future__ import annotations

import pytest

from kafka_reference.errors import (
    ArithmeticException,
    DrawsExhausted,
    NotInThisRelease,
    NullPointerException,
    QuestionError,
)
from kafka_reference.java.thread_local_random import ListedDraws, SeededDraws
from kafka_reference.partitioning.cluster import Cluster, Node, Partition
from kafka_reference.partitioning.keyless_distribution import LARGEST_BATCH, Distribution, distribute


def led(count: int) -> Cluster:
    return Cluster((Node(0),), tuple(Partition(place, 0) for place in range(count)))


def cluster(*partitions: tuple[int, int | None]) -> Cluster:
    """Partitions as (id, leader)."""
    return Cluster((Node(0),), tuple(Partition(*each) for each in partitions))


THREE = led(3)


def listed(partitioner: str, version: str, draws: list[int], records: int, batch: int, **more: object) -> Distribution:
    return distribute(partitioner, version, THREE, ListedDraws(draws), records=records, batch_records=batch, **more)  # type: ignore[arg-type]


def test_keyless_records_up_to_2_3_go_round_robin_from_a_random_start() -> None:
    assert listed("default", "2.3.1", [7], 4, 1) == Distribution({1: 2, 2: 1, 0: 1}, 0)


@pytest.mark.parametrize("who", ["default", "uniform-sticky"])
@pytest.mark.parametrize("version", ["2.4.0", "3.2.3", "3.9.2"])
def test_sticky_partition_switches_at_each_new_batch_even_before_the_first_record(who: str, version: str) -> None:
    """0 is chosen and, with no batch there, announced as full; 0 is drawn again, which does not count, then 1, 2 and 0."""
    assert listed(who, version, [0, 0, 1, 2, 0], 5, 2) == Distribution({1: 2, 2: 2, 0: 1}, 3)


def test_drained_batch_makes_the_sticky_partitioner_switch() -> None:
    """One record to 1, which is drained at once; two to 2; then 0 until it is full."""
    found = listed("default", "2.8.2", [0, 1, 2, 0, 1], 8, 4, drain_after=[None, 1, 2])
    assert found == Distribution({1: 2, 2: 2, 0: 4}, 4)


def test_builtin_partitioner_switches_when_a_batch_is_full() -> None:
    assert listed("builtin", "4.4.0", [0, 1, 2], 6, 3) == Distribution({0: 3, 1: 3}, 2)


def test_builtin_partitioner_with_drained_batches_switches_before_twice_batch_size() -> None:
    """Drained after 2 records each, it takes 4 to come to 3 with no batch open."""
    assert listed("builtin", "3.3.2", [0, 1, 2], 9, 3, drain_after=[2] * 3) == Distribution({0: 4, 1: 4, 2: 1}, 2)
    assert listed("builtin", "3.3.2", [0, 1, 2], 7, 3, drain_after=[1] * 3) == Distribution({0: 3, 1: 3, 2: 1}, 2)


def test_builtin_partitioner_may_switch_to_the_same_partition() -> None:
    assert listed("builtin", "4.4.0", [2, 2, -1], 4, 2) == Distribution({2: 4}, 2)


def test_queue_sizes_weight_the_choice_of_partitions() -> None:
    """0, 3, 1 give the table 4, 5, 8: the draws 3, 4, 5 and 7 are on its edges."""
    assert listed("builtin", "4.4.0", [3, 4, 5, 7, 0], 4, 1, queue_sizes=[0, 3, 1]).counts == {0: 1, 1: 1, 2: 2}


def test_leaderless_partitions_are_excluded_from_the_load_table() -> None:
    """Of queue sizes 9, 0, 3 the 9 is not looked at: weights 4 and 1, for the ids 7 and 5."""
    some = cluster((6, None), (7, 0), (5, 0))
    found = distribute(
        "builtin", "4.4.0", some, ListedDraws([3, 4, 5, 0]), records=3, batch_records=1, queue_sizes=[9, 0, 3]
    )
    assert found.counts == {7: 2, 5: 1}


# The records are the clock. Each partition's batch is two records old, by all the producer's records, when round robin
# comes to it again. By its own records it would be one record old, and open.
def test_batch_age_is_counted_in_records_of_the_producer_and_not_of_the_partition() -> None:
    found = distribute("round-robin", "3.9.1", THREE, ListedDraws(), records=6, batch_records=10, drain_after=[2] * 3)
    assert found == Distribution({0: 2, 1: 2, 2: 2}, 6)


# KAFKA-10888. With linger.ms=0 a quick broker's batches are taken almost at once, and the sticky partitioner of 2.4.0 to
# 3.2.x moves on with each; a slow broker's batches fill up before it moves on. One broker of six that was slow got four
# times what each of the others got, which made it slower still. KIP-794 counts bytes instead.
def test_slow_broker_gets_fourfold_share_in_2_8_and_equal_share_in_2_3_and_3_3() -> None:
    paces = [4, 4, 4, 4, 4, None]

    def shares(partitioner: str, version: str) -> list[float]:
        counts = distribute(
            partitioner, version, led(6), SeededDraws(7), records=36_000, batch_records=16, drain_after=paces
        ).counts
        return [counts[place] / 36_000 for place in range(6)]

    assert shares("default", "2.8.2") == pytest.approx([1 / 9] * 5 + [4 / 9], abs=0.02)
    assert shares("builtin", "3.3.2") == pytest.approx([1 / 6] * 6, abs=0.02)
    assert shares("default", "2.3.1") == [1 / 6] * 6


# KAFKA-9965. The second call was made for the sticky partitioners; round robin counted it. Where each record begins a
# batch, one half of an even number of partitions got everything. 3.9.2 remembers the first answer; 4.0.0 asks once.
@pytest.mark.parametrize(
    ("version", "even", "odd"),
    [
        ("2.4.1", [0, 30, 0, 30], [12] * 5),
        ("3.9.1", [0, 30, 0, 30], [12] * 5),
        ("3.9.2", [15] * 4, [12] * 5),
        ("4.0.2", [15] * 4, [12] * 5),
    ],
)
def test_round_robin_starves_half_of_an_even_partition_count_up_to_3_9_1(
    version: str, even: list[int], odd: list[int]
) -> None:
    for expected in (even, odd):
        counts = distribute(
            "round-robin", version, led(len(expected)), ListedDraws(), records=60, batch_records=1
        ).counts
        assert [counts.get(place, 0) for place in range(len(expected))] == expected


def test_index_is_used_as_partition_id_if_no_partition_has_a_leader() -> None:
    nobody = cluster((5, None), (6, None))
    found = distribute("builtin", "4.4.0", nobody, ListedDraws([1, 0]), records=3, batch_records=3, drain_after=[1, 1])
    assert found.counts == {1: 3}


def test_distribution_of_no_records_is_empty() -> None:
    assert listed("builtin", "4.4.0", [], 0, 1) == Distribution({}, 0)


@pytest.mark.parametrize(
    ("partitioner", "version", "raised"),
    [
        ("default", "0.10.0.1", NullPointerException),
        ("default", "2.3.1", ArithmeticException),
        ("uniform-sticky", "2.8.2", ArithmeticException),
        ("round-robin", "4.4.0", ArithmeticException),
        ("builtin", "4.4.0", ArithmeticException),
    ],
)
def test_distribution_over_zero_partitions_throws_exception_of_the_partitioner(
    partitioner: str, version: str, raised: type[Exception]
) -> None:
    with pytest.raises(raised):
        distribute(partitioner, version, led(0), SeededDraws(0), records=1, batch_records=1)


@pytest.mark.parametrize(
    ("partitioner", "version", "name"),
    [
        ("default", "0.8.2.0", "DefaultPartitioner"), ("default", "4.0.0", "DefaultPartitioner"),
        ("uniform-sticky", "2.3.1", "UniformStickyPartitioner"), ("uniform-sticky", "4.4.0", "UniformStickyPartitioner"),
        ("round-robin", "2.3.1", "RoundRobinPartitioner"), ("builtin", "3.2.3", "BuiltInPartitioner"),
    ],
)  # fmt: skip
def test_distribution_in_a_release_without_the_partitioner_raises_not_in_this_release(
    partitioner: str, version: str, name: str
) -> None:
    with pytest.raises(NotInThisRelease, match=f"{name} of Kafka {version} is not mirrored"):
        distribute(partitioner, version, THREE, SeededDraws(0), records=0, batch_records=1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch_records": 0}, "batch_records is 0"),
        ({"batch_records": LARGEST_BATCH + 1}, "batch_records is 1073741824"),
        ({"drain_after": [1]}, "drain_after has 1 entries: expected one for each of the 3"),
        ({"drain_after": [1, 0, 1]}, "an age below 1"),
        ({"queue_sizes": [1, 2]}, "queue_sizes has 2 entries"),
    ],
)
def test_distribution_with_invalid_batch_size_ages_or_queue_sizes_raises_question_error(
    changes: dict[str, object], words: str
) -> None:
    asked: dict[str, object] = {"records": 1, "batch_records": 1} | changes
    with pytest.raises(QuestionError, match=words):
        distribute("builtin", "4.4.0", THREE, SeededDraws(0), **asked)  # type: ignore[arg-type]


def test_distribution_of_an_unknown_partitioner_raises_question_error() -> None:
    with pytest.raises(QuestionError, match="unknown partitioner 'sticky'"):
        distribute("sticky", "4.4.0", THREE, SeededDraws(0), records=1, batch_records=1)


def test_distribution_with_too_few_random_draws_raises_draws_exhausted() -> None:
    with pytest.raises(DrawsExhausted):
        listed("builtin", "4.4.0", [0], 3, 3)
