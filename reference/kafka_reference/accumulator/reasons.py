"""Why the accumulator decided as it did: small records, noted by the rules themselves at the moment they decide.

``AccumulatorState.reasons`` is None in an ordinary run, and nothing is noted. A caller that explains a history puts a list
there. Each record holds the terms of a decision and its outcome, and decides nothing: a second copy of a rule could be
wrong where the first is right, and a wrong explanation is worse than none.

========================= ==============================================================================================
:class:`BackoffCheck`     whether a batch backs off after an attempt that failed
:class:`ReadyCheck`       ``ready`` examined the first batch of a queue
:class:`QueueSkipped`     ``ready`` or ``drain`` had no batch to examine in a queue, or did not have to
:class:`NodeVisit`        ``drain`` began with the partitions of a node
:class:`DrainCheck`       ``drain`` found a batch to take: whether there was room for it
:class:`SequenceWait`     ``drain`` found a batch of an idempotent producer that has to wait
:class:`BatchNeeded`      ``append`` needs a new batch: the state of the last one
:class:`StickyUpdate`     the topic's partitioner received the bytes of a record: whether it switched partitions
========================= ==============================================================================================
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "BackoffCheck", "BatchNeeded", "DrainCheck", "NodeVisit", "QueueSkipped", "ReadyCheck", "Reason", "SequenceWait",
    "Skip", "StickyUpdate",
]  # fmt: skip

TopicPartition: TypeAlias = tuple[str, int]


class Skip(enum.Enum):
    """Why a queue is skipped."""

    EMPTY = enum.auto()
    LEADER_UNKNOWN = enum.auto()
    LEADER_READY = enum.auto()
    MUTED = enum.auto()
    BACKING_OFF = enum.auto()


@dataclass(frozen=True, slots=True)
class BackoffCheck:
    """Batch ``number``, after ``attempts`` failed attempts, backs off if it waited less, unless it has a new leader."""

    topic_partition: TopicPartition
    number: int
    attempts: int
    waited_ms: int
    back_off_ms: int
    has_new_leader: bool
    backing_off: bool


@dataclass(frozen=True, slots=True)
class ReadyCheck:
    """The terms of ``ready``. ``left_ms`` is None if the leader is ready, else the time until the next look."""

    topic_partition: TopicPartition
    number: int
    leader: int
    waited_ms: int
    to_wait_ms: int
    backing_off: bool
    full: bool
    exhausted: bool
    closed: bool
    flushing: bool
    left_ms: int | None


@dataclass(frozen=True, slots=True)
class QueueSkipped:
    """A queue without a batch to examine, and why."""

    topic_partition: TopicPartition
    why: Skip


@dataclass(frozen=True, slots=True)
class NodeVisit:
    """The ``count`` partitions of a node are visited once around, from index ``start``."""

    node: int
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class DrainCheck:
    """A batch of ``bytes``, after ``before`` bytes for this node; without ``room`` it stays and the visit ends."""

    topic_partition: TopicPartition
    number: int
    bytes: int
    before: int
    max_size: int
    room: bool


@dataclass(frozen=True, slots=True)
class SequenceWait:
    """A batch that stays until ``what`` is there, or settled; the visit ends."""

    topic_partition: TopicPartition
    number: int
    what: str


@dataclass(frozen=True, slots=True)
class BatchNeeded:
    """Batch ``last`` of ``bytes`` has no room for the record, None for an empty queue; ``full``: it was full before."""

    topic_partition: TopicPartition
    last: int | None
    bytes: int
    full: bool


@dataclass(frozen=True, slots=True)
class StickyUpdate:
    """Bytes of the current stay; ``may_switch``: the last batch is full or gone; ``switched``: the stay is over."""

    topic: str
    partition: int
    produced: int
    batch_size: int
    may_switch: bool
    switched: bool


Reason: TypeAlias = (
    BackoffCheck | ReadyCheck | QueueSkipped | NodeVisit | DrainCheck | SequenceWait | BatchNeeded | StickyUpdate
)
