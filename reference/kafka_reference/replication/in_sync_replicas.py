"""Which followers are in sync: when one is removed, when one may join, and what the controller's answer changes.

All functions are pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.replica_state import ReplicaState, is_caught_up

__all__ = [
    "BrokerMetadata", "InSyncState", "Rejection", "find_out_of_sync", "handle_rejection", "has_reached_leader",
    "is_eligible", "is_out_of_sync",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class BrokerMetadata:
    """What the cluster's metadata say of a broker."""

    epoch: int
    fenced: bool = False
    shutting_down: bool = False


@dataclass(frozen=True, slots=True)
class InSyncState:
    """The in-sync replicas that the controller has committed, and the change that it has been asked for.

    Java source mirrored: ``CommittedPartitionState``, ``PendingExpandIsr``, ``PendingShrinkIsr``.
    """

    committed: frozenset[int] = frozenset()
    """The in-sync replicas, the leader among them."""
    joining: int | None = None
    """The follower that the controller is asked to add."""
    leaving: frozenset[int] = frozenset()
    """The followers that the controller is asked to remove."""

    @property
    def is_in_flight(self) -> bool:
        """Whether the controller has been asked for a change and its answer has not come."""
        return self.joining is not None or bool(self.leaving)

    @property
    def maximal(self) -> frozenset[int]:
        """The committed replicas and the one that is joining; those that are leaving still count."""
        return self.committed if self.joining is None else self.committed | {self.joining}

    @property
    def requested(self) -> frozenset[int]:
        """The in-sync replicas that the controller is asked for."""
        return self.maximal - self.leaving


def is_out_of_sync(replica: ReplicaState | None, leader_end_offset: int, *, now_ms: int, max_lag_ms: int) -> bool:
    """Return whether a follower was not caught up for more than ``max_lag_ms``; an unknown follower is out of sync.

    Java source mirrored: ``Partition.isFollowerOutOfSync``.
    """
    return replica is None or not is_caught_up(replica, leader_end_offset, now_ms=now_ms, max_lag_ms=max_lag_ms)


def find_out_of_sync(
    state: InSyncState,
    leader: int,
    followers: Mapping[int, ReplicaState],
    leader_end_offset: int,
    *,
    now_ms: int,
    max_lag_ms: int,
) -> frozenset[int]:
    """Return the in-sync replicas that the leader removes: none while a change is in flight, and never the leader.

    Java source mirrored: ``Partition.getOutOfSyncReplicas``.
    """
    if state.is_in_flight:
        return frozenset()
    return frozenset(
        broker
        for broker in state.committed - {leader}
        if is_out_of_sync(followers.get(broker), leader_end_offset, now_ms=now_ms, max_lag_ms=max_lag_ms)
    )


def is_eligible(replica: ReplicaState | None, broker: BrokerMetadata | None, behaviour: PartitionBehaviour) -> bool:
    """Return whether the metadata let a follower join: its broker is neither fenced nor shutting down.

    Since 3.5.0 the broker epoch of the follower's last fetch must be that of the metadata, or -1. ``broker`` is None
    for one that is not registered, ``replica`` for one that is not a follower of the partition.

    Java source mirrored: ``Partition.isReplicaIsrEligible`` with a ``KRaftMetadataCache``.
    """
    if not behaviour.checks_broker_epoch:
        return broker is None or not (broker.fenced or broker.shutting_down)
    if replica is None or broker is None or broker.fenced or broker.shutting_down:
        return False
    return replica.broker_epoch is not None and replica.broker_epoch in (-1, broker.epoch)


def has_reached_leader(replica: ReplicaState, high_watermark: int, epoch_start_offset: int | None) -> bool:
    """Return whether a follower has all committed records, and reached the first offset of the leader's epoch.

    Both count if equal. A follower joins the in-sync replicas if it also :func:`is_eligible`, is not in them, and no
    change is in flight.

    Java source mirrored: ``Partition.isFollowerInSync``.
    """
    end = replica.log_end_offset
    return end >= high_watermark and epoch_start_offset is not None and end >= epoch_start_offset


class Rejection(Enum):
    """What a leader does with a change that the controller has not made."""

    RESET = "go back to the committed in-sync replicas"
    WAIT = "keep the change pending until the metadata change"
    RETRY = "send the request again"


_REJECTIONS = {
    "OPERATION_NOT_ATTEMPTED": Rejection.RESET,
    "INELIGIBLE_REPLICA": Rejection.RESET,
    "UNKNOWN_TOPIC_OR_PARTITION": Rejection.WAIT,
    "UNKNOWN_TOPIC_ID": Rejection.WAIT,
    "FENCED_LEADER_EPOCH": Rejection.WAIT,
    "INVALID_UPDATE_VERSION": Rejection.WAIT,
    "INVALID_REQUEST": Rejection.WAIT,
    "NEW_LEADER_ELECTED": Rejection.WAIT,
}


def handle_rejection(error: str) -> Rejection:
    """Return what a leader does when AlterPartition fails with ``error``, a name of ``Errors``: it retries unknown ones.

    Java source mirrored: ``Partition.handleAlterPartitionError``.
    """
    return _REJECTIONS.get(error, Rejection.RETRY)
