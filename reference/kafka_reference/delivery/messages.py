"""The messages between a simulated network and its two ends, a producer and a leader, and their replies.

A :class:`~.network.Network` yields a :class:`Configure`, a :class:`ProducerTurn` or a :class:`LeaderTurn` and receives the
reply. It contains no rule of the producer or of the leader, so the same scenario runs with the reference
(:mod:`.simulation`) or with Kafka's classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, TypeAlias

__all__ = [
    "AdvanceClock",
    "AppendResult",
    "Batch",
    "Configure",
    "Disconnect",
    "InvalidProducer",
    "LeaderTurn",
    "Message",
    "ProducerEvent",
    "ProducerResult",
    "ProducerTurn",
    "Reply",
    "Response",
    "SendRecord",
    "Settings",
    "StartLeader",
    "StartProducer",
    "Truncation",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Configure:
    """Determine the effective settings of a producer. ``config`` has Kafka's names and values, without unset ones."""

    config: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class InvalidProducer:
    """The producer cannot be constructed: the simple name of the Java exception, and its message.

    >>> from kafka_reference.delivery import Scenario, simulate
    >>> simulate(Scenario({"acks": "1", "enable.idempotence": True}, records=1)).error
    'ConfigException'
    """

    error: str
    message: str | None

    # unreached: for callers
    def __getattr__(self, name: str) -> NoReturn:
        """Raise AttributeError that says why there is no outcome."""
        if name.startswith("_") or name in InvalidProducer.__slots__:
            raise AttributeError(name)
        raise AttributeError(f"no {name}: the producer cannot be constructed: {self.error}: {self.message}")


@dataclass(frozen=True, slots=True)
class Settings:
    """The effective settings of a producer (see ``idempotence.config``); ``acks`` is 0, 1, or -1 for all."""

    idempotent: bool
    acks: int
    retries: int
    max_in_flight: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch in a request. ``records`` are the application's numbers; producer id, epoch and sequence are -1 for none."""

    records: tuple[int, ...]
    producer_id: int
    epoch: int
    sequence: int


@dataclass(frozen=True, slots=True)
class StartProducer:
    """Start a producer with these settings; it receives ``producer_id`` if it is idempotent."""

    settings: Settings
    producer_id: int


@dataclass(frozen=True, slots=True)
class SendRecord:
    """The application sends this record. A batch holds one record."""

    record: int


@dataclass(frozen=True, slots=True)
class Response:
    """The response to the first request in flight: "NONE" for success, or Kafka's name of the error."""

    error: str
    offset: int


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The connection closes, and every request in flight is lost."""


@dataclass(frozen=True, slots=True)
class AdvanceClock:
    """The clock advances by ``ms``."""

    ms: int


ProducerEvent: TypeAlias = StartProducer | SendRecord | Response | Disconnect | AdvanceClock


@dataclass(frozen=True, slots=True)
class ProducerTurn:
    """Handle these events in order, then run the sender ``rounds`` times."""

    events: tuple[ProducerEvent, ...]
    rounds: int


@dataclass(frozen=True, slots=True)
class ProducerResult:
    """The requests that the sender sent, and the records it completed: with an offset, or the name of an exception."""

    sent: tuple[Batch, ...]
    completed: tuple[tuple[int, int | str], ...]


@dataclass(frozen=True, slots=True)
class Truncation:
    """A follower truncates its log to ``end_offset``, and its producer state is empty."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class StartLeader:
    """Start a leader with these batches in its log, which it has by replication.

    Behind a :class:`Truncation` follow the batches that it leaves in the log, from which the producer state is made again.
    """

    log: tuple[Batch | Truncation, ...]


@dataclass(frozen=True, slots=True)
class LeaderTurn:
    """Start a leader, or append a client's batch."""

    event: StartLeader | Batch


@dataclass(frozen=True, slots=True)
class AppendResult:
    """The result of an append: the offset of the batch (also of a duplicate), or the name of a Java exception."""

    offset: int | None = None
    duplicate: bool = False
    error: str | None = None


Message: TypeAlias = Configure | ProducerTurn | LeaderTurn
Reply: TypeAlias = InvalidProducer | Settings | ProducerResult | AppendResult
