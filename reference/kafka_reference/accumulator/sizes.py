"""The size of a record and of a batch, and what a producer believes a batch's size to be while it fills it.

A producer decides by bytes: when a batch is full, how large a buffer it needs, how far the sticky partitioner has
come. The rules, by release; the *magic* is the version of the format, 0 to 2.

**A message** (magic 0 and 1; all that 0.10 writes) has fields of fixed width, and stands behind 12 bytes of offset and
size: ``12 + 14 + key + value`` bytes, and with magic 1 eight more for the timestamp. Null counts as empty. Without
compression a batch is its messages and nothing else. A compressed batch is itself a message, the *wrapper*: 26 or 34
bytes come before what is in it.

**A record** (magic 2, since 0.11.0.0) has fields of variable width, in a batch that starts with 61 bytes::

    record = varint(body) + body
    body = 1 + varint(offset delta) + varlong(timestamp delta) + field(key) + field(value)
             + varint(number of headers) + (field(key) + field(value)) of each header
    field = varint(length) + length, or 1 for null

A varint is zig-zag: 0, -1, 1, -2 become 0, 1, 2, 3, of which 7 bits go into a byte. So one byte is not enough from 64
and from -65 on, two are not from 8192 on, three not from 2^20 on. Deltas are those to the *first* record of the batch,
whatever came between, and wrap at 64 bits.

**The upper bound** of a batch that has one record is, with magic 2, the 61 bytes, 21 for the longest length and
deltas, and the rest of the record as it is; else the message and its 12 bytes. For compressed messages it is too low:
since 0.11.0.0 the wrapper is counted, but not the 12 bytes which the message has inside of it as well.

**The buffer** of a batch has ``max(batch.size, upper bound of its first record)`` bytes. A batch may be filled up to
``batch.size`` in 0.10, and since 0.11.0.0 up to the size of its buffer. So after a first record larger than
``batch.size``, the bytes by which its upper bound was too high are room for a second record, if that is tiny.

**The estimate** of the bytes so far is exact without compression. With it, it is the records' bytes times a ratio (see
``ratios``), to which the batch's 61 bytes, or the wrapper's, are added since 1.0.0. Before that they were forgotten.

**Room** for a record there is if the batch is empty, and else if the estimate and the record, as if that were never
compressed, are together no more than the batch may be filled to. **Full** is the batch once the estimate has come to
that; since 0.10.2.0 never an empty batch. Before that, with a ``batch.size`` of 0, it was, and took its record all the
same.

**The key of a header** is counted in two ways. For the length of the record a high surrogate is 4 bytes together with
whatever follows it, and any other surrogate 3. Written is, for a surrogate that is not one of a pair, one ``?``. So
such a key makes a record that is shorter than it says, and a batch that nobody can read. Without compression the
estimate was of the bytes written up to 0.11, and since 1.0.0 it is of what the records say.

Sizes are int32 and wrap, as Java's do. Keys and values are given by their lengths in bytes, None for null.

Java source mirrored, in ``org.apache.kafka.common.record``, since 4.3.0 ``record.internal``: ``Compressor``,
``MemoryRecords`` and ``Record`` to 0.10.1, ``MemoryRecordsBuilder`` since 0.10.2; ``DefaultRecord``, ``LegacyRecord``
and ``AbstractRecords`` since 0.11.0.0; ``ByteUtils.sizeOfVarint``; ``RecordBatch.tryAppend``, later
``ProducerBatch.tryAppend``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from kafka_reference.accumulator.ratios import compressed_estimate
from kafka_reference.errors import IllegalArgumentException
from kafka_reference.releases import Release, parse_release, since

__all__ = [
    "BatchSize", "Headers", "SizedRecord", "batch_overhead", "buffer_size", "message_size", "newest_magic", "record_size",
    "upper_bound", "utf8_length", "utf8_written", "varint_size", "varlong_size",
]  # fmt: skip

MESSAGES = since("0.10.0.0", until="0.10.2.99")
FULL_WHEN_EMPTY = since("0.10.0.0", until="0.10.1.99")
ESTIMATES_IN_64_BITS = FULL_WHEN_EMPTY
ESTIMATES_WITH_OVERHEAD = since("1.0.0")

BATCH_OVERHEAD, MAX_RECORD_OVERHEAD, ENTRY_OVERHEAD = 61, 21, 12
_MESSAGE_OVERHEAD = {0: 14, 1: 22}

Headers: TypeAlias = Sequence[tuple[str, int | None]]


@dataclass(frozen=True, slots=True)
class SizedRecord:
    """A record by its lengths in bytes, None for null; ``timestamp`` in ms, an int64."""

    timestamp: int
    key: int | None
    value: int | None
    headers: Headers = ()


def _int32(number: int) -> int:
    return ((number + 0x80000000) & 0xFFFFFFFF) - 0x80000000


def varint_size(value: int) -> int:
    """Bytes of an int32 as a zig-zag varint, 1 to 5. Mirrors ``ByteUtils.sizeOfVarint``."""
    return varlong_size(value)


def varlong_size(value: int) -> int:
    """Bytes of an int64 as a zig-zag varint, 1 to 10. Mirrors ``ByteUtils.sizeOfVarlong``."""
    return max(1, ((value << 1 ^ value >> 63).bit_length() + 6) // 7)


def _utf16(text: str) -> Sequence[int]:
    return memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H").tolist()


def utf8_length(text: str) -> int:
    """Bytes of a header's key, as a record's length counts them. Mirrors ``Utils.utf8Length``."""
    if text.isascii():
        return len(text)
    units, at, size = _utf16(text), 0, 0
    while at < len(units):
        unit = units[at]
        high = unit & 0xFC00 == 0xD800
        size += 1 if unit < 0x80 else 2 if unit < 0x800 else 4 if high else 3
        at += 2 if high else 1
    return size


def utf8_written(text: str) -> int:
    """Bytes of a header's key as written: a surrogate without its other half is one ``?``. Mirrors ``Utils.utf8``."""
    if text.isascii():
        return len(text)
    units = _utf16(text)
    pairs = sum(a & 0xFC00 == 0xD800 and b & 0xFC00 == 0xDC00 for a, b in pairwise(units))
    surrogates = sum(unit & 0xF800 == 0xD800 for unit in units)
    others = sum(1 if unit < 0x80 else 2 if unit < 0x800 else 3 for unit in units if unit & 0xF800 != 0xD800)
    return others + 4 * pairs + (surrogates - 2 * pairs)


def _field(length: int | None) -> int:
    return 1 if length is None else varint_size(length) + length


def _never_written(name: str) -> int:
    """Bytes by which a record says that it is longer than it is."""
    return 0 if name.isascii() else _field(utf8_length(name)) - _field(utf8_written(name))


def _fields(key: int | None, value: int | None, headers: Headers) -> int:
    size = _field(key) + _field(value) + varint_size(len(headers))
    return size + sum(_field(utf8_length(name)) + _field(length) for name, length in headers)


def record_size(
    offset_delta: int, timestamp_delta: int, key: int | None, value: int | None, headers: Headers = ()
) -> int:
    """Bytes of a record of magic 2, an int32; the deltas are int32 and int64. Mirrors ``DefaultRecord.sizeInBytes``."""
    deltas = varint_size(offset_delta) + varlong_size(timestamp_delta)
    body = _int32(1 + deltas + _fields(key, value, headers))
    return _int32(body + varint_size(body))


def message_size(magic: int, key: int | None, value: int | None) -> int:
    """Bytes of a message of magic 0 or 1 and its offset and size, an int32. Mirrors ``Record.recordSize`` and the
    ``LOG_OVERHEAD`` that is always added to it; since 0.11.0.0 it is ``LegacyRecord.recordSize``.
    """
    return _int32(ENTRY_OVERHEAD + _MESSAGE_OVERHEAD[magic] + (key or 0) + (value or 0))


def newest_magic(version: str | Release) -> int:
    """The magic a release's producer writes, unless a broker is too old for it."""
    return 1 if parse_release(version) in MESSAGES else 2


def batch_overhead(magic: int, compressed: bool) -> int:
    """Bytes of a batch before its first record. Mirrors ``AbstractRecords.recordBatchHeaderSizeInBytes``."""
    if magic == 2:
        return BATCH_OVERHEAD
    return ENTRY_OVERHEAD + _MESSAGE_OVERHEAD[magic] if compressed else 0


def upper_bound(
    version: str | Release, magic: int, compressed: bool, key: int | None, value: int | None, headers: Headers = ()
) -> int:
    """Bytes at most of a batch of this one record, an int32, as Kafka reckons it: see above for when it is too low.

    Mirrors ``AbstractRecords.estimateSizeInBytesUpperBound``; to 0.10.2, ``LOG_OVERHEAD + Record.recordSize``.
    """
    if magic == 2:
        return _int32(BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + _fields(key, value, headers))
    wrapper = 0 if parse_release(version) in MESSAGES or not compressed else _MESSAGE_OVERHEAD[magic]
    return _int32(message_size(magic, key, value) + wrapper)


def buffer_size(
    version: str | Release, batch_size: int, first: SizedRecord, *, magic: int | None = None, compressed: bool = False
) -> int:
    """Bytes of the buffer for a batch that begins with ``first``. Mirrors ``RecordAccumulator.append``."""
    magic = newest_magic(version) if magic is None else magic
    return max(batch_size, upper_bound(version, magic, compressed, first.key, first.value, first.headers))


@dataclass(slots=True)
class BatchSize:
    """What a batch holds while it is filled, in bytes. Mirrors ``MemoryRecordsBuilder``, before 0.10.2 ``MemoryRecords``.

    ``buffer`` is the size of its buffer, ``batch_size`` the configuration; ``magic`` 0 to 2 (0.10 writes 1 only), and
    ``ratio`` the expected compression ratio, a 32-bit float, which counts if ``compressed``.
    """

    version: str | Release
    batch_size: int
    buffer: int
    magic: int = 2
    compressed: bool = False
    ratio: float = 1.0
    records: int = field(default=0, init=False)
    max_record_size: int = field(default=0, init=False)
    closed: bool = field(default=False, init=False)
    _at: Release = field(init=False)
    _counted: int = field(default=0, init=False)
    _written: int = field(default=0, init=False)
    _first_timestamp: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._at = parse_release(self.version)

    def has_room_for(self, record: SizedRecord) -> bool:
        """Whether ``record`` would be taken. Mirrors ``hasRoomFor``."""
        if self.closed or (self.full and self._at not in FULL_WHEN_EMPTY):
            return False
        together = self.estimated + self._size(record)
        return self.records == 0 or self._limit >= (together if self._at in ESTIMATES_IN_64_BITS else _int32(together))

    def append(self, record: SizedRecord) -> None:
        """Take ``record``, room or not. Raises IllegalArgumentException for headers in messages. Mirrors ``append``."""
        if self.magic < 2 and record.headers:
            raise IllegalArgumentException(f"Magic v{self.magic} does not support record headers")
        if self._first_timestamp is None:
            self._first_timestamp = record.timestamp
        size = self._size(record)
        self._counted += size
        self._written += size - sum(_never_written(name) for name, _ in record.headers)
        self.records += 1
        self.max_record_size = max(self.max_record_size, self._largest(record))

    @property
    def estimated(self) -> int:
        """Bytes so far, as believed. Mirrors ``estimatedBytesWritten``, which ``estimatedSizeInBytes`` shows."""
        at, overhead = self._at, batch_overhead(self.magic, self.compressed)
        if not self.compressed:
            return overhead + (self._counted if at in ESTIMATES_WITH_OVERHEAD else self._written)
        packed = compressed_estimate(self._counted, self.ratio, 64 if at in ESTIMATES_IN_64_BITS else 32)
        return _int32(overhead + packed) if at in ESTIMATES_WITH_OVERHEAD else packed

    @property
    def full(self) -> bool:
        """Whether no further record is wanted. Mirrors ``isFull``."""
        may_be = self.records > 0 or self._at in FULL_WHEN_EMPTY
        return self.closed or (may_be and self._limit <= self.estimated)

    @property
    def uncompressed(self) -> int:
        """Bytes of the records before they were compressed, as counted. Mirrors ``uncompressedRecordsSizeInBytes``."""
        return self._counted

    @property
    def built(self) -> int:
        """Bytes of the batch once it is built, without compression; an empty one has none. Mirrors ``sizeInBytes``."""
        return batch_overhead(self.magic, False) + self._written if self.records else 0

    @property
    def _limit(self) -> int:
        return self.batch_size if self._at in MESSAGES else self.buffer

    def _size(self, record: SizedRecord) -> int:
        if self.magic < 2:
            return message_size(self.magic, record.key, record.value)
        first = record.timestamp if self._first_timestamp is None else self._first_timestamp
        delta = ((record.timestamp - first + 2**63) & (2**64 - 1)) - 2**63
        return record_size(self.records, delta, record.key, record.value, record.headers)

    def _largest(self, record: SizedRecord) -> int:
        """What ``maxRecordSize`` is made of: to 0.10.2 the message alone, then the upper bound."""
        if self._at in MESSAGES:
            return self._size(record) - ENTRY_OVERHEAD
        return upper_bound(self.version, self.magic, self.compressed, record.key, record.value, record.headers)
