"""Records of a compressed batch, without their keys, values and headers.

Up to 3.5.x the record is bounded by its size, and read through a buffer of 2 KB. Since 3.6.0 the size only counts for
``SkippedRecord.size``: the fields say where the record ends, so a wrong size is not found.

Java source mirrored: ``DefaultRecord.readPartiallyFrom``, since 2.4.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_reference.errors import IllegalArgumentException, JavaException
from kafka_reference.java.int32 import int32
from kafka_reference.java.int64 import int64
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import Stream
from kafka_reference.record_batch.errors import InvalidRecordException
from kafka_reference.record_batch.records import (
    PREMATURE_EOF,
    STRUCTURE,
    BatchFields,
    end_of_stream,
    ensure_none_remaining,
    increment_sequence,
    int8,
    read_size,
)
from kafka_reference.record_batch.types import NO_SEQUENCE, SkippedRecord
from kafka_reference.record_batch.varints import read_varint, read_varlong, size_of_varint

__all__ = ["skip_stream"]

_BUFFER = 2048


class _EndOfData(Exception):
    """The stream ends within a field that is skipped."""


def skip_stream(stream: Stream, fields: BatchFields, behaviour: RecordBatchBehaviour) -> Iterator[SkippedRecord]:
    """Yield the records of a compressed batch."""
    stream, position = stream.seen_in_chunks(), 0
    for number in range(1, fields.count + 1):
        size, position = read_size(stream, position, behaviour)
        read = _skip_bounded if behaviour.skipping_checks_size else _skip
        record, position = read(stream, position, size, fields, behaviour)
        if number == fields.count:
            ensure_none_remaining(stream, position)
        yield record


def _skip(
    stream: Stream, start: int, size: int, fields: BatchFields, behaviour: RecordBatchBehaviour
) -> tuple[SkippedRecord, int]:
    data = stream.data
    try:
        attributes = data[start]
        timestamp, position = read_varlong(data, start + 1)
        delta, position = read_varint(data, position)
        key_size, position = read_varint(data, position)
        position = _skipped(data, position, key_size)
        value_size, position = read_varint(data, position)
        position = _skipped(data, position, value_size)
        count, position = read_varint(data, position)
        if count < 0:
            raise InvalidRecordException(f"Found invalid number of record headers {count}")
        for _ in range(count):
            header_key_size, position = read_varint(data, position)
            if header_key_size < 0:
                raise InvalidRecordException(f"Invalid negative header key size {header_key_size}")
            position = _skipped(data, position, header_key_size)
            header_value_size, position = read_varint(data, position)
            position = _skipped(data, position, header_value_size)
    except IllegalArgumentException:
        raise InvalidRecordException(STRUCTURE) from None
    except JavaException:
        raise
    except IndexError:
        raise end_of_stream(stream, behaviour, STRUCTURE) from None
    except _EndOfData:
        raise end_of_stream(stream, behaviour, "Reached end of input stream before skipping all bytes.") from None
    return _record(fields, attributes, timestamp, delta, key_size, value_size, size), position


def _skipped(data: bytes, position: int, size: int) -> int:
    if size <= 0:
        return position
    if position + size > len(data):
        raise _EndOfData
    return position + size


def _record(
    fields: BatchFields, attributes: int, timestamp: int, delta: int, key_size: int, value_size: int, size: int
) -> SkippedRecord:
    return SkippedRecord(
        int64(fields.base_offset + delta),
        int64(fields.base_timestamp + timestamp) if fields.log_append_time is None else fields.log_append_time,
        NO_SEQUENCE if fields.base_sequence < 0 else increment_sequence(fields.base_sequence, delta),
        key_size,
        value_size,
        int8(attributes),
        int32(size_of_varint(size) + size),
    )


def _skip_bounded(
    stream: Stream, start: int, size: int, fields: BatchFields, behaviour: RecordBatchBehaviour
) -> tuple[SkippedRecord, int]:
    window = _Window(stream, start, size, behaviour)
    try:
        attributes = window.byte()
        timestamp = window.varlong()
        delta = window.varint()
        key_size = window.skip_field()
        value_size = window.skip_field()
        count = window.varint()
        if count < 0:
            raise InvalidRecordException(f"Found invalid number of record headers {count}")
        for _ in range(count):
            header_key_size = window.skip_field()
            if header_key_size < 0:
                raise InvalidRecordException(f"Invalid negative header key size {header_key_size}")
            window.skip_field()
    except IllegalArgumentException:
        raise InvalidRecordException(STRUCTURE) from None
    except JavaException:
        raise
    except IndexError:
        raise InvalidRecordException(STRUCTURE) from None
    if window.remaining > 0 or window.limit > window.position:
        raise InvalidRecordException(
            f"Invalid record size: expected to read {size} bytes in record payload, but there are still bytes remaining"
        )
    return _record(fields, attributes, timestamp, delta, key_size, value_size, size), window.limit


class _Window:
    """The part of a record that is in the buffer: ``position`` to ``limit`` of the stream; ``remaining`` bytes follow."""

    def __init__(self, stream: Stream, start: int, size: int, behaviour: RecordBatchBehaviour) -> None:
        self._stream, self._behaviour = stream, behaviour
        self.position = self.limit = start
        self.remaining = size

    def _fill(self, wanted: int) -> None:
        if self.limit - self.position < wanted and self.remaining > 0:
            self._read_more()

    def _read_more(self) -> None:
        if self.remaining <= 0:
            raise InvalidRecordException("Invalid record size: expected to read more bytes in record payload")
        read = min(self.remaining, _BUFFER - (self.limit - self.position))
        if self.limit + read > len(self._stream.data):
            raise end_of_stream(self._stream, self._behaviour, PREMATURE_EOF)
        self.limit += read
        self.remaining -= read

    def byte(self) -> int:
        self._fill(1)
        if self.position >= self.limit:
            raise IndexError
        self.position += 1
        return self._stream.data[self.position - 1]

    def varint(self) -> int:
        self._fill(5)
        number, self.position = read_varint(self._stream.data[: self.limit], self.position)
        return number

    def varlong(self) -> int:
        self._fill(10)
        number, self.position = read_varlong(self._stream.data[: self.limit], self.position)
        return number

    def skip_field(self) -> int:
        """Skip a field behind its size, and return the size."""
        while self.limit - self.position < 5 and self.remaining > 0:
            self._read_more()
        size, self.position = read_varint(self._stream.data[: self.limit], self.position)
        left = size
        while left > self.limit - self.position:
            left -= self.limit - self.position
            self.position = self.limit
            self._read_more()
        self.position += max(left, 0)
        return size
