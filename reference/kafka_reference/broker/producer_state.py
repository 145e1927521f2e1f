"""The state of a partition's producers, as its log keeps it: what is written, expires, is truncated, and outlives a restart.

A request is looked at batch by batch. A client's batch that is remembered is answered by where it was written, and ends the
request. Any other is checked (:mod:`.append_checks`) and noted in its producer's :class:`~.append_info.AppendInfo`. Once
all have passed, the entries are updated, transactions are completed, and the *map's end* moves behind the last record. If
one is refused, nothing of that is done; only a verification that an earlier batch of the request ended stays ended.

A producer *expires* if it has no open transaction and was last heard of ``expiration_ms`` ago, or longer.

*Truncation* to an end other than the map's forgets everything and loads the latest snapshot that is left: those beyond the
end, and those not beyond the log's start, are removed first. One that is corrupt is removed, and the one before it is
tried. Without any, the map ends at the log's start, and who replays the log goes on from there. If the end is the map's,
only the log's start moves. To 2.3.x a producer whose last record lies before the log's start is forgotten, its open
transaction with it, and snapshots before the start are removed.

A *snapshot* is taken only if the map has moved beyond the last one taken, loaded, or started from.

Java source mirrored: ``ProducerStateManager`` and ``UnifiedLog.analyzeAndValidateProducerState`` (``Log``, to 3.0.x),
0.11.0.3 to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.append_info import AppendInfo
from kafka_reference.broker.batches import DataBatch, Written
from kafka_reference.broker.entries import Entry
from kafka_reference.broker.eras import Era, era_of
from kafka_reference.broker.snapshots import Snapshots, read_snapshot, written_snapshot
from kafka_reference.broker.transactions import Completed, Transactions
from kafka_reference.broker.verification import Verification, ends_verification
from kafka_reference.errors import CorruptSnapshotException
from kafka_reference.java.long_maps import LongMap
from kafka_reference.releases import Release

__all__ = ["Duplicate", "ProducerState", "Taken"]


@dataclass(frozen=True, slots=True)
class Taken:
    """A request was written. ``completed`` are the transactions it ended, each with the last stable offset."""

    completed: tuple[tuple[Completed, int], ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A request was not written: a batch of it was, from ``offset`` on as far as is remembered."""

    offset: int


class ProducerState:
    """What a partition of ``version`` knows of its producers, newly opened over the snapshots in ``disk``."""

    info_class: ClassVar[type[AppendInfo]] = AppendInfo

    def __init__(self, version: str | Release | Era, expiration_ms: int, disk: dict[int, bytes] | None = None) -> None:
        self.era = version if isinstance(version, Era) else era_of(version)
        self.expiration_ms = expiration_ms
        self.producers: LongMap[Entry] = self.era.new_map()
        self.verifications: dict[int, Verification] = {}
        self.transactions = Transactions(self.era)
        self.snapshots = Snapshots(self.era, {} if disk is None else disk)
        self.end = 0
        self._last_snapshot = 0

    def append(self, batches: Sequence[Written], origin: Origin) -> Taken | Duplicate:
        """Write a request. Raises what a batch is refused for."""
        infos: dict[int, AppendInfo] = {}
        completed: list[Completed] = []
        for batch in batches:
            if batch.producer_id < 0:
                continue
            if origin is Origin.CLIENT and (found := self._duplicate(batch)) is not None:
                return Duplicate(found)
            ended = self._take(batch, origin, infos)
            if ended is not None:
                completed.append(ended)
        for info in infos.values():
            self._update(info)
        stable = tuple((ended, self.transactions.complete(ended)) for ended in completed)
        self.end = batches[-1].offset + batches[-1].records
        return Taken(stable)

    def _duplicate(self, batch: Written) -> int | None:
        entry = self.producers.get(batch.producer_id)
        found = None if entry is None else entry.duplicate(batch)
        return None if found is None else found.first_offset

    def _take(self, batch: Written, origin: Origin, infos: dict[int, AppendInfo]) -> Completed | None:
        producer_id = batch.producer_id
        info = infos.get(producer_id)
        if info is None:
            entry = self.producers.get(producer_id) or Entry(self.era, producer_id)
            info = infos[producer_id] = self.info_class.of(self.era, entry, origin, self.verifications.get(producer_id))
        ended = None
        if isinstance(batch, DataBatch):
            info.append(batch)
        else:
            ended = info.mark(batch)
        if ends_verification(self.era, batch, self.verifications.get(producer_id)):
            del self.verifications[producer_id]
        return ended

    def _update(self, info: AppendInfo) -> None:
        producer_id = info.before.producer_id
        entry = self.producers.get(producer_id)
        if entry is None:
            self.producers.put(producer_id, info.updated)
        else:
            entry.take_over(info.updated)
        for first_offset in info.started:
            self.transactions.start(producer_id, first_offset)

    def verify(self, producer_id: int, sequence: int, epoch: int, bumps: bool, now_ms: int) -> Verification | None:
        """A transaction's first batch waits for its coordinator; nothing to 3.5.x."""
        if not self.era.verifies:
            return None
        entry = self.verifications.setdefault(
            producer_id, Verification(now_ms, sequence, epoch, bumps and self.era.knows_bumps)
        )
        entry.lower(sequence, epoch)
        return entry

    def expire(self, now_ms: int) -> None:
        """Forget who was not heard of for too long."""
        for producer_id, entry in list(self.producers.items()):
            if self._has_expired(entry, now_ms):
                self.producers.remove(producer_id)
        for producer_id, verified in list(self.verifications.items()):
            if now_ms - verified.made_ms >= self.expiration_ms:
                del self.verifications[producer_id]

    def _has_expired(self, entry: Entry, now_ms: int) -> bool:
        return entry.transaction is None and now_ms - entry.timestamp >= self.expiration_ms

    def take_snapshot(self) -> None:
        """Write a snapshot, if there is anything new."""
        if self.end > self._last_snapshot:
            self.snapshots.write(self.end, self._file())
            self._last_snapshot = self.end

    def _file(self) -> bytes:
        return written_snapshot(entry for _, entry in self.producers.items())

    def read(self, data: bytes) -> list[Entry]:
        """The entries of a snapshot. Raises CorruptSnapshotException."""
        return read_snapshot(self.era, data)

    def truncate(self, log_start: int, log_end: int, now_ms: int) -> None:
        """The log goes from ``log_start`` to ``log_end``."""
        offsets = self.snapshots.offsets
        self.snapshots.remove(offset for offset in offsets if offset > log_end or offset <= log_start)
        if log_end == self.end:
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
            self.end = self._last_snapshot = latest
            return
        self.end = self._last_snapshot = log_start

    def _load_entry(self, entry: Entry) -> None:
        self.producers.put(entry.producer_id, entry)
        if entry.transaction is not None:
            self.transactions.start(entry.producer_id, entry.transaction)

    def _is_retained(self, entry: Entry, log_start: int) -> bool:
        return not self.era.forgets_deleted or entry.last_offset >= log_start

    def raise_log_start(self, log_start: int) -> None:
        """Records before ``log_start`` were deleted."""
        gone = {producer_id for producer_id, entry in self.producers.items() if not self._is_retained(entry, log_start)}
        for producer_id in gone:
            self.producers.remove(producer_id)
        self.transactions.forget(gone)
        self.transactions.replicated_to(log_start)
        self.end = max(self.end, log_start)
        if self.era.lists_folder:
            self.delete_snapshots_before(log_start)
        latest = self.snapshots.latest
        self._last_snapshot = log_start if latest is None else latest

    def start_over(self, offset: int) -> None:
        """The log is emptied and goes on from ``offset``."""
        self.producers.clear()
        self.transactions.clear()
        self.snapshots.remove(self.snapshots.offsets)
        self.end, self._last_snapshot = offset, 0

    def delete_snapshots_before(self, offset: int) -> None:
        """Segments before ``offset`` were deleted."""
        self.snapshots.remove(each for each in self.snapshots.offsets if each < offset)
