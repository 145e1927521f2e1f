"""What ``acks`` of a produce request means: when it is refused, and when it is answered. All functions are pure."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.replication.behaviour import PartitionBehaviour

__all__ = [
    "ALL",
    "Completion",
    "check_completion",
    "effective_min_in_sync",
    "error_before_append",
    "is_valid_acks",
    "waits",
]

ALL = -1
"""``acks=all``."""


@dataclass(frozen=True, slots=True)
class Completion:
    """Whether a produce request with ``acks=all`` is answered, and with which error."""

    done: bool
    error: str


def is_valid_acks(acks: int) -> bool:
    """Return whether a broker accepts ``acks``; any other number is answered by INVALID_REQUIRED_ACKS, without an append.

    Java source mirrored: ``ReplicaManager.isValidRequiredAcks``.
    """
    return acks in (ALL, 0, 1)


def waits(acks: int) -> bool:
    """Return whether a request is answered only once its records are committed; others when the leader has appended.

    Java source mirrored: ``ReplicaManager.delayedProduceRequestRequired``.
    """
    return acks == ALL


def effective_min_in_sync(min_in_sync: int, replica_count: int, behaviour: PartitionBehaviour) -> int:
    """Return how many in-sync replicas are needed: ``min.insync.replicas``, since 3.7.0 at most the number of replicas.

    Java source mirrored: ``Partition.effectiveMinIsr``.
    """
    return min(min_in_sync, replica_count) if behaviour.min_isr_capped_at_replicas else min_in_sync


def error_before_append(acks: int, in_sync_count: int, min_in_sync: int) -> str:
    """Return NOT_ENOUGH_REPLICAS if a request is refused before the append, or "".

    ``in_sync_count`` counts the committed in-sync replicas; ``min_in_sync`` is the effective minimum. Only ``acks=all``
    is refused.

    Java source mirrored: ``Partition.appendRecordsToLeader``.
    """
    return "NOT_ENOUGH_REPLICAS" if acks == ALL and in_sync_count < min_in_sync else ""


def check_completion(
    required_offset: int, high_watermark: int, *, maximal_in_sync_count: int, min_in_sync: int
) -> Completion:
    """Return whether a request with ``acks=all`` whose records end at ``required_offset`` is answered by its leader.

    It is once the high watermark has reached that offset; with NOT_ENOUGH_REPLICAS_AFTER_APPEND if the maximal in-sync
    set is smaller than the effective minimum then.

    Java source mirrored: ``Partition.checkEnoughReplicasReachOffset``.
    """
    if high_watermark < required_offset:
        return Completion(False, "NONE")
    return Completion(True, "NONE" if min_in_sync <= maximal_in_sync_count else "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
