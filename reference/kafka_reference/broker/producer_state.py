"""The producer state of a partition: which batches are duplicates, what expires, what survives truncation and restart.

A request is checked batch by batch. A client's batch that is remembered is a duplicate: the request ends and the broker
returns the remembered offset. Any other batch is checked (:mod:`.append_checks`) and noted in its producer's
:class:`~.append_info.ProducerAppendInfo`. Once all batches have passed, the entries are updated, transactions are completed,
and the *map end offset* moves behind the last record. If one is refused, nothing of that happens, except that a verification
which an earlier batch of the request ended stays ended, and that in 1.0.0 and 1.0.1 the entries of known producers stay
changed.

A producer *expires* without an open transaction, ``expiration_ms`` after its timestamp. The difference is a Java long: a
producer with a timestamp near -2^63, as only a broken snapshot has, does not expire.

*Truncation* to another end than the map's discards everything and loads the latest snapshot that is left, after those beyond
the new end and those up to the log start are removed. A corrupt one is removed and the one before it is tried. Without a
snapshot the map ends at the log start, and the caller replays the log from there. If the end is the map's, only the log
start moves: up to 2.3.x a producer whose last record is below it is removed with its open transaction (KAFKA-7190), and up
to 2.7.x the snapshots below it (KAFKA-9393).

A *snapshot* is taken only if the map has moved beyond the last snapshot that was taken, loaded or started from.

Java source mirrored: ``ProducerStateManager`` and ``UnifiedLog.analyzeAndValidateProducerState`` (``Log`` up to 3.0.x),
since 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kafka_reference.arguments import checked, proven_by
from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.append_info import ProducerAppendInfo
from kafka_reference.broker.batches import DataBatch, LogBatch
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import ProducerStateEntry
from kafka_reference.broker.snapshots import SnapshotFolder, read_snapshot, write_snapshot
from kafka_reference.broker.transactions import CompletedTxn, Transactions
from kafka_reference.broker.verification import VerificationStateEntry, ends_verification
from kafka_reference.errors import CorruptSnapshotException
from kafka_reference.java.int64 import int64
from kafka_reference.java.long_maps import LongMap
from kafka_reference.releases import NEWEST, Release

__all__ = ["DAY_MS", "Appended", "Duplicate", "ProducerStateManager"]

DAY_MS = 86_400_000
"""The default of ``producer.id.expiration.ms``."""


@dataclass(frozen=True, slots=True)
class Appended:
    """A request was appended. ``completed`` are the transactions it completed, each with the last stable offset.

    >>> Appended(completed=())
    Appended(completed=())
    """

    completed: tuple[tuple[CompletedTxn, int], ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A request was not appended: a batch of it is in the log, from ``offset`` on as far as is remembered.

    >>> Duplicate(offset=42)
    Duplicate(offset=42)
    """

    offset: int


@checked(version=proven_by("broker-producer-state"))
class ProducerStateManager:
    """The producer state of one partition in release ``version``, opened over the snapshots in ``disk``.

    ``expiration_ms`` is ``producer.id.expiration.ms``; up to 3.3.x it is ``transactional.id.expiration.ms``, by default
    seven days. Its caller is the log, which knows offsets and the time: :class:`~.log.ProducerState` has such a log.

        >>> manager, batch = ProducerStateManager(), DataBatch(7, 0, first_sequence=0, records=3, offset=0, timestamp=0)
        >>> manager.append([batch], Origin.CLIENT), manager.append([batch], Origin.CLIENT)
        (Appended(completed=()), Duplicate(offset=0))
    """

    append_info_class: ClassVar[type[ProducerAppendInfo]] = ProducerAppendInfo

    def __init__(
        self, version: str | Release = NEWEST, expiration_ms: int = DAY_MS, disk: dict[int, bytes] | None = None
    ) -> None:
        self.behaviour = ProducerStateBehaviour.of(version)
        self.expiration_ms = expiration_ms
        self.producers: LongMap[ProducerStateEntry] = self.behaviour.producer_map.create()
        self.verifications: dict[int, VerificationStateEntry] = {}
        self.transactions = Transactions(self.behaviour)
        self.snapshots = SnapshotFolder(self.behaviour, {} if disk is None else disk)
        self.end_offset = 0
        self._last_snapshot = 0

    def __repr__(self) -> str:  # unreached: for readers
        return f"<ProducerStateManager up to offset {self.end_offset}: {len(list(self.producers.items()))} producers>"

    def append(self, batches: Sequence[LogBatch], origin: Origin) -> Appended | Duplicate:
        """Append a request. Raises the JavaException that refuses one of its batches."""
        infos: dict[int, ProducerAppendInfo] = {}
        completed: list[CompletedTxn] = []
        for batch in batches:
            if batch.producer_id < 0:
                continue
            if origin is Origin.CLIENT and (offset := self._duplicate_offset(batch)) is not None:
                return Duplicate(offset)
            transaction = self._analyze(batch, origin, infos)
            if transaction is not None:
                completed.append(transaction)
        for info in infos.values():
            self._update(info)
        stable = tuple((transaction, self.transactions.complete(transaction)) for transaction in completed)
        self.end_offset = batches[-1].offset + batches[-1].records
        return Appended(stable)

    def _duplicate_offset(self, batch: LogBatch) -> int | None:
        entry = self.producers.get(batch.producer_id)
        duplicate = None if entry is None else entry.find_duplicate(batch)
        return None if duplicate is None else duplicate.first_offset

    def _analyze(self, batch: LogBatch, origin: Origin, infos: dict[int, ProducerAppendInfo]) -> CompletedTxn | None:
        producer_id = batch.producer_id
        info = infos.get(producer_id)
        if info is None:
            entry = self.producers.get(producer_id) or ProducerStateEntry(self.behaviour, producer_id)
            info = infos[producer_id] = self.append_info_class(entry, origin, self.verifications.get(producer_id))
        completed = None
        if isinstance(batch, DataBatch):
            info.append(batch)
        else:
            completed = info.append_marker(batch)
        if ends_verification(self.behaviour, batch, self.verifications.get(producer_id)):
            del self.verifications[producer_id]
        return completed

    def _update(self, info: ProducerAppendInfo) -> None:
        producer_id = info.current.producer_id
        entry = self.producers.get(producer_id)
        if entry is None:
            self.producers.put(producer_id, info.updated)
        elif entry is not info.updated:
            entry.update(info.updated)
        for first_offset in info.started:
            self.transactions.start(producer_id, first_offset)

    def verify(
        self, producer_id: int, sequence: int, epoch: int, supports_epoch_bump: bool, now_ms: int
    ) -> VerificationStateEntry | None:
        """Note a batch that waits for its transaction to be verified; nothing happens up to 3.5.x."""
        if not self.behaviour.verifies_transactions:
            return None
        bumps = supports_epoch_bump and self.behaviour.verification_notes_epoch_bump
        entry = self.verifications.setdefault(producer_id, VerificationStateEntry(now_ms, sequence, epoch, bumps))
        entry.lower(sequence, epoch)
        return entry

    def remove_expired(self, now_ms: int) -> None:
        """Remove the producers and verifications that have expired."""
        for producer_id, entry in list(self.producers.items()):
            if self._has_expired(entry, now_ms):
                self.producers.remove(producer_id)
        for producer_id, verification in list(self.verifications.items()):
            if now_ms - verification.started_ms >= self.expiration_ms:
                del self.verifications[producer_id]

    def _has_expired(self, entry: ProducerStateEntry, now_ms: int) -> bool:
        return entry.transaction is None and int64(now_ms - entry.timestamp) >= self.expiration_ms

    def take_snapshot(self) -> None:
        """Write a snapshot if the map has moved since the last one."""
        if self.end_offset > self._last_snapshot:
            self.snapshots.write(self.end_offset, self._snapshot())
            self._last_snapshot = self.end_offset

    def _snapshot(self) -> bytes:
        return write_snapshot(entry for _, entry in self.producers.items())

    def read(self, data: bytes) -> list[ProducerStateEntry]:
        """Return the entries of a snapshot. Raises CorruptSnapshotException."""
        return read_snapshot(self.behaviour, data)

    def truncate_and_reload(self, log_start: int, log_end: int, now_ms: int) -> None:
        """Truncate the log to ``log_start`` and ``log_end``."""
        offsets = self.snapshots.offsets
        self.snapshots.remove(offset for offset in offsets if offset > log_end or offset <= log_start)
        if log_end == self.end_offset:
            self.raise_log_start(log_start)
            return
        self.producers.clear()
        self.transactions.clear()
        self._load(log_start, now_ms)

    def _load(self, log_start: int, now_ms: int) -> None:
        while (latest := self.snapshots.latest) is not None:
            try:
                entries = self.read(self.snapshots.disk[latest])
            except CorruptSnapshotException:
                self.snapshots.remove([latest])
                continue
            for entry in entries:
                if not self._has_expired(entry, now_ms) and self._is_retained(entry, log_start):
                    self._load_entry(entry)
            self.end_offset = self._last_snapshot = latest
            return
        self.end_offset = self._last_snapshot = log_start

    def _load_entry(self, entry: ProducerStateEntry) -> None:
        self.producers.put(entry.producer_id, entry)
        if entry.transaction is not None:
            self.transactions.start(entry.producer_id, entry.transaction)

    def _is_retained(self, entry: ProducerStateEntry, log_start: int) -> bool:
        return not self.behaviour.deleted_records_remove_producer or entry.last_offset >= log_start

    def raise_log_start(self, log_start: int) -> None:
        """Apply that the records below ``log_start`` were deleted."""
        gone = {producer_id for producer_id, entry in self.producers.items() if not self._is_retained(entry, log_start)}
        for producer_id in gone:
            self.producers.remove(producer_id)
        self.transactions.remove_ongoing(gone)
        self.transactions.remove_replicated(log_start)
        self.end_offset = max(self.end_offset, log_start)
        if self.behaviour.log_start_deletes_snapshots:
            self.delete_snapshots_before(log_start)
        latest = self.snapshots.latest
        self._last_snapshot = log_start if latest is None else latest

    def truncate_fully(self, offset: int) -> None:
        """Discard everything; the log restarts at ``offset``."""
        self.producers.clear()
        self.transactions.clear()
        self.snapshots.remove(self.snapshots.offsets)
        self.end_offset, self._last_snapshot = offset, 0

    def delete_snapshots_before(self, offset: int) -> None:
        """Delete the snapshots of segments below ``offset``."""
        self.snapshots.remove(each for each in self.snapshots.offsets if each < offset)
