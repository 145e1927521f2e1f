"""Snapshots of producers' state: files that a broker reads when it starts, so that it need not read the whole log.

::

    version        int16     1
    crc            uint32    CRC-32C of all that follows, to the end of the file
    entries        int32     how many; then for each
      producer id  int64     last sequence  int32    length of the last batch less one  int32    coordinator's epoch  int32
      epoch        int16     last offset    int64    timestamp                          int64    open transaction's first
                                                                                                 offset, or -1        int64

All big-endian, in this order: id, epoch, last sequence, last offset, length, timestamp, coordinator's epoch, transaction.
Every release writes version 1 and no other, and what a verification knows is not written. Only the last batch of a producer
is: after a restart no other is known as a duplicate. A producer without a batch has last offset -1; reading that back, a
broker to 2.4.0 believes in a batch there, with sequence -1.

Whatever else a file holds, it is corrupt: too short, another version, fewer entries than it says, another checksum.

From 2.1.0 on a file is written over one that is there without cutting it off. If that was longer, its end stays, and the
checksum, which covers it, is wrong: the snapshot is lost.

To 2.7.x the folder is listed whenever a snapshot is looked for. From 2.8.0 on that is done once, when the partition is
opened.

Java source mirrored: ``ProducerStateManager.readSnapshot``, ``writeSnapshot``, ``loadSnapshots``, 0.11.0.3 to 4.4.0.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from kafka_reference.broker.entries import Entry, noted
from kafka_reference.broker.eras import Era
from kafka_reference.errors import CorruptSnapshotException
from kafka_reference.java.crc32c import crc32c

__all__ = ["Snapshots", "read_snapshot", "written_snapshot"]

_VERSION = 1
_HEAD, _COUNT, _ENTRY = struct.Struct(">hI"), struct.Struct(">i"), struct.Struct(">qhiqiqiq")


def written_snapshot(entries: Iterable[Entry]) -> bytes:
    """The file's bytes; entries in the order given."""
    packed = [
        _ENTRY.pack(
            entry.producer_id,
            entry.epoch,
            entry.last_sequence,
            entry.last_offset,
            entry.last_delta,
            entry.timestamp,
            entry.coordinator_epoch,
            -1 if entry.transaction is None else entry.transaction,
        )
        for entry in entries
    ]
    body = _COUNT.pack(len(packed)) + b"".join(packed)
    return _HEAD.pack(_VERSION, crc32c(body)) + body


def read_snapshot(era: Era, data: bytes) -> list[Entry]:
    """The entries of a file. Raises CorruptSnapshotException."""
    try:
        version, crc = _HEAD.unpack_from(data)
        (count,) = _COUNT.unpack_from(data, _HEAD.size)
    except struct.error:
        raise CorruptSnapshotException from None
    begin, end = _HEAD.size + _COUNT.size, _HEAD.size + _COUNT.size + count * _ENTRY.size
    if version != _VERSION or count < 0 or end > len(data) or crc != crc32c(data[_HEAD.size :]):
        raise CorruptSnapshotException
    return [_entry(era, fields) for fields in _ENTRY.iter_unpack(data[begin:end])]


def _entry(era: Era, fields: tuple[int, ...]) -> Entry:
    producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, transaction = fields
    entry = Entry(era, producer_id)
    entry.epoch, entry.coordinator_epoch = epoch, coordinator_epoch
    entry.transaction = transaction if transaction >= 0 else None
    if offset >= 0 or not era.own_timestamp:
        entry.batches.append(noted(era, sequence, offset, delta, timestamp))
    entry.timestamp = timestamp
    return entry


class Snapshots:
    """A partition's snapshots, by offset. ``disk`` is the folder, which outlives this."""

    def __init__(self, era: Era, disk: dict[int, bytes]) -> None:
        self._era, self.disk = era, disk
        self._known = set(disk)

    @property
    def offsets(self) -> set[int]:
        """The offsets for which there is one."""
        return set(self.disk) if self._era.lists_folder else set(self._known)

    @property
    def latest(self) -> int | None:
        """The highest of them."""
        return max(self.offsets, default=None)

    def write(self, offset: int, data: bytes) -> None:
        """Write one, over another if there is one of this offset."""
        tail = b"" if self._era.cuts_snapshots else self.disk.get(offset, b"")[len(data) :]
        self.disk[offset] = data + tail
        self._known.add(offset)

    def remove(self, offsets: Iterable[int]) -> None:
        """Remove these."""
        for offset in set(offsets):
            self.disk.pop(offset, None)
            self._known.discard(offset)
