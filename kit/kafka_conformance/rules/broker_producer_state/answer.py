"""The answer of ``broker-producer-state``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.rules.broker_producer_state.question import (
    AppendStep,
    LoadStep,
    LookStep,
    MarkerStep,
    RequestStep,
    SnapshotStep,
    VerifyStep,
)
from kafka_conformance.rules.common.partitioner_answers import ScriptAnswer

__all__ = ["ANSWER", "STEPS"]


class CompletedTransaction(AnswerType, frozen=True, array_like=True):
    """A transaction that the step completed."""

    producer_id: int
    """The producer id."""
    first_offset: int
    """The first offset."""
    last_offset: int
    """The last offset."""
    aborted: bool
    """Whether the transaction is aborted."""
    last_stable_offset: int
    """The last stable offset after it."""


class AppendAnswer(AnswerType, frozen=True):
    """The offset of the batch: one of ``appended`` and ``duplicate``."""

    appended: int | msgspec.UnsetType = msgspec.UNSET
    """The offset of the first record that was appended."""
    duplicate: int | msgspec.UnsetType = msgspec.UNSET
    """The offset of the earlier batch that this one repeats; nothing is appended."""
    completed: tuple[CompletedTransaction, ...] | msgspec.UnsetType = msgspec.UNSET
    """The transactions that the step completed; absent: none."""


class Verification(AnswerType, frozen=True, array_like=True):
    """A verification that goes on."""

    producer_id: int
    """The producer id."""
    lowest_sequence: int | None
    """The lowest sequence that was to be verified."""
    epoch: int | None
    """The producer epoch."""
    supports_epoch_bump: bool | msgspec.UnsetType = msgspec.UNSET
    """Whether the client supports an epoch bump; absent in releases that do not note it."""


class VerifyAnswer(AnswerType, frozen=True):
    """The verification after the step. ``{}`` up to 3.5.x."""

    verifying: Verification
    """The verification."""


class RememberedBatch(AnswerType, frozen=True, array_like=True):
    """A batch that the broker remembers of a producer."""

    first_sequence: int
    """The sequence of its first record."""
    last_sequence: int
    """The sequence of its last record."""
    first_offset: int
    """The offset of its first record."""
    last_offset: int
    """The offset of its last record."""
    timestamp: int
    """Its timestamp in ms."""


class ProducerEntry(AnswerType, frozen=True):
    """What the broker has of a producer."""

    id: int
    """The producer id."""
    epoch: int
    """The producer epoch."""
    last_sequence: int
    """The last sequence; -1: none."""
    last_offset: int
    """The last offset; -1: none."""
    timestamp: int
    """The timestamp of the last batch in ms."""
    coordinator_epoch: int
    """The epoch of the transaction coordinator; -1: none."""
    transaction: int | None
    """The first offset of the open transaction; null: none is open."""
    batches: tuple[RememberedBatch, ...]
    """The last batches, oldest first."""


class SnapshotAnswer(AnswerType, frozen=True):
    """The snapshot at the map end offset. ``{}``: there is none."""

    bytes: str
    """The content of the file, as hex."""


class LoadAnswer(AnswerType, frozen=True):
    """The producers in a snapshot file."""

    producers: tuple[ProducerEntry, ...]
    """The producers, in the order of the file."""


class LookAnswer(AnswerType, frozen=True):
    """The whole state."""

    producers: tuple[ProducerEntry, ...]
    """The producers, by id."""
    end: int
    """The map end offset."""
    first_unstable: int | None
    """The first unstable offset; null: none."""
    first_undecided: int | None
    """The first undecided offset; null: none."""
    latest_snapshot: int | None
    """The offset of the latest snapshot; null: none."""
    verifying: tuple[Verification, ...]
    """The verifications that go on, by producer id."""


ANSWER = ScriptAnswer
STEPS: StepTypes = {
    AppendStep: AppendAnswer,
    MarkerStep: AppendAnswer,
    RequestStep: AppendAnswer,
    VerifyStep: VerifyAnswer,
    SnapshotStep: SnapshotAnswer,
    LoadStep: LoadAnswer,
    LookStep: LookAnswer,
}
