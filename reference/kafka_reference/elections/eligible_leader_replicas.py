"""Eligible leader replicas (KIP-966): replicas outside the ISR that may lead when it is empty, and the last known leader.

Replicas that leave an ISR below ``min.insync.replicas`` have all committed records, since no record was committed after they
left. They stay eligible until the ISR has its minimum again, or until they shut down uncleanly.

Java source mirrored: ``org.apache.kafka.controller.PartitionChangeBuilder``: ``maybePopulateTargetElr``,
``maybeUpdateRecordElr``, ``maybeUpdateLastKnownLeader``, since 3.7.0,
https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/controller/PartitionChangeBuilder.java
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_registration import NO_LEADER, PartitionChange, PartitionRegistration
from kafka_reference.java.hash_maps import capacity_for, table_order

__all__ = ["eligible_replicas", "last_known_leader", "recorded_replicas"]


def eligible_replicas(
    partition: PartitionRegistration, isr: Collection[int], min_isr: int, unclean_shutdown: Collection[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the eligible leader replicas for an ISR, and the last known ones, in the order of Java's HashSet."""
    if len(isr) >= min_isr:
        return (), ()
    elr = tuple(
        one for one in _hash_set(partition.elr, partition.isr) if one not in isr and one not in unclean_shutdown
    )
    known = _hash_set(partition.elr, (*partition.isr, *partition.last_known_elr))
    return elr, tuple(one for one in known if one not in isr and one not in elr)


def _hash_set(first: tuple[int, ...], added: Iterable[int]) -> list[int]:
    """Return the members of a HashSet that was copied from ``first`` before the others were added."""
    capacity = capacity_for(max(len(first) * 4 // 3 + 1, 16))
    return table_order(dict.fromkeys((*first, *added)), lambda one: one, capacity)


def recorded_replicas(
    behaviour: PartitionChangeBehaviour,
    partition: PartitionRegistration,
    change: PartitionChange,
    last_known: tuple[int, ...],
    *,
    holds_leader: bool,
) -> tuple[int, ...] | None:
    """Return the last known eligible replicas that are recorded; None if they do not change.

    ``holds_leader``: the field is there for the last known leader, which :func:`last_known_leader` records. Up to 3.7.x it
    gets these replicas as well, unless it has the leader and the partition has none.
    """
    if holds_leader:
        if behaviour.last_leader_follows != "isr and replicas":
            return None
        if _leader_after(partition, change) == NO_LEADER and len(partition.last_known_elr) == 1:
            return None
    return last_known if last_known != partition.last_known_elr else None


def last_known_leader(
    behaviour: PartitionChangeBehaviour, partition: PartitionRegistration, change: PartitionChange
) -> tuple[int, ...] | None:
    """Return what is recorded as the last known leader: the leader of before, or nothing; None if it does not change."""
    known, follows = partition.last_known_elr, behaviour.last_leader_follows
    if follows == "leader":
        leaves, led = change.leader == NO_LEADER and not known, change.leader not in (None, NO_LEADER)
    else:
        leaves, led = change.isr == () and known != (partition.leader,), _leader_after(partition, change) != NO_LEADER
    if leaves:
        return (partition.leader,)
    return () if led and known and follows != "isr and replicas" else None


def _leader_after(partition: PartitionRegistration, change: PartitionChange) -> int:
    return partition.leader if change.leader is None else change.leader
