"""The answer of ``producer-send``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.rules.common.partitioner_answers import ScriptAnswer
from kafka_conformance.rules.producer_send.question import SendStep
from kafka_conformance.rules.producer_sequences.answer import ProducerIdAndEpoch, QueuedBatch, RoundAnswer
from kafka_conformance.rules.producer_sequences.question import LookStep, RunStep

__all__ = ["ANSWER", "STEPS"]


class FailedSend(AnswerType, frozen=True):
    """A record that ``send`` refuses."""

    partition: int | None
    """The partition whose batch has the record all the same; null: none has it."""
    throws: str | msgspec.UnsetType = msgspec.UNSET
    """The simple class name of the exception that ``send`` throws."""
    returns: str | msgspec.UnsetType = msgspec.UNSET
    """The simple class name of the exception in the future that ``send`` returns."""


class EndedSend(AnswerType, frozen=True, array_like=True):
    """A record whose callback was called at once."""

    record: int
    """The number of the record."""
    exception: str
    """The simple class name of the exception."""


class SendAnswer(AnswerType, frozen=True):
    """What ``send`` did with the records of a step."""

    partitions: tuple[int | FailedSend, ...]
    """For each record its partition, or the exception."""
    wakeups: int
    """How often the sender was woken."""
    ended: tuple[EndedSend, ...] | msgspec.UnsetType = msgspec.UNSET
    """The records whose callbacks were called at once; absent: none."""


class LookAnswer(AnswerType, frozen=True):
    """The state of the producer."""

    queues: dict[str, tuple[QueuedBatch, ...]]
    """The batches that wait, by the number of the partition."""
    memory: int
    """The free memory in bytes."""
    now_ms: int
    """The clock in ms."""
    flushes: int
    """The number of flushes that wait."""
    producer: ProducerIdAndEpoch | msgspec.UnsetType = msgspec.UNSET
    """The producer; absent: it is not idempotent."""
    state: str | msgspec.UnsetType = msgspec.UNSET
    """The state of the transaction manager; absent: there is none."""


ANSWER = ScriptAnswer
STEPS: StepTypes = {SendStep: SendAnswer, RunStep: RoundAnswer, LookStep: LookAnswer}
