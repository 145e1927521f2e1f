"""The high watermark, on the leader and on a follower, and where a follower truncates its log.

The high watermark is the offset below which records are committed: consumers read up to it. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.replica_state import ReplicaState, is_caught_up

__all__ = [
    "UNDEFINED", "EpochEnd", "EpochStart", "Truncation", "find_epoch_end", "find_truncation", "follower_high_watermark",
    "leader_high_watermark", "may_advance", "waits_for",
]  # fmt: skip

UNDEFINED = -1
"""No epoch, or no offset."""


@dataclass(frozen=True, slots=True)
class EpochStart:
    """An entry of the leader epoch cache: an epoch, and the offset of its first record."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """An epoch, and the offset behind its last record; both -1 if the log does not know."""

    epoch: int
    end_offset: int


@dataclass(frozen=True, slots=True)
class Truncation:
    """The offset that a follower truncates to, and whether it is done then; otherwise it asks the leader again."""

    offset: int
    completed: bool


def waits_for(
    replica: ReplicaState, leader_end_offset: int, *, now_ms: int, max_lag_ms: int, may_join: bool,
    behaviour: PartitionBehaviour,
) -> bool:  # fmt: skip
    """Return whether the leader's high watermark waits for a follower that is not in the maximal in-sync set.

    It waits for one that is caught up; since 3.6.0 only if the follower may join the in-sync replicas as well.

    Java source mirrored: ``Partition.maybeIncrementLeaderHW``, its ``shouldWaitForReplicaToJoinIsr``.
    """
    if behaviour.waits_only_for_eligible and not may_join:
        return False
    return is_caught_up(replica, leader_end_offset, now_ms=now_ms, max_lag_ms=max_lag_ms)


def may_advance(in_sync_count: int, min_in_sync: int, behaviour: PartitionBehaviour) -> bool:
    """Return whether a leader's high watermark may move: since 3.7.0 not with fewer in-sync replicas than the minimum.

    Java source mirrored: ``Partition.maybeIncrementLeaderHW``, its first check.
    """
    return in_sync_count >= min_in_sync or not behaviour.high_watermark_waits_for_min_isr


def leader_high_watermark(
    current: int,
    leader_end_offset: int,
    followers: Mapping[int, ReplicaState],
    maximal_in_sync: Collection[int],
    *,
    in_sync_count: int,
    min_in_sync: int,
    now_ms: int,
    max_lag_ms: int,
    may_join: Collection[int],
    behaviour: PartitionBehaviour,
) -> int:
    """Return the leader's next high watermark: the smallest log end offset of the replicas that count, and never less.

    The leader, the followers in the maximal in-sync set, and those that :func:`waits_for` names count. Since 3.7.0 the
    high watermark stays while the committed in-sync replicas are fewer than the effective minimum.

    ``maximal_in_sync`` are the committed in-sync replicas and those whose addition is not confirmed yet; ``in_sync_count``
    counts the committed ones; ``min_in_sync`` is the effective minimum
    (:func:`kafka_reference.replication.produce_acks.effective_min_in_sync`); ``may_join`` are the followers that
    :func:`kafka_reference.replication.in_sync_replicas.is_eligible` admits.

    Java source mirrored: ``Partition.maybeIncrementLeaderHW``, ``UnifiedLog.maybeIncrementHighWatermark``.
    """
    if not may_advance(in_sync_count, min_in_sync, behaviour):
        return current
    least = leader_end_offset
    for broker, replica in followers.items():
        if replica.log_end_offset < least and (
            broker in maximal_in_sync
            or waits_for(
                replica, leader_end_offset, now_ms=now_ms, max_lag_ms=max_lag_ms, may_join=broker in may_join,
                behaviour=behaviour,
            )
        ):  # fmt: skip
            least = replica.log_end_offset
    return max(current, least)


def follower_high_watermark(leader_high_watermark: int, log_end_offset: int, log_start_offset: int = 0) -> int:
    """Return a follower's high watermark: the leader's, but within the follower's own log. It may go down.

    Java source mirrored: ``UnifiedLog.updateHighWatermark``, called by ``ReplicaFetcherThread.processPartitionData``.
    """
    return min(max(leader_high_watermark, log_start_offset), log_end_offset)


def find_epoch_end(epochs: Sequence[EpochStart], epoch: int, log_end_offset: int) -> EpochEnd:
    """Return the largest epoch of a log that is at most ``epoch``, and the offset behind its last record.

    ``epochs`` ascend. The latest epoch ends at the log's end. An epoch above all of them, or any of an empty cache, is
    unknown. One below all of them ends where the first begins.

    Java source mirrored: ``LeaderEpochFileCache.endOffsetFor``.
    """
    if epoch == UNDEFINED:
        return EpochEnd(UNDEFINED, UNDEFINED)
    if epochs and epochs[-1].epoch == epoch:
        return EpochEnd(epoch, log_end_offset)
    higher = next((entry for entry in epochs if entry.epoch > epoch), None)
    if higher is None:
        return EpochEnd(UNDEFINED, UNDEFINED)
    floor = next((entry.epoch for entry in reversed(epochs) if entry.epoch <= epoch), epoch)
    return EpochEnd(floor, higher.start_offset)


def find_truncation(
    leader_end: EpochEnd, epochs: Sequence[EpochStart], log_end_offset: int, high_watermark: int
) -> Truncation:
    """Return where a follower truncates, given the epoch and end offset that the leader found to differ.

    ``epochs`` and ``log_end_offset`` are the follower's. If the follower does not have the leader's epoch, it truncates
    to the end of its next lower one and asks again.

    Java source mirrored: ``AbstractFetcherThread.getOffsetTruncationState``.
    """
    if leader_end.end_offset == UNDEFINED:  # unreached: a leader of a history has the epochs of its followers
        return Truncation(high_watermark, True)
    if leader_end.epoch == UNDEFINED:  # unreached: only leaders before 2.0 answer without an epoch
        return Truncation(min(leader_end.end_offset, log_end_offset), True)
    own = find_epoch_end(epochs, leader_end.epoch, log_end_offset)
    if own.end_offset == UNDEFINED:  # unreached: a follower of a history has records of an epoch as old as the leader's
        return Truncation(min(leader_end.end_offset, log_end_offset), True)
    if own.epoch != leader_end.epoch:
        return Truncation(min(own.end_offset, log_end_offset), False)
    return Truncation(min(own.end_offset, leader_end.end_offset, log_end_offset), True)
