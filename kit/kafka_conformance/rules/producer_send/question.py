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
    """The settings that the producer's user makes; null: not set, so that the default of the release holds."""

    batch_size: Positive = 16384
    """``batch.size``, in bytes."""
    linger_ms: Count | None = None
    """``linger.ms``."""
    buffer_memory: Positive = 33554432
    """``buffer.memory``, in bytes."""
    max_request_size: Count = 1048576
    """``max.request.size``, in bytes."""
    acks: Literal["0", "1", "all"] | None = None
    """``acks``."""
    retries: Count | None = None
    """``retries``."""
    idempotence: bool | None = None
    """``enable.idempotence``."""
    max_in_flight: Positive | None = None
    """``max.in.flight.requests.per.connection``."""
    request_timeout_ms: Count = 30000
    """``request.timeout.ms``."""
    delivery_timeout_ms: Count | None = None
    """``delivery.timeout.ms``, since 2.1.0."""
    retry_backoff_ms: Count = 100
    """``retry.backoff.ms``."""
    retry_backoff_max_ms: Count = 1000
    """``retry.backoff.max.ms``, since 3.7.0."""
    partitioner: Literal["default", "uniform-sticky", "round-robin"] | None = None
    """``partitioner.class``: DefaultPartitioner, UniformStickyPartitioner or RoundRobinPartitioner."""
    ignore_keys: bool = False
    """``partitioner.ignore.keys``, since 3.3.0."""
    adaptive: bool = True
    """``partitioner.adaptive.partitioning.enable``, since 3.3.0."""
    availability_timeout_ms: Count = 0
    """``partitioner.availability.timeout.ms``, since 3.3.0."""


class SendStep(Question, frozen=True, tag_field="op", tag="send", omit_defaults=True):
    """Send records, one after another (``KafkaProducer.send``)."""

    key: Hex | None = None
    """The serialized key of each record; null: none."""
    bytes: Annotated[int, msgspec.Meta(ge=4, le=10000)] = 10
    """The length of each value, in bytes."""
    records: Annotated[int, msgspec.Meta(ge=1, le=100)] = 1
    """The number of records."""
    partition: Place | None = None
    """The partition that the records name; null: none."""
    timestamp: Long | None = None
    """The timestamp of the records in ms; null: now."""


Step: TypeAlias = (
    SendStep | RunStep | RespondStep | DisconnectStep | AdvanceStep | ProducerIdStep | FlushStep | LookStep
)


class ProducerSendQuestion(Question, frozen=True, omit_defaults=True):
    """A configuration, the leaders of a topic's partitions, draws, and a history of one producer."""

    config: ProducerSettings
    """The settings of the producer."""
    leaders: Annotated[tuple[Place | None, ...], msgspec.Meta(min_length=1, max_length=8)]
    """The node id of each partition's leader; null: no leader."""
    draws: tuple[Int32, ...]
    """The random draws, int32, in the order in which they are used."""
    steps: tuple[Step, ...]
    """The steps, one after another."""
