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
    """The producer before the first step; ``next_sequences``: how many records of a partition were acknowledged."""

    id: Long
    epoch: Epoch
    next_sequences: dict[Number, Count] = msgspec.field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.id, self.epoch, frozenset(self.next_sequences.items())))


class AskedSender(Question, frozen=True):
    """The producer's configuration; ``delivery_timeout_ms`` has no effect up to 2.0.x."""

    idempotence: bool
    acks: Literal["0", "1", "all"]
    retries: Count
    max_in_flight: Positive
    batch_size: Positive
    linger_ms: Count
    request_timeout_ms: Count
    delivery_timeout_ms: Count
    retry_backoff_ms: Count
    retry_backoff_max_ms: Count


class AppendStep(Question, frozen=True, tag_field="op", tag="append", omit_defaults=True):
    """Append ``records`` records to a partition, each with a value of ``bytes`` bytes, at least 4."""

    partition: Place
    records: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    bytes: Annotated[int, msgspec.Meta(ge=4, le=10000)] = 10


class RunStep(Question, frozen=True, tag_field="op", tag="run"):
    """Run one round of the sender."""


class RespondStep(Question, frozen=True, tag_field="op", tag="respond", omit_defaults=True):
    """Answer the node's oldest unanswered request in the next poll: its first partition by ``error``, the others by
    ``others``, by default the same."""

    error: str = "NONE"
    others: str | None = None
    node: Place = 0
    base_offset: Long = 0
    log_start_offset: Annotated[int, msgspec.Meta(ge=-1, le=2**53)] = -1


class DisconnectStep(Question, frozen=True, tag_field="op", tag="disconnect", omit_defaults=True):
    """Lose the connection to the node in the next poll."""

    node: Place = 0


class AdvanceStep(Question, frozen=True, tag_field="op", tag="advance"):
    """Advance the clock."""

    ms: Long


class ProducerIdStep(Question, frozen=True, tag_field="op", tag="producer_id", omit_defaults=True):
    """Answer a request for a producer id so, after those of earlier steps."""

    id: Long = 7
    epoch: Epoch = 0
    error: Literal[
        "NONE", "COORDINATOR_LOAD_IN_PROGRESS", "REQUEST_TIMED_OUT", "CLUSTER_AUTHORIZATION_FAILED", "INVALID_TIMESTAMP"
    ] = "NONE"  # fmt: skip


class FlushStep(Question, frozen=True, tag_field="op", tag="flush"):
    """Begin a flush: from here on every batch is sendable."""


class LookStep(Question, frozen=True, tag_field="op", tag="look"):
    """Answer with the queues, the clock, and the producer's sequences."""


Step: TypeAlias = (
    AppendStep | RunStep | RespondStep | DisconnectStep | AdvanceStep | ProducerIdStep | FlushStep | LookStep
)


class ProducerSequencesQuestion(Question, frozen=True, omit_defaults=True):
    """``leaders`` are node ids, by partition; ``producer`` is null for a producer without an id."""

    config: AskedSender
    leaders: tuple[Place, ...]
    draws: tuple[Int32, ...]
    steps: tuple[Step, ...]
    producer: KnownProducer | None = None
