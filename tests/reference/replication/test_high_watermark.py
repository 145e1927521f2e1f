from __future__ import annotations

import pytest

from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.high_watermark import (
    EpochEnd,
    EpochStart,
    Truncation,
    find_epoch_end,
    find_truncation,
    follower_high_watermark,
    leader_high_watermark,
)
from kafka_reference.replication.replica_state import ReplicaState

NEWEST = PartitionBehaviour.of("4.4.0")


def leader(
    version: str, *, in_sync: set[int], ends: dict[int, int], now: int = 0, may_join: tuple[int, ...] = ()
) -> int:
    return leader_high_watermark(
        3,
        10,
        {broker: ReplicaState(log_end_offset=end) for broker, end in ends.items()},
        in_sync,
        in_sync_count=len(in_sync),
        min_in_sync=2,
        now_ms=now,
        max_lag_ms=100,
        may_join=may_join,
        behaviour=PartitionBehaviour.of(version),
    )


def test_high_watermark_is_end_offset_of_the_slowest_in_sync_replica() -> None:
    assert leader("4.4.0", in_sync={1, 2, 3}, ends={2: 8, 3: 6}) == 6


def test_high_watermark_never_decreases_with_slow_replica() -> None:
    assert leader("4.4.0", in_sync={1, 2, 3}, ends={2: 8, 3: 1}) == 3


@pytest.mark.parametrize(("version", "expected"), [("3.6.2", 10), ("3.7.0", 3)])
def test_high_watermark_stays_while_isr_is_below_min_insync_since_3_7(version: str, expected: int) -> None:
    assert leader(version, in_sync={1}, ends={2: 8, 3: 6}, now=101) == expected


@pytest.mark.parametrize(
    ("version", "may_join", "now", "expected"),
    [("3.5.2", (), 100, 6), ("3.6.0", (), 100, 8), ("3.6.0", (3,), 100, 6), ("3.6.0", (3,), 101, 8)],
)
def test_high_watermark_waits_for_caught_up_follower_outside_isr_and_since_3_6_only_if_eligible(
    version: str, may_join: tuple[int, ...], now: int, expected: int
) -> None:
    assert leader(version, in_sync={1, 2}, ends={2: 8, 3: 6}, now=now, may_join=may_join) == expected


def test_follower_high_watermark_stays_between_log_start_and_end_offset() -> None:
    assert [follower_high_watermark(offset, 5) for offset in (-1, 0, 4, 5, 9)] == [0, 0, 4, 5, 5]
    assert follower_high_watermark(1, 5, 2) == 2


EPOCHS = (EpochStart(2, 0), EpochStart(3, 2), EpochStart(5, 4))


@pytest.mark.parametrize(
    ("epoch", "found"),
    [(-1, (-1, -1)), (1, (1, 0)), (2, (2, 2)), (3, (3, 4)), (4, (3, 4)), (5, (5, 9)), (6, (-1, -1))],
)
def test_epoch_end_offset_is_start_of_next_epoch_log_end_or_undefined(epoch: int, found: tuple[int, int]) -> None:
    assert find_epoch_end(EPOCHS, epoch, 9) == EpochEnd(*found)


def test_epoch_end_offset_in_an_empty_log_is_undefined() -> None:
    assert find_epoch_end((), 1, 0) == EpochEnd(-1, -1)


@pytest.mark.parametrize(
    ("leader_end", "truncation"),
    [
        ((-1, -1), (6, True)),
        ((-1, 7), (7, True)),
        ((7, 8), (8, True)),
        ((4, 8), (4, False)),
        ((3, 3), (3, True)),
        ((3, 8), (4, True)),
        ((5, 20), (9, True)),
    ],
)
def test_follower_truncation_offset_is_computed_from_epoch_end_of_the_leader(
    leader_end: tuple[int, int], truncation: tuple[int, bool]
) -> None:
    assert find_truncation(EpochEnd(*leader_end), EPOCHS, 9, 6) == Truncation(*truncation)
