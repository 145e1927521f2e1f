"""What is seen of a partition on three brokers: the answer to each event of a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Answer", "Elected", "Produced", "ReplicaState", "Settled", "Unanswered"]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The event has no answer."""


@dataclass(frozen=True, slots=True)
class Produced:
    """The final outcome of a produce request."""

    error: str | None
    """The name of the error, ``NONE`` without one; None with ``acks=0``, which has no response."""
    base_offset: int | None
    """The offset of the first record, if the response has one."""


@dataclass(frozen=True, slots=True)
class Elected:
    """The response to an election."""

    error: str
    """The name of the error, ``NONE`` without one."""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """A replica."""

    batches: tuple[tuple[int, int, int], ...]
    """Base offset, number of records and leader epoch of each batch."""
    end_offset: int
    """The log end offset."""
    high_watermark: int | None
    """The high watermark; None if the broker does not run, and for a follower without a leader."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The partition after it has settled."""

    leader: int
    """The leader, -1 without one."""
    leader_epoch: int
    """The leader epoch."""
    isr: frozenset[int]
    """The in-sync replicas."""
    elr: frozenset[int]
    """The eligible leader replicas."""
    replicas: dict[int, ReplicaState]
    """Each replica."""
    readable: int
    """The number of records that consumers read; 0 without a leader."""


Answer: TypeAlias = Unanswered | Produced | Elected | Settled
