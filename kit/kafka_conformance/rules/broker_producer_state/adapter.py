"""Answer a question of ``broker-producer-state`` with the reference: each step as a call, each result as an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from kafka_conformance.core.protocol import Answer, answered
from kafka_conformance.rules.broker_producer_state.question import (
    AppendStep,
    BrokerProducerStateQuestion,
    DeleteSnapshotsStep,
    ExpireStep,
    HighWatermarkStep,
    LoadStep,
    LogStartStep,
    LookStep,
    MarkerStep,
    ReloadStep,
    RequestStep,
    SnapshotStep,
    StartOverStep,
    TruncateStep,
    VerifyStep,
)
from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.batches import DataBatch, LogBatch, Marker
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.producer_state import Duplicate, ProducerStateManager
from kafka_reference.broker.verification import VerificationStateEntry
from kafka_reference.releases import Release

__all__ = ["BrokerHistory", "CreateState", "ask", "to_batch"]

CreateState: TypeAlias = Callable[[Release, int, dict[int, bytes]], ProducerStateManager]
"""Makes a partition's producer state from a release, the expiration in ms, and the folder of snapshots."""


def ask(
    question: BrokerProducerStateQuestion, release: Release, create: CreateState = ProducerStateManager
) -> Answer:  # fmt: skip
    """Answer the question with the reference's producer state, or with the one that ``create`` makes."""
    history = BrokerHistory(question, release, create)
    return {"steps": [history.take(step) for step in question.steps]}


class BrokerHistory:
    """A partition, step by step."""

    def __init__(
        self, question: BrokerProducerStateQuestion, release: Release, create: CreateState = ProducerStateManager
    ) -> None:  # fmt: skip
        self._create, self._expiration_ms, self._release = create, question.config.producer_id_expiration_ms, release
        self.disk: dict[int, bytes] = {}
        self.state = create(release, self._expiration_ms, self.disk)

    def take(self, step: Any) -> Answer:
        """Take one step and return its answer."""
        return answered(self._take, step, with_message=False)

    def _take(self, step: Any) -> Answer:
        match step:
            case AppendStep() | MarkerStep():
                return self._append((step,), Origin(step.origin))
            case RequestStep(batches, origin):
                return self._append(batches, Origin(origin))
            case VerifyStep(producer_id, epoch, sequence, now, bumps):
                verification = self.state.verify(producer_id, sequence, epoch, bumps, now)
                return {} if verification is None else {"verifying": self._verifying(producer_id, verification)}
            case LoadStep(data, offset):
                return self._load(bytes.fromhex(data), offset)
            case SnapshotStep():
                self.state.take_snapshot()
                file = self.disk.get(self.state.end_offset)
                return {} if file is None else {"bytes": file.hex()}
            case LookStep():
                return self._look()
        self._change(step)
        return {}

    def _append(self, steps: Iterable[AppendStep | MarkerStep], origin: Origin) -> Answer:
        batches: list[LogBatch] = []
        offset = self.state.end_offset
        for step in steps:
            offset = offset if step.offset is None else step.offset
            batches.append(to_batch(step, offset))
            offset += batches[-1].records
        result = self.state.append(batches, origin)
        if isinstance(result, Duplicate):
            return {"duplicate": result.offset}
        answer: Answer = {"appended": batches[0].offset}
        if result.completed:
            answer["completed"] = [
                [one.producer_id, one.first_offset, one.last_offset, one.aborted, stable]
                for one, stable in result.completed
            ]
        return answer

    def _load(self, data: bytes, offset: int | None) -> Answer:
        if offset is not None:
            self.disk[offset] = data
        return {"producers": [_to_answer(entry) for entry in self.state.read(data)]}

    def _change(self, step: Any) -> None:
        match step:
            case ExpireStep(now):
                self.state.remove_expired(now)
            case ReloadStep(start, end, now):
                end = self.state.end_offset if end is None else end
                self.state = self._create(self._release, self._expiration_ms, self.disk)
                self.state.truncate_and_reload(start, end, now)
            case TruncateStep(start, end, now):
                self.state.truncate_and_reload(start, end, now)
            case StartOverStep(offset):
                self.state.truncate_fully(offset)
            case LogStartStep(offset):
                self.state.raise_log_start(offset)
            case HighWatermarkStep(offset):
                self.state.transactions.remove_replicated(offset)
            case DeleteSnapshotsStep(before):
                self.state.delete_snapshots_before(before)

    def _look(self) -> Answer:
        state = self.state
        return {
            "producers": [_to_answer(entry) for _, entry in sorted(state.producers.items())],
            "end": state.end_offset,
            "first_unstable": state.transactions.first_unstable,
            "first_undecided": state.transactions.first_undecided,
            "latest_snapshot": state.snapshots.latest,
            "verifying": [self._verifying(*one) for one in sorted(state.verifications.items())],
        }

    def _verifying(self, producer_id: int, verification: VerificationStateEntry) -> list[Any]:
        answer: list[Any] = [producer_id, verification.lowest_sequence, verification.epoch]
        notes_bump = self.state.behaviour.verification_notes_epoch_bump
        return [*answer, verification.supports_epoch_bump] if notes_bump else answer


def to_batch(step: AppendStep | MarkerStep, offset: int) -> LogBatch:
    """Return the batch of a step, at ``offset``."""
    if isinstance(step, AppendStep):
        return DataBatch(
            step.producer_id, step.epoch, step.first_sequence, step.records, offset, step.timestamp, step.transactional
        )
    return Marker(
        step.producer_id,
        step.epoch,
        offset,
        step.timestamp,
        step.commit,
        step.coordinator_epoch,
        step.transaction_version,
    )


def _to_answer(entry: ProducerStateEntry) -> Answer:
    return {
        "id": entry.producer_id,
        "epoch": entry.epoch,
        "last_sequence": entry.last_sequence,
        "last_offset": entry.last_offset,
        "timestamp": entry.timestamp,
        "coordinator_epoch": entry.coordinator_epoch,
        "transaction": entry.transaction,
        "batches": [
            [one.first_sequence, one.last_sequence, one.first_offset, one.last_offset, one.timestamp]
            for one in entry.batches
        ],
    }
