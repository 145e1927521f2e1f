"""The answer of ``record-accumulator``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.rules.common.partitioner_answers import ScriptAnswer
from kafka_conformance.rules.record_accumulator.question import (
    AbortStep,
    AbortUndrainedStep,
    AppendStep,
    CompleteStep,
    DrainStep,
    ExpireStep,
    FailStep,
    FlushedStep,
    LoadStep,
    LookStep,
    ReadyStep,
    SplitStep,
)

__all__ = ["ANSWER", "STEPS"]


class AppendAnswer(AnswerType, frozen=True):
    """The record that was appended. ``{}``: no partition is given, in a release that does not choose one."""

    partition: int
    """The number of the partition."""
    batch_full: bool
    """Whether a batch of the partition is now full."""
    new_batch: bool
    """Whether the record began a batch."""
    bytes: int | None
    """The bytes that the append adds to the batch, as the partitioner counts them; null up to 3.2.x."""


class ReadyAnswer(AnswerType, frozen=True):
    """The result of ``ready``."""

    nodes: tuple[int, ...]
    """The ids of the nodes with sendable batches, sorted."""
    delay_ms: int | None
    """After how many ms to ask again; null: no batch waits."""
    unknown_leader_topics: tuple[str, ...] | bool
    """The topics with batches and without a leader, sorted; up to 0.10.0.x whether there are any."""


class DrainedBatch(AnswerType, frozen=True):
    """A batch that was drained."""

    id: int
    """The number of the batch. Batches are numbered in the order in which they are made."""
    partition: int
    """The number of the partition."""
    records: int
    """The number of its records."""
    sequence: int | msgspec.UnsetType = msgspec.UNSET
    """The sequence of its first record; absent: there is no idempotent producer."""
    epoch: int | msgspec.UnsetType = msgspec.UNSET
    """The producer epoch; absent: there is no idempotent producer."""


class DrainAnswer(AnswerType, frozen=True):
    """The result of ``drain``."""

    batches: tuple[DrainedBatch, ...]
    """The batches, in the order of the nodes."""


class MemoryAnswer(AnswerType, frozen=True):
    """The memory after the step. ``{}``: the step does nothing."""

    memory: int
    """The free memory in bytes."""


class SplitAnswer(AnswerType, frozen=True):
    """The pieces of a split batch. ``{}``: the step does nothing."""

    pieces: tuple[int, ...]
    """The number of records of each piece."""
    memory: int
    """The free memory in bytes."""


class LoadAnswer(AnswerType, frozen=True):
    """The load statistics of a topic's partitioner."""

    range_end: int
    """The end of the range that draws are mapped to."""
    partition_ids: tuple[int, ...]
    """The partitions."""
    cumulative: tuple[int, ...]
    """The cumulative frequency of each partition."""


class ExpireAnswer(AnswerType, frozen=True):
    """The expired batches."""

    batches: tuple[int, ...]
    """The numbers of the batches."""
    next_expiry_ms: int | None
    """When the next batch expires, in ms; null: in a release that does not note it."""


class FlushedAnswer(AnswerType, frozen=True):
    """The flushes after the step. ``{}``: batches are not done yet."""

    flushing: bool
    """Whether another flush goes on."""


class QueuedBatch(AnswerType, frozen=True, array_like=True):
    """A batch in a queue."""

    id: int
    """The number of the batch."""
    records: int
    """The number of its records."""
    bytes: int
    """Its estimated size in bytes."""


class PartitionSequences(AnswerType, frozen=True):
    """What the idempotent producer has for a partition."""

    next: int
    """The next sequence."""
    last_acknowledged: int
    """The last sequence that was acknowledged; -1: none."""
    in_flight: tuple[int, ...]
    """The first sequences of the batches in flight, sorted."""
    unresolved: int | bool | None
    """The sequence at which the partition is resolved; true: in a release that notes none; null: nothing is unresolved."""


class LookAnswer(AnswerType, frozen=True):
    """The state of the accumulator."""

    queues: dict[str, tuple[QueuedBatch, ...]]
    """The batches that wait, by topic and partition, front to back."""
    incomplete: tuple[int, ...]
    """The numbers of the batches that are not done."""
    undrained: bool
    """Whether any batch waits."""
    memory: int
    """The free memory in bytes."""
    sequences: dict[str, PartitionSequences] | msgspec.UnsetType = msgspec.UNSET
    """What the idempotent producer has, by topic and partition; absent: there is no such producer."""


ANSWER = ScriptAnswer
STEPS: StepTypes = {
    AppendStep: AppendAnswer,
    ReadyStep: ReadyAnswer,
    DrainStep: DrainAnswer,
    SplitStep: SplitAnswer,
    CompleteStep: MemoryAnswer,
    FailStep: MemoryAnswer,
    AbortStep: MemoryAnswer,
    AbortUndrainedStep: MemoryAnswer,
    LoadStep: LoadAnswer | None,
    ExpireStep: ExpireAnswer,
    FlushedStep: FlushedAnswer,
    LookStep: LookAnswer,
}
