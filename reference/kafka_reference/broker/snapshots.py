"""Snapshots of the producer state: files that a broker reads at start, so that it need not read the whole log.

::

    version        int16     1
    crc            uint32    CRC-32C of everything that follows
    entries        int32     number of entries; each of them:
      producer id  int64     last sequence  int32    length of the last batch less one  int32    coordinator epoch  int32
      epoch        int16     last offset    int64    timestamp                          int64    open transaction's first
                                                                                                 offset, or -1      int64

All numbers are big-endian, in this order: id, epoch, last sequence, last offset, length, timestamp, coordinator epoch,
transaction. Every release writes version 1 only. Only the last batch of a producer is written: after a restart, earlier
ones are not recognized as duplicates. Verifications are not written. A producer without a batch has last offset -1; up to
2.4.0 a batch with sequence -1 is read for it (KAFKA-9144).

A file with any other content is corrupt: too short, another version, fewer entries than announced, another checksum. In
0.11.0.0 only another checksum is: another version is an IllegalArgumentException and the rest SchemaExceptions, and loading
throws both.

Since 2.1.0 a file that is written over a longer one does not truncate it: the rest stays, the checksum covers it and is
wrong, and the snapshot is lost.

Since 2.8.0 the folder is listed once, when the partition is opened; up to 2.7.x whenever a snapshot is looked up
(KAFKA-9393).

Java source mirrored: ``ProducerStateManager.readSnapshot``, ``writeSnapshot`` and ``loadSnapshots``, since 0.11.0.0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.broker.entries import BatchMetadata, ProducerStateEntry
from kafka_reference.errors import CorruptSnapshotException, IllegalArgumentException, SchemaException
from kafka_reference.java.crc32c import crc32c

__all__ = ["SnapshotFolder", "read_snapshot", "write_snapshot"]

_VERSION = 1
_HEAD, _COUNT, _ENTRY = struct.Struct(">hI"), struct.Struct(">i"), struct.Struct(">qhiqiqiq")


def write_snapshot(entries: Iterable[ProducerStateEntry]) -> bytes:
    """Return the bytes of a file with these entries, in this order."""
    packed = [
        _ENTRY.pack(
            entry.producer_id,
            entry.epoch,
            entry.last_sequence,
            entry.last_offset,
            entry.last_offset_delta,
            entry.timestamp,
            entry.coordinator_epoch,
            -1 if entry.transaction is None else entry.transaction,
        )
        for entry in entries
    ]
    body = _COUNT.pack(len(packed)) + b"".join(packed)
    return _HEAD.pack(_VERSION, crc32c(body)) + body


def read_snapshot(behaviour: ProducerStateBehaviour, data: bytes) -> list[ProducerStateEntry]:
    """Return the entries of a file. Raises CorruptSnapshotException; in 0.11.0.0 others too, see above."""
    escapes = behaviour.snapshot_errors_escape
    try:
        version, crc = _HEAD.unpack_from(data)
        (count,) = _COUNT.unpack_from(data, _HEAD.size)
    except struct.error:
        raise (SchemaException if escapes else CorruptSnapshotException) from None
    start, end = _HEAD.size + _COUNT.size, _HEAD.size + _COUNT.size + count * _ENTRY.size
    if count < 0 or end > len(data):
        raise SchemaException if escapes else CorruptSnapshotException
    if version != _VERSION:
        # unreached: verify asks about files of another version; no case of one is frozen
        raise IllegalArgumentException if escapes else CorruptSnapshotException
    if crc != crc32c(data[_HEAD.size :]):
        raise CorruptSnapshotException
    return [_entry(behaviour, fields) for fields in _ENTRY.iter_unpack(data[start:end])]


def _entry(behaviour: ProducerStateBehaviour, fields: tuple[int, ...]) -> ProducerStateEntry:
    producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, transaction = fields
    entry = ProducerStateEntry(behaviour, producer_id)
    entry.epoch, entry.coordinator_epoch = epoch, coordinator_epoch
    entry.transaction = transaction if transaction >= 0 else None
    if offset >= 0 or behaviour.snapshot_adds_missing_batch:
        entry.batches.append(BatchMetadata.ending_with(behaviour, sequence, offset, delta, timestamp))
    entry.timestamp = timestamp
    return entry


class SnapshotFolder:
    """The snapshots of a partition by offset. ``disk`` holds the files, which outlive the partition."""

    def __init__(self, behaviour: ProducerStateBehaviour, disk: dict[int, bytes]) -> None:
        self._behaviour, self.disk = behaviour, disk
        self._known = set(disk)

    @property
    def offsets(self) -> set[int]:
        """The offsets of the snapshots that the partition has found or written."""
        return set(self.disk) if self._behaviour.snapshot_folder_listed else set(self._known)

    @property
    def latest(self) -> int | None:
        """The highest of these offsets."""
        return max(self.offsets, default=None)

    def write(self, offset: int, data: bytes) -> None:
        """Write a snapshot, over the file of this offset if there is one."""
        rest = b"" if self._behaviour.overwriting_truncates_snapshot else self.disk.get(offset, b"")[len(data) :]
        self.disk[offset] = data + rest
        self._known.add(offset)

    def remove(self, offsets: Iterable[int]) -> None:
        """Remove the snapshots at these offsets."""
        for offset in set(offsets):
            self.disk.pop(offset, None)
            self._known.discard(offset)
