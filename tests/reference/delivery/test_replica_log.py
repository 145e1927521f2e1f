"""The log of a replica: leader epochs, and what a follower truncates when another replica leads."""

from __future__ import annotations

from kafka_reference.delivery.messages import Batch, Truncation
from kafka_reference.delivery.replica_log import ReplicaLog
from kafka_reference.replication.high_watermark import EpochStart


def log(*entries: tuple[int, int]) -> ReplicaLog:
    """A log of records, each with the leader epoch it was appended in."""
    made = ReplicaLog()
    for record, epoch in entries:
        made.append(Batch((record,), -1, -1, -1), epoch)
    return made


def records(of: ReplicaLog) -> list[int]:
    return [batch.records[0] for batch in of.batches]


def test_leader_epoch_starts_at_offset_of_first_appended_record() -> None:
    made = log((0, 0), (1, 0), (2, 3))
    assert made.epochs == [EpochStart(0, 0), EpochStart(3, 2)]
    assert [made.epoch_of(offset) for offset in range(3)] == [0, 0, 3]


def test_leader_epoch_without_records_is_replaced_by_next_epoch() -> None:
    made = log((0, 0))
    made.assign_epoch(1)
    made.assign_epoch(2)
    assert made.epochs == [EpochStart(0, 0), EpochStart(2, 1)]


def test_follower_truncates_at_first_offset_that_diverges_from_leader() -> None:
    leader, follower = log((0, 0), (5, 1)), log((0, 0), (1, 0), (2, 0))
    follower.high_watermark = 3
    follower.follow(leader, 1)
    assert (records(follower), follower.high_watermark) == ([0], 1)
    assert follower.history[-2:] == [Truncation(1), follower.batches[0]]


def test_follower_truncates_epochs_that_the_leader_lacks() -> None:
    leader, follower = log((0, 0), (7, 3)), log((0, 0), (1, 0), (2, 2))
    leader.assign_epoch(4)
    follower.follow(leader, 4)
    assert records(follower) == [0]


def test_follower_truncates_at_most_once_per_leader_epoch() -> None:
    leader, follower = log((0, 0)), log((0, 0), (1, 0))
    follower.followed_epoch = 0
    follower.follow(leader, 0)
    assert records(follower) == [0, 1]


def test_replica_crash_keeps_the_log_and_drops_truncation_history() -> None:
    follower = log((0, 0), (1, 0))
    follower.follow(log((0, 0)), 0)
    follower.crash()
    assert (follower.is_alive, follower.history, records(follower)) == (False, follower.batches, [0])
