"""The answer of ``leader-election``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType

__all__ = ["ANSWER", "ChangedPartition", "LeaderElectionAnswer", "PartitionAfter"]

Brokers = tuple[int, ...]
_ABSENT = msgspec.UNSET


class ChangedPartition(AnswerType, frozen=True):
    """The record of the change; a field that does not change is absent."""

    leader: int | msgspec.UnsetType = _ABSENT
    """The leader; -1: none. If it is the leader of before, only the leader epoch rises."""
    isr: Brokers | msgspec.UnsetType = _ABSENT
    """The ISR."""
    elr: Brokers | msgspec.UnsetType = _ABSENT
    """The eligible leader replicas."""
    last_known_elr: Brokers | msgspec.UnsetType = _ABSENT
    """The last known eligible leader replicas, or the last known leader alone."""
    replicas: Brokers | msgspec.UnsetType = _ABSENT
    """The replicas."""
    removing: Brokers | msgspec.UnsetType = _ABSENT
    """The replicas that are still to be removed."""
    adding: Brokers | msgspec.UnsetType = _ABSENT
    """The replicas that are still to be added."""
    recovery: str | msgspec.UnsetType = _ABSENT
    """The state of recovery: ``recovered`` or ``recovering``."""
    directories: tuple[int, ...] | msgspec.UnsetType = _ABSENT
    """The directory of each replica."""


class PartitionAfter(AnswerType, frozen=True):
    """The partition after the change."""

    replicas: Brokers
    """The replicas."""
    isr: Brokers
    """The ISR."""
    leader: int
    """The leader; -1: none."""
    removing: Brokers
    """The replicas that are still to be removed."""
    adding: Brokers
    """The replicas that are still to be added."""
    leader_epoch: int
    """The leader epoch."""
    partition_epoch: int
    """The partition epoch."""
    recovery: str | msgspec.UnsetType = _ABSENT
    """The state of recovery, since 3.2.0."""
    elr: Brokers | msgspec.UnsetType = _ABSENT
    """The eligible leader replicas, since 3.7.0."""
    last_known_elr: Brokers | msgspec.UnsetType = _ABSENT
    """The last known eligible leader replicas, since 3.7.0."""
    directories: tuple[int, ...] | msgspec.UnsetType = _ABSENT
    """The directory of each replica, since 3.7.0."""


class LeaderElectionAnswer(AnswerType, frozen=True):
    """What the controller records."""

    change: ChangedPartition | None
    """The record; null: nothing changes."""
    version: int | msgspec.UnsetType = _ABSENT
    """The version of the record."""
    after: PartitionAfter | msgspec.UnsetType = _ABSENT
    """The partition after it."""


ANSWER = LeaderElectionAnswer
