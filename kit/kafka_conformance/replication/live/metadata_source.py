"""What the player needs of a cluster's metadata: the brokers' sessions, and each partition's leader and in-sync replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["MetadataSource", "PartitionChange", "PartitionView"]


@dataclass(frozen=True, slots=True)
class PartitionView:
    """The controller's state of a partition."""

    leader: int
    """The leader, -1 without one."""
    leader_epoch: int
    """The leader epoch."""
    isr: frozenset[int]
    """The in-sync replicas."""
    elr: frozenset[int] = frozenset()
    """The eligible leader replicas."""


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """A change of a partition: when, by the controller's clock in ms, and the state after it."""

    time_ms: int
    view: PartitionView


class MetadataSource(Protocol):
    """The metadata of a cluster where it is kept, not as a broker has it: that may be behind, and brokers may be stopped."""

    @property
    def fenced(self) -> Mapping[int, bool]:
        """Whether each broker that has registered is without a session."""

    @property
    def fences(self) -> Sequence[tuple[int, int]]:
        """The ends of sessions: the time in ms, and the broker."""

    def read(self) -> None:
        """Bring sessions and partitions up to date. Raises BrokerLost if the metadata cannot be read."""

    def partition(self, topic: str) -> PartitionView | None:
        """Return the state of partition 0 of a topic, at least as new as the last :meth:`read`; None if there is none yet.

        Raises BrokerLost.
        """

    def changes(self, topic: str) -> tuple[PartitionChange, ...]:
        """Return the states that partition 0 of a topic has had, in order."""
