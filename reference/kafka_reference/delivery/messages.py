"""Who takes part in a story, as the story sees them: a producer, and a leader, which are told things and answer.

The story itself (:mod:`.story`) knows neither's rules. It yields an :class:`Asks`, a :class:`ToProducer` or a
:class:`ToLeader`, and is sent what came of it. So the same story can be told with the reference's producer and leader
(:mod:`.told`), or with Java's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Answered",
    "Asks",
    "Batch",
    "CutOff",
    "Heard",
    "Leads",
    "Refused",
    "Reply",
    "Send",
    "Settings",
    "Starts",
    "ToLeader",
    "ToProducer",
    "Told",
    "Wait",
    "Wrote",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asks:
    """What does a producer end up with that is configured so? Kafka's names and texts; what is left alone is not there."""

    config: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no such producer: Java's class name of what it raises, and the text."""

    error: str
    message: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a producer ended up with (see ``idempotence.config``): ``acks`` is 0, 1, or -1 for all."""

    idempotent: bool
    acks: int
    retries: int
    max_in_flight: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch on the wire. ``records`` are the application's numbers. -1 is no producer id, no epoch, no sequence."""

    records: tuple[int, ...]
    producer_id: int
    epoch: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Starts:
    """A producer begins. Idempotent, it is to get this id."""

    settings: Settings
    producer_id: int


@dataclass(frozen=True, slots=True)
class Send:
    """The application sends this record. A batch holds one."""

    record: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The first request in flight is answered, "NONE" for success, or an error in Kafka's name for it."""

    error: str
    offset: int


@dataclass(frozen=True, slots=True)
class CutOff:
    """The connection is gone, and all that was in flight."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Time goes by."""

    ms: int


@dataclass(frozen=True, slots=True)
class ToProducer:
    """Told to the producer, in this order; then its sender goes round ``rounds`` times."""

    told: tuple[Starts | Send | Answered | CutOff | Wait, ...]
    rounds: int


@dataclass(frozen=True, slots=True)
class Heard:
    """What the rounds brought: requests, and what records came to, an offset, or the name of an exception."""

    sent: tuple[Batch, ...]
    ended: tuple[tuple[int, int | str], ...]


@dataclass(frozen=True, slots=True)
class Leads:
    """Somebody begins to lead, with these batches in its log, which it has by replication."""

    log: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class ToLeader:
    """Told to the leader: to begin, or to write a batch of a client."""

    told: Leads | Batch


@dataclass(frozen=True, slots=True)
class Wrote:
    """``offset`` is where a batch is in the log, also if it was there before, or None; ``error`` is Java's class name."""

    offset: int | None = None
    duplicate: bool = False
    error: str | None = None


Told: TypeAlias = Asks | ToProducer | ToLeader
Reply: TypeAlias = Refused | Settings | Heard | Wrote
