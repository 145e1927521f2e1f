"""The question of ``producer-send``: a producer's configuration, who leads the partitions, draws, and a history."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Hex, Int32, Question
from kafka_conformance.rules.producer_sequences.question import (
    AdvanceStep,
    DisconnectStep,
    FlushStep,
    LookStep,
    Place,
    ProducerIdStep,
    RespondStep,
    RunStep,
)
from kafka_conformance.rules.record_accumulator.question import Count, Long, Positive

__all__ = ["ProducerSendQuestion", "ProducerSettings", "SendStep", "Step"]


class ProducerSettings(Question, frozen=True, omit_defaults=True):
    """What the producer's user set; null is a setting that was left alone.

    Each is Kafka's setting of that name; ``idempotence`` is ``enable.idempotence``, ``max_in_flight`` is
    ``max.in.flight.requests.per.connection``, ``partitioner`` is ``partitioner.class``, and the last three are
    ``partitioner.ignore.keys``, ``partitioner.adaptive.partitioning.enable`` and ``partitioner.availability.timeout.ms``,
    which exist since 3.3.0.
    """

    batch_size: Positive = 16384
    linger_ms: Count | None = None
    buffer_memory: Positive = 33554432
    max_request_size: Count = 1048576
    acks: Literal["0", "1", "all"] | None = None
    retries: Count | None = None
    idempotence: bool | None = None
    max_in_flight: Positive | None = None
    request_timeout_ms: Count = 30000
    delivery_timeout_ms: Count | None = None
    retry_backoff_ms: Count = 100
    retry_backoff_max_ms: Count = 1000
    partitioner: Literal["default", "uniform-sticky", "round-robin"] | None = None
    ignore_keys: bool = False
    adaptive: bool = True
    availability_timeout_ms: Count = 0


class SendStep(Question, frozen=True, tag_field="op", tag="send", omit_defaults=True):
    """So many records, one after another, each with this key and a value of so many bytes, 4 at least.

    ``partition`` and ``timestamp`` (ms) are what the records name; without a timestamp, it is now.
    """

    key: Hex | None = None
    bytes: Annotated[int, msgspec.Meta(ge=4, le=10000)] = 10
    records: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    partition: Place | None = None
    timestamp: Long | None = None


Step: TypeAlias = (
    SendStep | RunStep | RespondStep | DisconnectStep | AdvanceStep | ProducerIdStep | FlushStep | LookStep
)


class ProducerSendQuestion(Question, frozen=True, omit_defaults=True):
    """``leaders`` are node ids, by partition, null for a partition without a leader."""

    config: ProducerSettings
    leaders: Annotated[tuple[Place | None, ...], msgspec.Meta(min_length=1, max_length=8)]
    draws: tuple[Int32, ...]
    steps: tuple[Step, ...]
