"""The size of a record and of a batch, and the size a producer estimates for a batch while it fills it.

A producer decides by bytes: when a batch is full, how large a buffer it needs, how far the sticky partitioner has come.
*Magic* is the version of the format: 2 since 0.11.0.0, 1 in 0.10, 0 before.

**A record** (magic 2) has fields of variable width, in a batch with a header of 61 bytes::

    record = varint(body) + body
    body = 1 + varint(offset delta) + varlong(timestamp delta) + field(key) + field(value)
             + varint(number of headers) + (field(key) + field(value)) of each header
    field = varint(length) + length, or 1 for null

A varint is zig-zag: 0, -1, 1, -2 become 0, 1, 2, 3, of which 7 bits go into a byte. So one byte is not enough from 64
and from -65 on, two are not from 8192 on, three not from 2^20 on. Deltas are those to the *first* record of the batch,
whatever came between, and wrap at 64 bits.

**A message** (magic 0 and 1) has fields of fixed width, behind 12 bytes of offset and size: ``12 + 14 + key + value``
bytes, and with magic 1 eight more for the timestamp. Null counts as empty. Without compression a batch is its messages
and nothing else. A compressed batch is itself a message, the *wrapper*: 26 or 34 bytes precede what is in it.

**The upper bound** of a batch of one record is, with magic 2, the 61 bytes, 21 for the longest length and deltas, and the
rest of the record unchanged; else the message with its 12 bytes. For compressed messages it is too low: since 0.11.0.0 the
wrapper counts, but not the 12 bytes which the message has inside of it as well.

**The buffer** of a batch has ``max(batch.size, upper bound of its first record)`` bytes. A batch takes records up to the
size of its buffer; up to 0.10.2.x, up to ``batch.size``. So after a first record larger than ``batch.size``, the bytes by
which its upper bound is too high are room for a second record, if that is tiny.

**The estimate** of the bytes so far is exact without compression. With compression it is the records' bytes times a ratio
(see ``ratios``), plus the header of the batch; from 0.10.0.0 to 0.11.0.x the header was left out.

**A record has room** if the batch is empty, or if the estimate plus the uncompressed size of the record is within the
limit. **A batch is full** if its estimate has reached the limit and it is not empty. Up to 0.10.1.x, with a ``batch.size``
of 0, an empty batch is full too, and still takes its record.

**The key of a header** has two lengths. The *declared* length, in the record's own length, counts a high surrogate as 4
bytes together with whatever follows it, and any other surrogate as 3. *Written* is one ``?`` for a surrogate that is not
one of a pair. So a malformed key makes a record that is shorter than it declares, and a batch that cannot be read.

Sizes are int32 and wrap, as Java's do. Keys and values are given by their lengths in bytes, None for null.

Java source mirrored, in ``org.apache.kafka.common.record``, since 4.3.0 ``record.internal``: ``Compressor``,
``MemoryRecords`` and ``Record``, up to 0.10.1; ``MemoryRecordsBuilder.hasRoomFor``, ``isFull``, ``estimatedBytesWritten``,
since 0.10.2; ``DefaultRecord.sizeInBytes``, ``LegacyRecord.recordSize``, ``AbstractRecords.estimateSizeInBytesUpperBound``,
since 0.11.0.0; ``ByteUtils.sizeOfVarint``; ``ProducerBatch.tryAppend``, in 0.10 ``RecordBatch.tryAppend``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from kafka_reference.accumulator.behaviour import MemoryRecordsBuilderBehaviour
from kafka_reference.accumulator.ratios import compressed_estimate
from kafka_reference.arguments import checked
from kafka_reference.errors import IllegalArgumentException
from kafka_reference.java.int32 import int32

__all__ = [
    "BatchSize", "Headers", "SizedRecord", "batch_overhead", "buffer_size", "message_size", "record_size",
    "upper_bound", "utf8_length", "utf8_written", "varint_size", "varlong_size",
]  # fmt: skip

BATCH_OVERHEAD, MAX_RECORD_OVERHEAD, ENTRY_OVERHEAD = 61, 21, 12
_MESSAGE_OVERHEAD = {0: 14, 1: 22}

Headers: TypeAlias = Sequence[tuple[str, int | None]]


@checked
@dataclass(frozen=True, slots=True)
class SizedRecord:
    """A record by its lengths in bytes, None for null; ``timestamp`` in ms, an int64.

    >>> SizedRecord(key=3, value=100)
    SizedRecord(timestamp=0, key=3, value=100, headers=())
    """

    timestamp: int = 0
    key: int | None = None
    value: int | None = None
    headers: Headers = ()


def varint_size(value: int) -> int:
    """Return the bytes of an int32 as a zig-zag varint, 1 to 5. Mirrors ``ByteUtils.sizeOfVarint``."""
    return varlong_size(value)


def varlong_size(value: int) -> int:
    """Return the bytes of an int64 as a zig-zag varint, 1 to 10. Mirrors ``ByteUtils.sizeOfVarlong``."""
    return max(1, ((value << 1 ^ value >> 63).bit_length() + 6) // 7)


def _utf16(text: str) -> Sequence[int]:
    return memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H").tolist()


def utf8_length(text: str) -> int:
    """Return the declared bytes of a header's key. Mirrors ``Utils.utf8Length``."""
    if text.isascii():
        return len(text)
    units, position, size = _utf16(text), 0, 0
    while position < len(units):
        unit = units[position]
        high = unit & 0xFC00 == 0xD800
        size += 1 if unit < 0x80 else 2 if unit < 0x800 else 4 if high else 3
        position += 2 if high else 1
    return size


def utf8_written(text: str) -> int:
    """Return the written bytes of a header's key, one for a surrogate without its other half. Mirrors ``Utils.utf8``."""
    units = _utf16(text)
    pairs = sum(a & 0xFC00 == 0xD800 and b & 0xFC00 == 0xDC00 for a, b in pairwise(units))
    surrogates = sum(unit & 0xF800 == 0xD800 for unit in units)
    others = sum(1 if unit < 0x80 else 2 if unit < 0x800 else 3 for unit in units if unit & 0xF800 != 0xD800)
    return others + 4 * pairs + (surrogates - 2 * pairs)


def _field(length: int | None) -> int:
    return 1 if length is None else varint_size(length) + length


def _never_written(name: str) -> int:
    """Return the bytes that a record declares for this header key and does not write."""
    return 0 if name.isascii() else _field(utf8_length(name)) - _field(utf8_written(name))


def _fields(key: int | None, value: int | None, headers: Headers) -> int:
    size = _field(key) + _field(value) + varint_size(len(headers))
    return size + sum(_field(utf8_length(name)) + _field(length) for name, length in headers)


def record_size(
    offset_delta: int, timestamp_delta: int, key: int | None, value: int | None, headers: Headers = ()
) -> int:
    """Return the bytes of a record of magic 2, an int32; the deltas are int32 and int64.

    Mirrors ``DefaultRecord.sizeInBytes``.
    """
    deltas = varint_size(offset_delta) + varlong_size(timestamp_delta)
    body = int32(1 + deltas + _fields(key, value, headers))
    return int32(body + varint_size(body))


def message_size(magic: int, key: int | None, value: int | None) -> int:
    """Return the bytes of a message of magic 0 or 1 with its offset and size, an int32.

    Mirrors ``LegacyRecord.recordSize``, in 0.10 ``Record.recordSize``, and the ``LOG_OVERHEAD`` that is always added to it.
    """
    return int32(ENTRY_OVERHEAD + _MESSAGE_OVERHEAD[magic] + (key or 0) + (value or 0))


def batch_overhead(magic: int, compressed: bool) -> int:
    """Return the bytes of a batch before its first record. Mirrors ``AbstractRecords.recordBatchHeaderSizeInBytes``."""
    if magic == 2:
        return BATCH_OVERHEAD
    return ENTRY_OVERHEAD + _MESSAGE_OVERHEAD[magic] if compressed else 0


def upper_bound(
    behaviour: MemoryRecordsBuilderBehaviour,
    magic: int,
    compressed: bool,
    key: int | None,
    value: int | None,
    headers: Headers = (),
) -> int:
    """Return Kafka's upper bound of the bytes of a batch of this one record, an int32: see above for when it is too low.

    Mirrors ``AbstractRecords.estimateSizeInBytesUpperBound``; up to 0.10.2.x, ``LOG_OVERHEAD + Record.recordSize``.
    """
    if magic == 2:
        return int32(BATCH_OVERHEAD + MAX_RECORD_OVERHEAD + _fields(key, value, headers))
    wrapper = _MESSAGE_OVERHEAD[magic] if compressed and behaviour.bound_includes_wrapper else 0
    return int32(message_size(magic, key, value) + wrapper)


def buffer_size(
    behaviour: MemoryRecordsBuilderBehaviour,
    batch_size: int,
    first: SizedRecord,
    *,
    magic: int | None = None,
    compressed: bool = False,
) -> int:
    """Return the bytes of the buffer for a batch that begins with ``first``. Mirrors ``RecordAccumulator.append``."""
    magic = behaviour.newest_magic if magic is None else magic
    return max(batch_size, upper_bound(behaviour, magic, compressed, first.key, first.value, first.headers))


@dataclass(slots=True)
class BatchSize:
    """The size of a batch while it is filled, in bytes. Mirrors ``MemoryRecordsBuilder``, up to 0.10.1.x ``MemoryRecords``.

    ``batch_size`` is the configuration, ``buffer`` the size of its buffer, ``magic`` 0 to 2 (0.10 writes 1 only), and
    ``ratio`` the expected compression ratio, a 32-bit float, which counts if ``compressed``.
    """

    behaviour: MemoryRecordsBuilderBehaviour
    batch_size: int
    buffer: int
    magic: int = 2
    compressed: bool = False
    ratio: float = 1.0
    records: int = field(default=0, init=False)
    max_record_size: int = field(default=0, init=False)
    closed: bool = field(default=False, init=False)
    _counted: int = field(default=0, init=False)
    _written: int = field(default=0, init=False)
    _first_timestamp: int | None = field(default=None, init=False)

    def has_room_for(self, record: SizedRecord) -> bool:
        """Return whether the batch takes ``record``. Mirrors ``hasRoomFor``."""
        if self.closed or (self.full and not self.behaviour.empty_batch_may_be_full):
            return False
        together = self.estimated + self._size(record)
        return self.records == 0 or self._limit >= (
            together if self.behaviour.estimates_in_64_bits else int32(together)
        )

    def append(self, record: SizedRecord) -> None:
        """Add ``record``, with or without room for it. Mirrors ``append``.

        Raises IllegalArgumentException for headers in messages.
        """
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
        """Estimated bytes so far. Mirrors ``estimatedBytesWritten``, which ``estimatedSizeInBytes`` returns."""
        behaviour, overhead = self.behaviour, batch_overhead(self.magic, self.compressed)
        if not self.compressed:
            return overhead + (self._counted if behaviour.estimate_counts_declared_keys else self._written)
        packed = compressed_estimate(self._counted, self.ratio, 64 if behaviour.estimates_in_64_bits else 32)
        return int32(overhead + packed) if behaviour.estimate_includes_header else packed

    @property
    def full(self) -> bool:
        """Whether the batch takes no further record. Mirrors ``isFull``."""
        may_be = self.records > 0 or self.behaviour.empty_batch_may_be_full
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
        return self.batch_size if self.behaviour.limit_is_batch_size else self.buffer

    def _size(self, record: SizedRecord) -> int:
        if self.magic < 2:
            return message_size(self.magic, record.key, record.value)
        first = record.timestamp if self._first_timestamp is None else self._first_timestamp
        delta = ((record.timestamp - first + 2**63) & (2**64 - 1)) - 2**63
        return record_size(self.records, delta, record.key, record.value, record.headers)

    def _largest(self, record: SizedRecord) -> int:
        """The record's part in ``maxRecordSize``."""
        if not self.behaviour.largest_record_is_bound:
            return self._size(record) - ENTRY_OVERHEAD
        return upper_bound(self.behaviour, self.magic, self.compressed, record.key, record.value, record.headers)
