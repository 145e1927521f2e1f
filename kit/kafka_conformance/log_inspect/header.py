"""Headers of record batches, read for speed: one ``struct`` call and one tuple per batch.

``kafka_reference.record_batch`` decodes batches as each release of Java does; here a header is read as all releases
write it. Layouts of magic 2, and of the messages of magic 0 and 1::

    2:  base offset int64, length int32, leader epoch int32, magic int8, crc uint32, attributes int16,
        last offset delta int32, base timestamp int64, max timestamp int64, producer id int64,
        producer epoch int16, base sequence int32, number of records int32
    1:  offset int64, length int32, crc uint32, magic int8, attributes int8, timestamp int64, key, value
    0:  the same without timestamp
"""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = [
    "CODECS", "CONTROL", "HEADER", "MAGIC_AT", "OVERHEAD", "SMALLEST", "TRANSACTIONAL", "BatchHeader", "header_in",
]  # fmt: skip

OVERHEAD = 12
"""Bytes before those that ``length`` counts."""
MAGIC_AT = 16
HEADER = struct.Struct(">qiibIhiqqqhii")
SMALLEST = {0: 26, 1: 34, 2: HEADER.size}
"""The smallest size in bytes of a whole batch, by magic."""
_LEGACY = struct.Struct(">qiIbb")
_TIMESTAMP = struct.Struct(">q")

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CODEC_MASK, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40


class BatchHeader(NamedTuple):
    """The header of a batch. Timestamps are in ms; ids, epochs and sequences are -1 where there are none."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int

    @property
    def size(self) -> int:
        """The size of the whole batch in bytes."""
        return self.length + OVERHEAD

    @property
    def last_offset(self) -> int:
        """The offset of the last record, before compaction."""
        return self.base_offset + self.last_offset_delta

    @property
    def control(self) -> bool:
        """Is it a control batch, such as the end of a transaction?"""
        return bool(self.attributes & CONTROL)

    @property
    def transactional(self) -> bool:
        """Does it belong to a transaction?"""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record, which follows 2^31-1 with 0; -1 without sequences."""
        return -1 if self.base_sequence < 0 else (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF

    @property
    def codec(self) -> str:
        """The name of the codec, or its number if Kafka has none of this number."""
        number = self.attributes & CODEC_MASK
        return CODECS[number] if number < len(CODECS) else str(number)


def header_in(data: bytes | bytearray, at: int, left: int) -> BatchHeader | None:
    """Return the header of the batch that begins at a place; None if none of at most ``left`` bytes can begin there."""
    here = min(left, len(data) - at)
    if here < SMALLEST[0] or (magic := data[at + MAGIC_AT]) > 2 or here < SMALLEST[magic]:
        return None
    header = BatchHeader._make(HEADER.unpack_from(data, at)) if magic == 2 else _legacy_header(data, at, magic)
    return header if SMALLEST[magic] <= header.size <= left and header.base_offset >= 0 else None


def _legacy_header(data: bytes | bytearray, at: int, magic: int) -> BatchHeader:
    """Return a message of magic 0 or 1 as a batch of one record; of a compressed one only the last offset is known."""
    offset, length, crc, _, attributes = _LEGACY.unpack_from(data, at)
    timestamp = _TIMESTAMP.unpack_from(data, at + _LEGACY.size)[0] if magic else -1
    return BatchHeader(offset, length, -1, magic, crc, attributes & 0x0F, 0, timestamp, timestamp, -1, -1, -1, 1)
