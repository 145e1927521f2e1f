"""Partitions as a broker writes them, made without one: segments, indexes, snapshots, the leader epoch checkpoint."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from pathlib import Path

from crc32c import crc32c

from kafka_reference.record_batch import (
    Codec,
    EndTransactionMarker,
    NewBatch,
    NewRecord,
    encode_batch,
    encode_end_marker,
)

__all__ = ["META", "START_MS", "Log", "control", "data", "healthy"]

META = "#\nversion=1\nnode.id=1\ndirectory.id=YQYeGJ16YIO_DEYcBQ17Vw\ncluster.id=AAAAAAAAQACAAAAAAAAAAA\n"
"""A ``meta.properties`` with which a broker starts."""
START_MS = 1_700_000_000_000


def data(count: int, producer: tuple[int, int, int] | None = None, *, size: int = 40, codec: Codec = Codec.NONE,
         transactional: bool = False, timestamp: int = START_MS) -> NewBatch:  # fmt: skip
    """A batch of records; ``producer`` is its id, epoch and base sequence."""
    pid, epoch, sequence = producer or (-1, -1, -1)
    records = [NewRecord(timestamp + n, b"k%d" % n, b"v" * size) for n in range(count)]
    return NewBatch(records=records, codec=codec, producer_id=pid, producer_epoch=epoch, base_sequence=sequence,
                    transactional=transactional)  # fmt: skip


def control(pid: int, epoch: int, *, commit: bool, timestamp: int = START_MS) -> NewBatch:
    """The end of a transaction."""
    key, value = encode_end_marker(EndTransactionMarker(commit, 0))
    return NewBatch(records=[NewRecord(timestamp, key, value)], producer_id=pid, producer_epoch=epoch, base_sequence=-1,
                    transactional=True, control=True)  # fmt: skip


@dataclass
class Log:
    """Appends batches as a leader does; ``write`` closes the last segment."""

    folder: Path
    interval: int = 200
    offset: int = 0
    epoch: int = 0
    epochs: list[tuple[int, int]] = field(default_factory=list)
    producers: dict[int, list[int]] = field(default_factory=dict)
    base: int = 0
    log: bytearray = field(default_factory=bytearray)
    index: bytearray = field(default_factory=bytearray)
    time_index: bytearray = field(default_factory=bytearray)
    aborted: bytearray = field(default_factory=bytearray)
    since_entry: int = 0
    largest: tuple[int, int] = (-1, 0)
    last_entry: int = -1
    positions: list[tuple[int, int, int]] = field(default_factory=list)
    """Of every batch: the base offset of its segment, its position, its size."""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def append(self, batch: NewBatch) -> None:
        """Append a batch at the end, with the current leader epoch."""
        if not self.epochs or self.epochs[-1][0] < self.epoch:
            self.epochs.append((self.epoch, self.offset))
        made = replace(batch, base_offset=self.offset, partition_leader_epoch=self.epoch)
        encoded = encode_batch(made)
        last = self.offset + len(batch.records) - 1
        position = len(self.log)
        if self.since_entry > self.interval:
            self.index += struct.pack(">ii", last - self.base, position)
            self._time_entry()
            self.since_entry = 0
        self.positions.append((self.base, position, len(encoded)))
        self.log += encoded
        self.since_entry += len(encoded)
        timestamp = max(record.timestamp for record in batch.records)
        if timestamp > self.largest[0]:
            self.largest = timestamp, last
        self._producer(made, last, timestamp)
        self.offset = last + 1

    def roll(self) -> None:
        """Begin a new segment, with a snapshot."""
        self._close()
        self.snapshot()
        self.base = self.offset
        self.log, self.index, self.time_index, self.aborted = bytearray(), bytearray(), bytearray(), bytearray()
        self.since_entry, self.largest, self.last_entry = 0, (-1, 0), -1

    def write(self, preallocated: int = 0) -> Path:
        """Write the last segment, whose indexes end in the given number of entries of zeros, and the checkpoint."""
        self._close(preallocated)
        lines = ["0", str(len(self.epochs)), *(f"{epoch} {start}" for epoch, start in self.epochs)]
        (self.folder / "leader-epoch-checkpoint").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (self.folder / "partition.metadata").write_text(
            "version: 0\ntopic_id: bQ-4lLbbTQSsH0SZpHBEYQ", encoding="utf-8"
        )
        return self.folder

    def snapshot(self) -> None:
        """Write the snapshot of the producers at the end of the log."""
        entries = b"".join(struct.pack(">qhiqiqiq", pid, *fields) for pid, fields in self.producers.items())
        body = struct.pack(">i", len(self.producers)) + entries
        (self.folder / f"{self.offset:020}.snapshot").write_bytes(struct.pack(">hI", 1, crc32c(body)) + body)

    def _time_entry(self) -> None:
        if self.largest[0] > self.last_entry:
            self.time_index += struct.pack(">qi", self.largest[0], self.largest[1] - self.base)
            self.last_entry = self.largest[0]

    def _close(self, preallocated: int = 0) -> None:
        self._time_entry()
        name = f"{self.base:020}"
        (self.folder / f"{name}.log").write_bytes(self.log)
        (self.folder / f"{name}.index").write_bytes(self.index + bytes(8 * preallocated))
        (self.folder / f"{name}.timeindex").write_bytes(self.time_index + bytes(12 * preallocated))
        if self.aborted:
            (self.folder / f"{name}.txnindex").write_bytes(self.aborted)

    def _producer(self, batch: NewBatch, last: int, timestamp: int) -> None:
        if batch.producer_id < 0:
            return
        fields = self.producers.setdefault(batch.producer_id, [batch.producer_epoch, -1, -1, 0, -1, -1, -1])
        if batch.control:
            if batch.producer_epoch > fields[0]:
                fields[:4] = [batch.producer_epoch, -1, -1, 0]
            key = batch.records[0].key
            if key == b"\0\0\0\0" and fields[6] >= 0:
                self.aborted += struct.pack(">hqqqq", 0, batch.producer_id, fields[6], last, last + 1)
            fields[4], fields[5], fields[6] = timestamp, 0, -1
            return
        count = len(batch.records)
        sequence = (batch.base_sequence + count - 1) & 0x7FFFFFFF
        fields[:5] = [batch.producer_epoch, sequence, last, count - 1, timestamp]
        if batch.transactional and fields[6] < 0:
            fields[6] = batch.base_offset


def healthy(folder: Path) -> Log:
    """Three segments: two idempotent producers, transactions of a third that commit and abort, batches without producer."""
    log = Log(folder)
    sequences = {1: 0, 2: 2**31 - 7, 3: 0}
    now = START_MS
    for segment in range(3):
        if segment:
            log.roll()
        log.epoch = segment * 2
        for turn in range(6):
            now += 10
            log.append(data(2, timestamp=now))
            for pid in (1, 2):
                log.append(
                    data(3, (pid, 0, sequences[pid]), codec=Codec.GZIP if turn % 2 else Codec.NONE, timestamp=now)
                )
                sequences[pid] = (sequences[pid] + 3) & 0x7FFFFFFF
            log.append(data(2, (3, 0, sequences[3]), transactional=True, timestamp=now - 1))
            sequences[3] += 2
            if turn % 2:
                log.append(control(3, 0, commit=turn % 4 == 1, timestamp=now))
    log.write(preallocated=50)
    return log
