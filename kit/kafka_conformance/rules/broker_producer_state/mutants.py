"""Known mistakes in a broker's producer state: duplicates, sequences, epochs, markers, expiration, snapshots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.broker_producer_state.adapter import CreateState
from kafka_conformance.rules.broker_producer_state.adapter import ask as ask_with
from kafka_conformance.rules.broker_producer_state.rule import RULE
from kafka_reference.behaviour import overridden
from kafka_reference.broker.append_checks import Origin, epoch_relation
from kafka_reference.broker.append_info import ProducerAppendInfo
from kafka_reference.broker.append_table import EpochRelation
from kafka_reference.broker.batches import DataBatch, LogBatch, Marker
from kafka_reference.broker.behaviour import ProducerMap, ProducerStateBehaviour
from kafka_reference.broker.entries import BatchMetadata, ProducerStateEntry
from kafka_reference.broker.producer_state import Appended, Duplicate, ProducerStateManager
from kafka_reference.broker.snapshots import write_snapshot
from kafka_reference.broker.verification import VerificationStateEntry
from kafka_reference.errors import (
    InvalidProducerEpochException,
    InvalidTxnStateException,
    OutOfOrderSequenceException,
    TransactionCoordinatorFencedException,
)
from kafka_reference.java.crc32c import crc32c
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]


def _state(create: CreateState) -> Ask:
    """Answer with another producer state."""
    return lambda question, release: ask_with(question, release, create)


def _overriding(**values: Any) -> Ask:
    """Answer with the release's behaviour, but for these fields."""

    def ask(question: Any, release: Release) -> Answer:
        with overridden(ProducerStateBehaviour, **values):
            return RULE.ask(question, release)

    return ask


def _append_info(info: type[ProducerAppendInfo]) -> Ask:
    """Answer with other checks of a batch."""

    class State(ProducerStateManager):
        append_info_class = info

    return _state(State)


def _duplicates(is_duplicate: Callable[[ProducerStateEntry, LogBatch, BatchMetadata], bool]) -> Ask:
    """Answer with another notion of a duplicate."""

    class State(ProducerStateManager):
        def _duplicate_offset(self, batch: LogBatch) -> int | None:
            entry = self.producers.get(batch.producer_id)
            if entry is None:
                return None
            return next((one.first_offset for one in entry.batches if is_duplicate(entry, batch, one)), None)

    return _state(State)


def _same_sequences(one: BatchMetadata, batch: LogBatch) -> bool:
    return (one.first_sequence, one.last_sequence) == (batch.first_sequence, batch.last_sequence)


class _NoWrap(ProducerAppendInfo):
    def check(self, batch: DataBatch) -> None:
        super().check(batch)
        last = max(self.current.last_sequence, self.updated.last_sequence)
        wraps = batch.first_sequence == 0 and last == 2**31 - 1 and batch.epoch == self.updated.epoch
        if self.origin is Origin.CLIENT and wraps:
            raise OutOfOrderSequenceException


class _Lenient(ProducerAppendInfo):
    """Refuse an out-of-order sequence only where ``refuses`` returns true."""

    def refuses(self, epoch: EpochRelation, batch: DataBatch) -> bool:
        raise NotImplementedError

    def check(self, batch: DataBatch) -> None:
        epoch = epoch_relation(batch.epoch, self.updated, self.current)
        try:
            super().check(batch)
        except OutOfOrderSequenceException:
            if self.refuses(epoch, batch):
                raise


class _AnyStartOfNewEpoch(_Lenient):
    def refuses(self, epoch: EpochRelation, _: DataBatch) -> bool:
        return epoch is not EpochRelation.NEWER


class _AllowsGaps(_Lenient):
    def refuses(self, epoch: EpochRelation, batch: DataBatch) -> bool:
        return epoch is not EpochRelation.CURRENT or batch.first_sequence <= self.current.last_sequence


class _AppendsOldEpochs(ProducerAppendInfo):
    def check(self, batch: DataBatch) -> None:
        try:
            super().check(batch)
        except InvalidProducerEpochException:
            return


class _StartsAtZero(ProducerAppendInfo):
    """As up to 2.4.x, and as planned for a partition without records (KAFKA-15591)."""

    def check(self, batch: DataBatch) -> None:
        super().check(batch)
        is_first = epoch_relation(batch.epoch, self.updated, self.current) is EpochRelation.UNKNOWN_PRODUCER
        if self.origin is Origin.CLIENT and is_first and batch.first_sequence > 0:
            raise OutOfOrderSequenceException


class _IgnoresVerification(ProducerAppendInfo):
    def check(self, batch: DataBatch) -> None:
        self.verification = None
        super().check(batch)


class _AnyCoordinator(ProducerAppendInfo):
    def check_marker(self, marker: Marker) -> None:
        try:
            super().check_marker(marker)
        except TransactionCoordinatorFencedException:
            return


class _AppendsOldMarkers(ProducerAppendInfo):
    def check_marker(self, marker: Marker) -> None:
        try:
            super().check_marker(marker)
        except InvalidProducerEpochException:
            return


class _AppendsOutsideTransaction(ProducerAppendInfo):
    def append(self, batch: DataBatch) -> None:
        try:
            super().append(batch)
        except InvalidTxnStateException:
            return


class _ForgetsAtMarkers(ProducerAppendInfo):
    def append_marker(self, marker: Marker) -> Any:
        completed = super().append_marker(marker)
        self.updated.change_epoch(-1)
        self.updated.change_epoch(marker.epoch)
        return completed


class _ChecksReplicas(ProducerStateManager):
    def append(self, batches: Sequence[LogBatch], origin: Origin) -> Appended | Duplicate:
        return super().append(batches, Origin.COORDINATOR if origin is Origin.REPLICATION else origin)


class _ChecksCoordinators(ProducerStateManager):
    def append(self, batches: Sequence[LogBatch], origin: Origin) -> Appended | Duplicate:
        return super().append(batches, Origin.CLIENT if origin is Origin.COORDINATOR else origin)


class _OneByOne(ProducerStateManager):
    """The batches before a refused one of the request stay appended."""

    def append(self, batches: Sequence[LogBatch], origin: Origin) -> Appended | Duplicate:
        completed: list[Any] = []
        for batch in batches:
            result = super().append((batch,), origin)
            if isinstance(result, Duplicate):
                return result
            completed += result.completed
        return Appended(tuple(completed))


class _ExpiresLater(ProducerStateManager):
    def _has_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        return super()._has_expired(entry, now_ms - 1)


class _ExpiresInTransactions(ProducerStateManager):
    def _has_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        return now_ms - entry.timestamp >= self.expiration_ms


class _NoChecksum(ProducerStateManager):
    def read(self, data: bytes) -> list[ProducerStateEntry]:
        if len(data) < 6:
            return super().read(data)
        return super().read(data[:2] + crc32c(data[6:]).to_bytes(4, "big") + data[6:])


class _ChecksumOfAll(ProducerStateManager):
    def _snapshot(self) -> bytes:
        file = super()._snapshot()
        return file[:2] + crc32c(file[:2] + bytes(4) + file[6:]).to_bytes(4, "big") + file[6:]


class _WritesInOrder(ProducerStateManager):
    def _snapshot(self) -> bytes:
        return write_snapshot(entry for _, entry in sorted(self.producers.items()))


class _SnapshotsAlways(ProducerStateManager):
    def take_snapshot(self) -> None:
        self._last_snapshot = -1
        super().take_snapshot()


class _KeepsTheStart(ProducerStateManager):
    def truncate_and_reload(self, log_start: int, log_end: int, now_ms: int) -> None:
        kept = self.snapshots.disk.get(log_start) if log_start in self.snapshots.offsets else None
        if kept is not None and log_start <= log_end:
            self.snapshots.remove([log_start])
            self.snapshots.write(log_start, kept)
            self._keep_start(log_start, log_end, now_ms)
        else:
            super().truncate_and_reload(log_start, log_end, now_ms)

    def _keep_start(self, log_start: int, log_end: int, now_ms: int) -> None:
        offsets = self.snapshots.offsets
        self.snapshots.remove(offset for offset in offsets if offset > log_end or offset < log_start)
        if log_end == self.end_offset:
            self.raise_log_start(log_start)
            return
        self.producers.clear()
        self.transactions.clear()
        self._load(log_start, now_ms)


class _AlwaysReloads(ProducerStateManager):
    def truncate_and_reload(self, log_start: int, log_end: int, now_ms: int) -> None:
        self.end_offset = -1
        super().truncate_and_reload(log_start, log_end, now_ms)


class _StableAtTheMarker(ProducerStateManager):
    """A completed transaction holds back nothing, replicated or not."""

    def append(self, batches: Sequence[LogBatch], origin: Origin) -> Appended | Duplicate:
        result = super().append(batches, origin)
        self.transactions.remove_replicated(2**62)
        return result


class _VerifiesAnew(ProducerStateManager):
    def verify(self, producer_id: int, *rest: Any) -> VerificationStateEntry | None:
        self.verifications.pop(producer_id, None)
        return super().verify(producer_id, *rest)


class _MarkersEndVerification(ProducerStateManager):
    """Every marker ends the verification, also one of the previous transaction."""

    def _analyze(self, batch: LogBatch, *rest: Any) -> Any:
        completed = super()._analyze(batch, *rest)
        if isinstance(batch, Marker):
            self.verifications.pop(batch.producer_id, None)
        return completed


class _VerifiesOn(ProducerStateManager):
    """An appended batch does not end the verification."""

    def _analyze(self, batch: LogBatch, *rest: Any) -> Any:
        verification = self.verifications.get(batch.producer_id)
        completed = super()._analyze(batch, *rest)
        if verification is not None:
            self.verifications[batch.producer_id] = verification
        return completed


_KAFKA = "https://github.com/apache/kafka/pull/"
_REDPANDA = "https://github.com/redpanda-data/redpanda/issues/"
_STARTS_AT_0 = (f"{_REDPANDA}22670", "https://github.com/twmb/franz-go/issues/1281", f"{_KAFKA}23234")


def _mutant(slug: str, description: str, ask: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


MUTANTS = (
    _mutant("broker-four-batches", "four batches are remembered", _overriding(remembered_batches=4)),
    _mutant("broker-six-batches", "six batches are remembered", _overriding(remembered_batches=6)),
    _mutant(
        "broker-duplicate-by-first",
        "a batch with the first sequence of a remembered one is a duplicate, whatever its length",
        _duplicates(lambda entry, batch, one: batch.epoch == entry.epoch and batch.first_sequence == one.first_sequence),
    ),
    _mutant(
        "broker-duplicate-any-epoch", "duplicates are found under any epoch",
        _duplicates(lambda _, batch, one: _same_sequences(one, batch)),
    ),
    _mutant(
        "broker-duplicate-of-last", "only the last batch is found as a duplicate",
        _duplicates(
            lambda entry, batch, one: (
                batch.epoch == entry.epoch and one is entry.batches[-1] and _same_sequences(one, batch)
            )
        ),
    ),
    _mutant(
        "broker-no-duplicates", "no duplicate is found", _duplicates(lambda *_: False), f"{_REDPANDA}3038",
        f"{_REDPANDA}3039",
    ),
    _mutant("broker-begins-at-0", "an unknown producer has to start at 0", _append_info(_StartsAtZero), *_STARTS_AT_0),
    _mutant(
        "broker-no-wrap", "no sequence follows 2^31-1", _append_info(_NoWrap), f"{_REDPANDA}4854", f"{_KAFKA}3183"
    ),
    _mutant("broker-bump-to-anything", "a new epoch may start at any sequence", _append_info(_AnyStartOfNewEpoch)),
    _mutant("broker-gaps-are-fine", "sequences need only increase", _append_info(_AllowsGaps)),
    _mutant("broker-old-epochs", "batches of an older epoch are appended", _append_info(_AppendsOldEpochs)),
    _mutant("broker-any-coordinator", "the coordinator epoch of a marker is not checked", _append_info(_AnyCoordinator)),
    _mutant("broker-old-markers", "the epoch of a marker is not checked", _append_info(_AppendsOldMarkers)),
    _mutant("broker-markers-forget", "a marker discards the remembered batches", _append_info(_ForgetsAtMarkers)),
    _mutant(
        "broker-writes-outside", "a producer with an open transaction may append outside of it",
        _append_info(_AppendsOutsideTransaction),
    ),
    _mutant(
        "broker-no-verification", "the verification of a transaction is not checked", _append_info(_IgnoresVerification),
        f"{_KAFKA}13787",
    ),
    _mutant("broker-verifies-anew", "each batch that waits starts the verification anew", _state(_VerifiesAnew)),
    _mutant("broker-verifies-on", "an appended batch does not end the verification", _state(_VerifiesOn)),
    _mutant(
        "broker-markers-end-verification", "the marker of the previous transaction ends the verification",
        _state(_MarkersEndVerification),
    ),
    _mutant("broker-checks-replicas", "the epochs of replicated batches are checked", _state(_ChecksReplicas)),
    _mutant("broker-checks-coordinators", "sequences of the coordinator's batches are checked", _state(_ChecksCoordinators)),
    _mutant("broker-one-by-one", "the batches before a refused one stay appended", _state(_OneByOne)),
    _mutant("broker-expires-later", "a producer expires 1 ms too late", _state(_ExpiresLater)),
    _mutant("broker-expires-in-transactions", "a producer with an open transaction expires", _state(_ExpiresInTransactions)),
    _mutant("broker-no-checksum", "the checksum of a snapshot is not checked", _state(_NoChecksum)),
    _mutant(
        "broker-checksum-of-all", "the checksum of a snapshot covers the version", _state(_ChecksumOfAll), release="3.3.2"
    ),
    _mutant("broker-writes-in-order", "a snapshot is ordered by producer id", _state(_WritesInOrder), release="2.3.1"),
    _mutant(
        "broker-scala-order", "a snapshot is in the order of Scala's map", _overriding(producer_map=ProducerMap.SCALA_2_13)
    ),
    _mutant("broker-snapshots-always", "a snapshot is taken although nothing is new", _state(_SnapshotsAlways)),
    _mutant(
        "broker-cuts-snapshots", "a snapshot written over a longer file replaces the whole file",
        _overriding(overwriting_truncates_snapshot=True),
    ),
    _mutant(
        "broker-lists-folder", "the snapshot folder is listed each time",
        _overriding(snapshot_folder_listed=True, log_start_deletes_snapshots=True),
    ),
    _mutant("broker-keeps-the-start", "truncation keeps the snapshot at the log start", _state(_KeepsTheStart)),
    _mutant("broker-always-reloads", "truncation to the map end offset reloads too", _state(_AlwaysReloads)),
    _mutant("broker-stable-at-the-marker", "the marker need not be replicated", _state(_StableAtTheMarker)),
    _mutant(
        "broker-minds-own", "other transactions of the same producer hold back the last stable offset",
        _overriding(own_transactions_hold_stable_offset=True),
    ),
)  # fmt: skip
