"""The question of ``producer-sequences``: a configuration, the leaders of the partitions, draws, and a history."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Int32, Question
from kafka_conformance.rules.record_accumulator.question import Count, Epoch, Long, Positive

__all__ = [
    "AdvanceStep", "AppendStep", "AskedSender", "DisconnectStep", "FlushStep", "KnownProducer", "LookStep",
    "ProducerIdStep", "ProducerSequencesQuestion", "RespondStep", "RunStep", "Step",
]  # fmt: skip

Place: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=7)]
Number: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"^[0-7]$(?![\s\S])")]


class KnownProducer(Question, frozen=True, omit_defaults=True):
    """The id, epoch and sequences that the producer has before the first step."""

    id: Long
    """The producer id."""
    epoch: Epoch
    """The producer epoch."""
    next_sequences: dict[Number, Count] = msgspec.field(default_factory=dict)
    """The next sequence of each partition, by the partition's number as text: the number of acknowledged records."""

    def __hash__(self) -> int:
        return hash((self.id, self.epoch, frozenset(self.next_sequences.items())))


class AskedSender(Question, frozen=True):
    """The producer's effective configuration."""

    idempotence: bool
    """``enable.idempotence``; it has no effect up to 0.10.2.x."""
    acks: Literal["0", "1", "all"]
    """``acks``."""
    retries: Count
    """``retries``."""
    max_in_flight: Positive
    """``max.in.flight.requests.per.connection``."""
    batch_size: Positive
    """``batch.size``, in bytes."""
    linger_ms: Count
    """``linger.ms``."""
    request_timeout_ms: Count
    """``request.timeout.ms``; up to 2.0.x also the age at which a batch expires."""
    delivery_timeout_ms: Count
    """``delivery.timeout.ms``; it has no effect up to 2.0.x."""
    retry_backoff_ms: Count
    """``retry.backoff.ms``."""
    retry_backoff_max_ms: Count
    """``retry.backoff.max.ms``; it has no effect up to 3.6.x."""


class AppendStep(Question, frozen=True, tag_field="op", tag="append", omit_defaults=True):
    """Append records to a partition."""

    partition: Place
    """The number of the partition."""
    records: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    """The number of records."""
    bytes: Annotated[int, msgspec.Meta(ge=4, le=10000)] = 10
    """The length of each value, in bytes."""


class RunStep(Question, frozen=True, tag_field="op", tag="run"):
    """Run one round of the sender's loop (``Sender.runOnce``)."""


class RespondStep(Question, frozen=True, tag_field="op", tag="respond", omit_defaults=True):
    """Let a node answer its oldest unanswered request in the next poll."""

    error: str = "NONE"
    """The protocol error for the lowest partition of the request."""
    others: str | None = None
    """The protocol error for its other partitions; null: the same."""
    node: Place = 0
    """The id of the node."""
    base_offset: Long = 0
    """The base offset in the response."""
    log_start_offset: Annotated[int, msgspec.Meta(ge=-1, le=2**53)] = -1
    """The log start offset in the response; -1: none."""


class DisconnectStep(Question, frozen=True, tag_field="op", tag="disconnect", omit_defaults=True):
    """Lose the connection to a node in the next poll."""

    node: Place = 0
    """The id of the node."""


class AdvanceStep(Question, frozen=True, tag_field="op", tag="advance"):
    """Advance the clock."""

    ms: Long
    """Milliseconds."""


class ProducerIdStep(Question, frozen=True, tag_field="op", tag="producer_id", omit_defaults=True):
    """Queue the answer to a request for a producer id."""

    id: Long = 7
    """The producer id that is answered."""
    epoch: Epoch = 0
    """The epoch that is answered."""
    error: Literal[
        "NONE", "COORDINATOR_LOAD_IN_PROGRESS", "REQUEST_TIMED_OUT", "CLUSTER_AUTHORIZATION_FAILED", "INVALID_TIMESTAMP"
    ] = "NONE"  # fmt: skip
    """The protocol error that is answered."""


class FlushStep(Question, frozen=True, tag_field="op", tag="flush"):
    """Begin a flush: from here on every batch is sendable."""


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """Return the state of the producer."""


Step: TypeAlias = (
    AppendStep | RunStep | RespondStep | DisconnectStep | AdvanceStep | ProducerIdStep | FlushStep | LookStep
)


class ProducerSequencesQuestion(Question, frozen=True, omit_defaults=True):
    """A configuration, the leaders of a topic's partitions, draws, and a history of one sender."""

    config: AskedSender
    """The producer's effective configuration."""
    leaders: tuple[Place, ...]
    """The node id of each partition's leader."""
    draws: tuple[Int32, ...]
    """The random draws, int32, in the order in which they are used."""
    steps: tuple[Step, ...]
    """The steps, one after another."""
    producer: KnownProducer | None = None
    """The producer before the first step; null: it has no id yet."""
