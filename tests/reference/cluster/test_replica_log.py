"""The log of a replica: batches, leader epochs, truncation."""

from __future__ import annotations

from kafka_reference.cluster.replica_log import Batch, ReplicaLog
from kafka_reference.replication.high_watermark import EpochStart


def log(*batches: tuple[int, int, int]) -> ReplicaLog:
    made = ReplicaLog()
    for batch in batches:
        made.append(Batch(*batch))
    return made


def test_leader_epoch_enters_the_epoch_cache_with_first_batch() -> None:
    made = log((0, 2, 0), (2, 1, 0), (3, 1, 4))
    assert (made.epochs, made.end_offset) == ([EpochStart(0, 0), EpochStart(4, 3)], 4)


def test_leader_epoch_without_records_is_replaced_by_next_epoch_and_dropped_at_restart() -> None:
    made = log((0, 1, 0))
    made.begin_epoch(1, 1)
    made.begin_epoch(3, 1)
    assert made.epochs == [EpochStart(0, 0), EpochStart(3, 1)]
    made.restart()
    assert made.epochs == [EpochStart(0, 0)]


def test_former_leader_truncates_at_start_offset_of_the_next_epoch() -> None:
    leader, follower = log((0, 1, 0), (1, 2, 1)), log((0, 1, 0), (1, 1, 0))
    follower.high_watermark = 1
    assert follower.truncate_divergence(leader)
    assert follower.batches == [Batch(0, 1, 0)]
    assert not follower.truncate_divergence(leader)
    follower.copy_from(leader)
    assert follower.batches == leader.batches


def test_follower_truncates_epoch_by_epoch_back_to_the_last_common_batch() -> None:
    leader, follower = log((0, 1, 0), (1, 1, 5)), log((0, 1, 0), (1, 1, 2), (2, 1, 3))
    while follower.truncate_divergence(leader):
        pass
    assert follower.batches == [Batch(0, 1, 0)]


def test_leader_epoch_known_only_to_follower_is_removed_at_truncation() -> None:
    leader, follower = log((0, 1, 0)), log((0, 1, 0))
    leader.begin_epoch(3, 1)
    follower.begin_epoch(2, 1)
    assert follower.truncate_divergence(leader)
    assert (follower.latest_epoch, follower.end_offset) == (0, 1)


def test_truncation_lowers_high_watermark_to_log_end_offset() -> None:
    leader, follower = log((0, 3, 0)), log((0, 3, 0), (3, 1, 0))
    follower.high_watermark = 4
    leader.begin_epoch(1, 3)
    follower.truncate_divergence(leader)
    assert follower.high_watermark == 3
