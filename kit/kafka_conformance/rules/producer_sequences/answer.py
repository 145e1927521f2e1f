"""The answer of ``producer-sequences``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.rules.common.partitioner_answers import ScriptAnswer
from kafka_conformance.rules.producer_sequences.question import LookStep, RunStep

__all__ = ["ANSWER", "STEPS", "ProducerIdAndEpoch", "QueuedBatch", "RoundAnswer"]


class ProducerIdAndEpoch(AnswerType, frozen=True, array_like=True):
    """The id and epoch of a producer."""

    id: int
    """The producer id; -1: none."""
    epoch: int
    """The producer epoch; -1: none."""


class SentBatch(AnswerType, frozen=True):
    """A batch of a request."""

    partition: int
    """The number of the partition."""
    records: tuple[int, ...]
    """The numbers of its records, in order. Records are numbered from 0 in the order in which they are appended."""
    producer_id: int
    """The producer id; -1: none."""
    epoch: int
    """The producer epoch; -1: none."""
    sequence: int
    """The sequence of the first record; -1: none."""


class SentRequest(AnswerType, frozen=True):
    """A request."""

    node: int
    """The id of the node."""
    batches: tuple[SentBatch, ...]
    """Its batches."""


class EndedRecord(AnswerType, frozen=True, array_like=True):
    """A record whose callback was called."""

    record: int
    """The number of the record."""
    end: int | str
    """Its offset, or the simple class name of the exception."""


class RoundAnswer(AnswerType, frozen=True):
    """A round of the sender."""

    sent: tuple[SentRequest, ...]
    """The requests that were sent."""
    ended: tuple[EndedRecord, ...]
    """The records whose callbacks were called; once the transaction manager is in an error, in the order of records."""
    asked_id: int | msgspec.UnsetType = msgspec.UNSET
    """The number of requests for a producer id; absent: none."""
    raises: str | msgspec.UnsetType = msgspec.UNSET
    """The simple class name of the exception that ended the round; absent: none."""
    uncaught: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """The exceptions thrown while responses were handled, which Kafka logs; absent: none."""


class QueuedBatch(AnswerType, frozen=True, array_like=True):
    """A batch in a queue."""

    records: int
    """The number of its records."""
    attempts: int
    """How often it was sent."""
    sequence: int
    """The sequence of its first record, since 1.0.0; -1: none."""


class PartitionState(AnswerType, frozen=True):
    """What the transaction manager has for a partition."""

    next: int
    """The next sequence."""
    last_acknowledged: int
    """The last sequence that was acknowledged; -1: none."""
    in_flight: tuple[int, ...]
    """The first sequences of the batches in flight."""
    unresolved: int | bool | None
    """The sequence at which the partition is resolved; true: in a release that notes none; null: nothing is unresolved."""
    last_offset: int
    """The last offset that was acknowledged; -1: none."""
    producer: ProducerIdAndEpoch
    """The producer of these sequences, since 2.7.1."""


class LookAnswer(AnswerType, frozen=True):
    """The state of the producer."""

    queues: dict[str, tuple[QueuedBatch, ...]]
    """The batches that wait, by the number of the partition."""
    now_ms: int
    """The clock in ms."""
    producer: ProducerIdAndEpoch | msgspec.UnsetType = msgspec.UNSET
    """The producer; absent: it is not idempotent."""
    state: str | msgspec.UnsetType = msgspec.UNSET
    """The state of the transaction manager; absent: there is none."""
    partitions: dict[str, PartitionState] | msgspec.UnsetType = msgspec.UNSET
    """What the transaction manager has for each partition, by topic and number; absent: there is none."""


ANSWER = ScriptAnswer
STEPS: StepTypes = {RunStep: RoundAnswer, LookStep: LookAnswer}
