"""A leader's state of a follower: its log end offset, and when it was last caught up."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["UNKNOWN_OFFSET", "ReplicaState", "is_caught_up", "reset_replica", "update_fetch_state"]

UNKNOWN_OFFSET = -1


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """A follower, as its leader sees it.

    Java source mirrored: ``ReplicaState`` (``kafka.cluster`` up to 4.0.x, ``org.apache.kafka.server.replica`` since 4.1.0).
    """

    log_end_offset: int = UNKNOWN_OFFSET
    """The offset of the follower's last fetch; -1 before the first."""
    log_start_offset: int = UNKNOWN_OFFSET
    """The follower's log start offset, as its last fetch reported; -1 before the first."""
    last_fetch_leader_end_offset: int = 0
    """The leader's log end offset at the last fetch."""
    last_fetch_ms: int = 0
    """The time of the last fetch in ms."""
    last_caught_up_ms: int = 0
    """The latest time in ms at which the follower had all that the leader had then."""
    broker_epoch: int | None = None
    """The broker epoch of the last fetch; None before the first."""


def is_caught_up(replica: ReplicaState, leader_end_offset: int, *, now_ms: int, max_lag_ms: int) -> bool:
    """Return whether a follower has all records, or had all within the last ``max_lag_ms``; exactly that long ago counts.

    ``max_lag_ms`` is ``replica.lag.time.max.ms``.

    Java source mirrored: ``ReplicaState.isCaughtUp``.
    """
    return leader_end_offset == replica.log_end_offset or now_ms - replica.last_caught_up_ms <= max_lag_ms


def update_fetch_state(
    replica: ReplicaState, offset: int, *, log_start_offset: int, now_ms: int, leader_end_offset: int, broker_epoch: int
) -> ReplicaState:
    """Return the follower's state after it fetched from ``offset``, when the leader's log ended at ``leader_end_offset``.

    A fetch from the leader's end catches up now; one from where the leader's end was at the last fetch had caught up
    at that time.

    Java source mirrored: ``Replica.updateFetchState``, ``updateFetchStateOrThrow`` since 3.7.0.
    """
    caught_up_ms = replica.last_caught_up_ms
    if offset >= leader_end_offset:
        caught_up_ms = max(caught_up_ms, now_ms)
    elif offset >= replica.last_fetch_leader_end_offset:
        caught_up_ms = max(caught_up_ms, replica.last_fetch_ms)
    return ReplicaState(
        log_end_offset=offset,
        log_start_offset=log_start_offset,
        last_fetch_leader_end_offset=max(leader_end_offset, replica.last_fetch_leader_end_offset),
        last_fetch_ms=now_ms,
        last_caught_up_ms=caught_up_ms,
        broker_epoch=broker_epoch,
    )


def reset_replica(
    replica: ReplicaState, *, now_ms: int, leader_end_offset: int, is_new_leader: bool, is_in_sync: bool
) -> ReplicaState:
    """Return the follower's state at the begin of a leader epoch: caught up now if it is in sync, else at time 0.

    A leader that led before keeps the offsets of its followers.

    Java source mirrored: ``Replica.resetReplicaState``.
    """
    caught_up_ms = now_ms if is_in_sync else 0
    if is_new_leader:
        return ReplicaState(last_fetch_leader_end_offset=UNKNOWN_OFFSET, last_caught_up_ms=caught_up_ms)
    return replace(
        replica,
        last_fetch_leader_end_offset=leader_end_offset,
        last_fetch_ms=caught_up_ms,
        last_caught_up_ms=caught_up_ms,
    )
