"""A question of ``broker-producer-state`` being answered by the reference: what each step means to it, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

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
from kafka_reference.broker.batches import DataBatch, Marker, Written
from kafka_reference.broker.entries import Entry
from kafka_reference.broker.producer_state import Duplicate, ProducerState
from kafka_reference.broker.verification import Verification
from kafka_reference.releases import Release

__all__ = ["BrokerHistory", "batch_of"]


class BrokerHistory:
    """The partition, step by step; ``made`` makes it, from a release, the expiration, and the folder of snapshots."""

    def __init__(self, made: Callable[..., ProducerState], question: BrokerProducerStateQuestion, at: Release) -> None:
        self._made, self._expiration_ms, self._at = made, question.config.producer_id_expiration_ms, at
        self.disk: dict[int, bytes] = {}
        self.state = made(at, self._expiration_ms, self.disk)

    def take(self, step: Any) -> Answer:
        """Take one step."""
        return answered(self._take, step, with_message=False)

    def _take(self, step: Any) -> Answer:
        match step:
            case AppendStep() | MarkerStep():
                return self._write((step,), Origin(step.origin))
            case RequestStep(batches, origin):
                return self._write(batches, Origin(origin))
            case VerifyStep(producer_id, epoch, sequence, now, bumps):
                verified = self.state.verify(producer_id, sequence, epoch, bumps, now)
                return {} if verified is None else {"verifying": self._verifying(producer_id, verified)}
            case LoadStep(data, offset):
                return self._read(bytes.fromhex(data), offset)
            case SnapshotStep():
                self.state.take_snapshot()
                written = self.disk.get(self.state.end)
                return {} if written is None else {"bytes": written.hex()}
            case LookStep():
                return self._look()
        self._move(step)
        return {}

    def _write(self, steps: Iterable[AppendStep | MarkerStep], origin: Origin) -> Answer:
        batches: list[Written] = []
        offset = self.state.end
        for step in steps:
            offset = offset if step.offset is None else step.offset
            batches.append(batch_of(step, offset))
            offset += batches[-1].records
        written = self.state.append(batches, origin)
        if isinstance(written, Duplicate):
            return {"duplicate": written.offset}
        told: Answer = {"appended": batches[0].offset}
        if written.completed:
            told["completed"] = [
                [one.producer_id, one.first_offset, one.last_offset, one.aborted, stable]
                for one, stable in written.completed
            ]
        return told

    def _read(self, data: bytes, offset: int | None) -> Answer:
        if offset is not None:
            self.disk[offset] = data
        return {"producers": [_told(entry) for entry in self.state.read(data)]}

    def _move(self, step: Any) -> None:
        match step:
            case ExpireStep(now):
                self.state.expire(now)
            case ReloadStep(start, end, now):
                end = self.state.end if end is None else end
                self.state = self._made(self._at, self._expiration_ms, self.disk)
                self.state.truncate(start, end, now)
            case TruncateStep(start, end, now):
                self.state.truncate(start, end, now)
            case StartOverStep(offset):
                self.state.start_over(offset)
            case LogStartStep(offset):
                self.state.raise_log_start(offset)
            case HighWatermarkStep(offset):
                self.state.transactions.replicated_to(offset)
            case DeleteSnapshotsStep(before):
                self.state.delete_snapshots_before(before)

    def _look(self) -> Answer:
        state = self.state
        return {
            "producers": [_told(entry) for _, entry in sorted(state.producers.items())],
            "end": state.end,
            "first_unstable": state.transactions.first_unstable,
            "first_undecided": state.transactions.first_undecided,
            "latest_snapshot": state.snapshots.latest,
            "verifying": [self._verifying(*one) for one in sorted(state.verifications.items())],
        }

    def _verifying(self, producer_id: int, verified: Verification) -> list[Any]:
        told: list[Any] = [producer_id, verified.lowest_sequence, verified.epoch]
        return [*told, verified.supports_epoch_bump] if self.state.era.knows_bumps else told


def batch_of(step: AppendStep | MarkerStep, offset: int) -> Written:
    """The batch of a step, at ``offset``."""
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


def _told(entry: Entry) -> Answer:
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
