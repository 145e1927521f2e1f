"""Columns of records that grow batch by batch, and become a piece."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.segments.records import REFUSED, read_well_formed
from kafka_conformance.log_inspect.expansion import MOST_RECORDS
from kafka_conformance.log_inspect.header import HEADER, LOG_APPEND_TIME, BatchHeader
from kafka_reference.record_batch import Codec, decode_header
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import open_stream
from kafka_reference.record_batch.errors import InvalidRecordException
from kafka_reference.releases import NEWEST

__all__ = ["Columns", "Piece"]

_FIRST_ROOM = 4_096
_CODEC = 0x07
_SMALLEST = 7
"""The bytes of the smallest record."""


class Piece(NamedTuple):
    """Some records in the order of their offsets; a missing time, producer id or epoch is -1."""

    offsets: NDArray[np.int64]
    timestamps_ms: NDArray[np.int64]
    keys: pa.BinaryArray
    producers: NDArray[np.int64]
    epochs: NDArray[np.int32]


class Columns:
    """Records with offsets from ``first`` up to ``end`` that are not yet in a piece."""

    def __init__(self, first: int, end: int) -> None:
        self._wanted = first, end
        self._behaviour = RecordBatchBehaviour.of(NEWEST)
        self._offsets, self._times, self._sizes = (np.empty(_FIRST_ROOM, np.int64) for _ in range(3))
        self._keys = np.empty(_FIRST_ROOM, np.uint8)
        self._begin()

    def _begin(self) -> None:
        self.records = self.key_bytes = 0
        self._producers: list[tuple[int, int, int]] = []

    def add(self, header: BatchHeader, data: bytes) -> None:
        """Add the records of a batch, all or none. Raises JavaException if they cannot be decoded."""
        added = self._read(header, data) if header.magic == 2 else REFUSED
        if added == REFUSED and header.records > MOST_RECORDS:
            raise InvalidRecordException(f"one of {header.records:,} records is malformed")
        if added == REFUSED:
            added = self._read_as_java(data)
        if added:
            self.key_bytes += int(np.maximum(self._sizes[self.records : self.records + added], 0).sum())
            self.records += added
            self._producers.append((header.producer_id, header.producer_epoch, added))

    def _read(self, header: BatchHeader, data: bytes) -> int:
        """Return the number of records that were written behind the others, or REFUSED."""
        payload: bytes | memoryview = memoryview(data)[HEADER.size :]
        if codec := header.attributes & _CODEC:
            if codec >= len(Codec):
                return REFUSED
            stream = open_stream(Codec(codec), bytes(payload), header.magic, self._behaviour)
            if stream.fault is not None:
                return REFUSED
            payload = stream.data
        if not 0 < header.records <= len(payload) // _SMALLEST:
            return REFUSED
        self._make_room(header.records, len(payload))
        rows = self.records
        return read_well_formed(
            payload, header.records, (header.base_offset, header.base_timestamp),
            header.max_timestamp if header.attributes & LOG_APPEND_TIME else None, self._wanted,
            (self._offsets[rows:], self._times[rows:], self._sizes[rows:]), self._keys[self.key_bytes :],
        )  # fmt: skip

    def _read_as_java(self, data: bytes) -> int:
        batch, (first, end) = decode_header(data), self._wanted
        assert batch is not None  # noqa: S101  it was scanned whole
        found = [record for record in batch.records() if record is not None and first <= record.offset < end]
        keys = [record.key for record in found]
        content = b"".join(key or b"" for key in keys)
        self._make_room(len(found), len(content))
        rows = slice(self.records, self.records + len(found))
        self._offsets[rows] = [record.offset for record in found]
        self._times[rows] = [record.timestamp for record in found]
        self._sizes[rows] = [-1 if key is None else len(key) for key in keys]
        self._keys[self.key_bytes : self.key_bytes + len(content)] = np.frombuffer(content, np.uint8)
        return len(found)

    def _make_room(self, records: int, key_bytes: int) -> None:
        if (needed := self.records + records) > self._offsets.size:
            grown = [np.empty(2 * needed, np.int64) for _ in range(3)]
            for new, old in zip(grown, (self._offsets, self._times, self._sizes), strict=True):
                new[: self.records] = old[: self.records]
            self._offsets, self._times, self._sizes = grown
        if (needed := self.key_bytes + key_bytes) > self._keys.size:
            keys = np.empty(2 * needed, np.uint8)
            keys[: self.key_bytes] = self._keys[: self.key_bytes]
            self._keys = keys

    def cut(self) -> Piece:
        """Return the records, and forget them."""
        rows = self.records
        sizes = self._sizes[:rows]
        starts = np.zeros(rows + 1, np.int32)
        np.cumsum(np.maximum(sizes, 0), out=starts[1:])
        valid = np.packbits(sizes >= 0, bitorder="little")
        buffers = [pa.py_buffer(each.tobytes()) for each in (valid, starts, self._keys[: self.key_bytes])]
        keys = pa.BinaryArray.from_buffers(pa.binary(), rows, buffers)
        producers, epochs, counts = zip(*self._producers, strict=True)
        piece = Piece(
            self._offsets[:rows].copy(), self._times[:rows].copy(), keys,
            np.repeat(np.array(producers, np.int64), counts), np.repeat(np.array(epochs, np.int32), counts),
        )  # fmt: skip
        self._begin()
        return piece
