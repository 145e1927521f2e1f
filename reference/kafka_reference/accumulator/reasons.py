"""Why the accumulator decided as it did: small records, noted by the rules themselves at the moment they decide.

Nothing is noted in an ordinary run: ``AccumulatorState.reasons`` is None. A caller that wants the reasons puts a list
there. Each record holds the terms a rule went by and what came of them, and decides nothing: a second copy of a rule could
be wrong where the first is right, and an explanation that is wrong is worse than none.

========================= ==============================================================================================
:class:`CameBack`         a batch that was sent in vain: whether it is too early to send it again
:class:`Looked`           ``ready`` weighed the first batch of a queue
:class:`Passed`           ``ready`` or ``drain`` had no batch to weigh there, or did not have to
:class:`Visit`            ``drain`` began a node's partitions, at this place of the list
:class:`Took`             ``drain`` found a batch to take; whether there was room left for it
:class:`Waits`            ``drain`` found a batch that an idempotent producer may not send yet
:class:`Placed`           ``append`` made a new batch: what was the matter with the last one
:class:`Stay`             the topic's partitioner was told bytes: whether its partition was left
========================= ==============================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["CameBack", "Looked", "Passed", "Placed", "Reason", "Stay", "Took", "Visit", "Waits"]

TopicPartition: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class CameBack:
    """Batch ``number`` came back ``attempts`` times, and backs off if it waited less than that, unless its leader moved."""

    topic_partition: TopicPartition
    number: int
    attempts: int
    waited_ms: int
    back_off_ms: int
    another_leader: bool
    backing: bool


@dataclass(frozen=True, slots=True)
class Looked:
    """What ``ready`` weighed. ``left_ms`` is None if the leader is ready, else how long to wait before looking again."""

    topic_partition: TopicPartition
    number: int
    leader: int
    waited_ms: int
    to_wait_ms: int
    backing: bool
    full: bool
    exhausted: bool
    closed: bool
    flushing: bool
    left_ms: int | None


@dataclass(frozen=True, slots=True)
class Passed:
    """Nothing to weigh: ``why`` is "empty", "leader unknown", "leader ready", "muted", or "backing off"."""

    topic_partition: TopicPartition
    why: str


@dataclass(frozen=True, slots=True)
class Visit:
    """The partitions of a node are visited from this place on, once around."""

    node: int
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Took:
    """A batch of ``bytes``, with ``before`` bytes taken for this node; without ``room`` it stays and the visit ends."""

    topic_partition: TopicPartition
    number: int
    bytes: int
    before: int
    max_size: int
    room: bool


@dataclass(frozen=True, slots=True)
class Waits:
    """A batch that has to stay until ``what`` is there, or settled; the visit ends."""

    topic_partition: TopicPartition
    number: int
    what: str


@dataclass(frozen=True, slots=True)
class Placed:
    """The record found no place in batch ``last``, None for an empty queue; ``full`` is whether it was so before."""

    topic_partition: TopicPartition
    last: int | None
    bytes: int
    full: bool


@dataclass(frozen=True, slots=True)
class Stay:
    """Bytes of a stay after a report; ``may_leave``: the last batch is full or gone; ``left``: the stay is over."""

    topic: str
    partition: int
    produced: int
    batch_size: int
    may_leave: bool
    left: bool


Reason: TypeAlias = CameBack | Looked | Passed | Visit | Took | Waits | Placed | Stay
