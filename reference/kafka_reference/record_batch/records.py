"""Records of magic 2: the fields behind the header of a batch.

A record is a varint with the size of its body, and the body: attributes (one byte), the deltas of timestamp (varlong) and
offset (varint), the sizes and bytes of key and value (size below 0: null), the number of headers, and of each header the
sizes and bytes of key and value.

``_well_formed`` reads well-formed records in one loop; the first one that is malformed is read again, field by field as Java
does, which gives the exception that Java throws.

Java source mirrored: ``DefaultRecord.readFrom`` and ``DefaultRecordBatch.RecordIterator``, since 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_reference.errors import IllegalArgumentException, JavaException, KafkaException
from kafka_reference.java.int32 import INT_MAX, int32
from kafka_reference.java.int64 import int64
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import EndOfInput, Stream
from kafka_reference.record_batch.errors import InvalidRecordException, StringIndexOutOfBoundsException
from kafka_reference.record_batch.types import NO_SEQUENCE, Header, Record
from kafka_reference.record_batch.varints import read_varint, read_varlong, size_of_varint

__all__ = [
    "PREMATURE_EOF",
    "STRUCTURE",
    "BatchFields",
    "end_of_stream",
    "ensure_none_remaining",
    "increment_sequence",
    "int8",
    "read_buffer",
    "read_size",
    "read_stream",
]

_LARGEST_ARRAY = INT_MAX - 8
_LONGEST_VARINT = 5
PREMATURE_EOF = "Incorrect declared batch size, premature EOF reached"
STRUCTURE = "Found invalid record structure"
_REMAINING = "Incorrect declared batch size, records still remaining in file"


@dataclass(frozen=True, slots=True)
class BatchFields:
    """The fields of a header from which records are computed."""

    count: int
    """The number of records, 0 or more."""
    base_offset: int
    """Added to the offset deltas."""
    base_timestamp: int
    """Added to the timestamp deltas, in ms."""
    base_sequence: int
    """The sequence of the first record; below 0: none."""
    log_append_time: int | None
    """The timestamp of all records in ms, if the broker sets it; else None."""


def increment_sequence(sequence: int, increment: int) -> int:
    """Return the sequence ``increment`` behind ``sequence``; 0 follows 2^31-1."""
    if sequence > int32(INT_MAX - increment):
        return int32(increment - (INT_MAX - sequence) - 1)
    return int32(sequence + increment)


def read_buffer(
    data: bytes, behind: int, fields: BatchFields, behaviour: RecordBatchBehaviour
) -> Iterator[Record | None]:
    """Yield the records of an uncompressed batch. Up to 3.0.0 a record may be None.

    ``data`` is what follows the header. ``behind`` is the number of bytes that follow in the array below the buffer: up to
    2.6.x the key of a header may end there.
    """
    if not fields.count:
        return
    records, position = _well_formed(data, 0, fields)
    yield from records[: fields.count - 1]
    for number in range(min(len(records) + 1, fields.count), fields.count + 1):
        record: Record | None
        if number == len(records):
            record = records[-1]
        else:
            record, position = _read_from_buffer(data, behind, position, fields, behaviour)
        if number == fields.count and position != len(data):
            raise InvalidRecordException(_REMAINING)
        yield record


def read_stream(stream: Stream, fields: BatchFields, behaviour: RecordBatchBehaviour) -> Iterator[Record]:
    """Yield the records of a compressed batch."""
    if not fields.count:
        return
    stream = stream.seen_by(_reads(stream.data, fields.count))
    records, position = _well_formed(stream.data, 0, fields)
    yield from records[: fields.count - 1]
    if len(records) < fields.count:
        _fail_to_read(stream, position, fields, behaviour)
    ensure_none_remaining(stream, position)
    yield records[-1]


def _reads(data: bytes, count: int) -> Iterator[tuple[int, int]]:
    # The position and size of each read of a stream: the bytes of a record's size, its body, one byte behind the last one.
    position = 0
    for _ in range(count):
        try:
            size, body = read_varint(data, position)
        except (IndexError, IllegalArgumentException):
            size, body = -1, position + _LONGEST_VARINT
        yield position, body - position
        if size < 0:  # unreached: no question has a wrong size of a record before a fault of its codec
            return
        yield body, size
        position = body + size
    yield position, 1


def ensure_none_remaining(stream: Stream, position: int) -> None:
    """Raise what Java throws unless the stream ends at ``position``: InvalidRecordException or KafkaException."""
    if position < len(stream.data):
        raise InvalidRecordException(_REMAINING)
    if isinstance(stream.fault, JavaException):
        raise stream.fault
    if stream.fault is not None:
        raise KafkaException("Error checking for remaining bytes after reading batch")


def _well_formed(  # noqa: C901  a loop without calls: this is what takes the time
    data: bytes, position: int, fields: BatchFields
) -> tuple[list[Record], int]:
    # All records up to the first malformed one, and where that starts.
    base_offset, base_timestamp = fields.base_offset, fields.base_timestamp
    base_sequence, log_append_time = fields.base_sequence, fields.log_append_time
    records: list[Record] = []
    append, end, length, start = records.append, position, len(data), position
    try:
        for _ in range(fields.count):
            start = end
            size = data[start]
            position = start + 1
            if size & 0x80:
                size, position = read_varint(data, start)
            else:
                size = size >> 1 ^ -(size & 1)
            end = position + size
            if end > length or size < 0:
                break
            attributes = data[position]
            byte = data[position + 1]
            if byte & 0x80:
                timestamp, position = read_varlong(data, position + 1)
            else:
                timestamp = byte >> 1 ^ -(byte & 1)
                position += 2
            byte = data[position]
            if byte & 0x80:
                delta, position = read_varint(data, position)
            else:
                delta = byte >> 1 ^ -(byte & 1)
                position += 1
            byte = data[position]
            if byte & 0x80:
                byte, position = read_varint(data, position)
            else:
                byte = byte >> 1 ^ -(byte & 1)
                position += 1
            if byte >= 0:
                key: bytes | None = data[position : position + byte]
                position += byte
            else:
                key = None
            byte = data[position]
            if byte & 0x80:
                byte, position = read_varint(data, position)
            else:
                byte = byte >> 1 ^ -(byte & 1)
                position += 1
            if byte >= 0:
                value: bytes | None = data[position : position + byte]
                position += byte
            else:
                value = None
            if data[position]:
                headers, position = _well_formed_headers(data, position)
            else:
                headers = ()
                position += 1
            if position != end:
                break
            append(
                Record(
                    int64(base_offset + delta),
                    int64(base_timestamp + timestamp) if log_append_time is None else log_append_time,
                    NO_SEQUENCE if base_sequence < 0 else increment_sequence(base_sequence, delta),
                    key,
                    value,
                    headers,
                    int8(attributes),
                    size + 1 if size < 64 else size_of_varint(size) + size,
                )
            )
        else:
            return records, end
    except (IndexError, IllegalArgumentException):
        pass
    return records, start


def int8(byte: int) -> int:
    """Return an unsigned byte as Java's byte, -128 to 127."""
    return byte - 256 if byte & 0x80 else byte


def _well_formed_headers(data: bytes, position: int) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(data, position)
    if count < 0:
        raise IndexError
    headers = []
    for _ in range(count):
        size, position = read_varint(data, position)
        if size < 0:
            raise IndexError
        key = data[position : position + size]
        size, position = read_varint(data, position + size)
        value = data[position : position + size] if size >= 0 else None
        position += max(size, 0)
        headers.append(Header(key, value))
    return tuple(headers), position


def _read_from_buffer(
    data: bytes, behind: int, position: int, fields: BatchFields, behaviour: RecordBatchBehaviour
) -> tuple[Record | None, int]:
    try:
        size, position = read_varint(data, position)
    except IndexError:
        raise InvalidRecordException(PREMATURE_EOF) from None
    remaining = len(data) - position
    if remaining < size:
        if behaviour.incomplete_record_is_null:
            return None, position
        raise InvalidRecordException(
            f"Invalid record size: expected {size} bytes in record payload, but instead the buffer has only "
            f"{remaining} remaining bytes."
        )
    return _read_body(data, len(data) + behind, position, size, fields, behaviour)


def read_size(stream: Stream, position: int, behaviour: RecordBatchBehaviour) -> tuple[int, int]:
    """Return the size of the body of a compressed record, in bytes, and the position behind it. It may be negative."""
    try:
        size, position = read_varint(stream.data, position)
    except IndexError:
        raise end_of_stream(stream, behaviour, PREMATURE_EOF) from None
    except IllegalArgumentException:
        raise _illegal_size(behaviour) from None
    if behaviour.negative_size_checked and size < 0:
        raise InvalidRecordException(f"Invalid record size: {size} is negative.")
    if behaviour.negative_size_checked and size > _LARGEST_ARRAY:  # unreached: other releases allocate such an array
        raise InvalidRecordException(
            f"Invalid record size: {size} exceeds the configured maximum record size of {_LARGEST_ARRAY}."
        )
    return size, position


def _illegal_size(behaviour: RecordBatchBehaviour) -> JavaException:
    return IllegalArgumentException() if behaviour.stream_of_data_input else InvalidRecordException(PREMATURE_EOF)


def _fail_to_read(stream: Stream, position: int, fields: BatchFields, behaviour: RecordBatchBehaviour) -> None:
    # Raise what Java throws for the malformed record at ``position``.
    size, position = read_size(stream, position, behaviour)
    if size < 0:
        raise _illegal_size(behaviour)
    body = stream.data[position : position + size]
    if len(body) < size:
        raise end_of_stream(
            stream,
            behaviour,
            PREMATURE_EOF
            if behaviour.stream_of_data_input
            else f"Invalid record size: expected {size} bytes in record payload, but the record payload reached EOF.",
        )
    _read_body(body, size, 0, size, fields, behaviour)


def end_of_stream(stream: Stream, behaviour: RecordBatchBehaviour, message: str) -> JavaException:
    """Return the exception of a read behind the end of the stream, with ``message`` if the stream has no fault."""
    if isinstance(stream.fault, JavaException):
        return stream.fault
    if stream.fault is None or (behaviour.stream_of_data_input and isinstance(stream.fault, EndOfInput)):
        return InvalidRecordException(message if stream.fault is None else PREMATURE_EOF)
    return KafkaException("Failed to decompress record stream")


def _read_body(
    buffer: bytes, array_end: int, start: int, size: int, fields: BatchFields, behaviour: RecordBatchBehaviour
) -> tuple[Record, int]:
    # The body is bounded by the end of the buffer, not by ``size``: that is checked in the end.
    try:
        attributes = buffer[start]
        timestamp, position = read_varlong(buffer, start + 1)
        delta, position = read_varint(buffer, position)
        key, position = _read_bytes(buffer, position)
        value, position = _read_bytes(buffer, position)
        headers, position = _read_headers(buffer, array_end, position, behaviour)
    except (IndexError, IllegalArgumentException) as error:
        if isinstance(error, StringIndexOutOfBoundsException):
            raise
        raise InvalidRecordException(STRUCTURE) from None
    if position - start != size:
        raise InvalidRecordException(
            f"Invalid record size: expected to read {size} bytes in record payload, but instead read {position - start}"
        )
    record = Record(
        int64(fields.base_offset + delta),
        int64(fields.base_timestamp + timestamp) if fields.log_append_time is None else fields.log_append_time,
        NO_SEQUENCE if fields.base_sequence < 0 else increment_sequence(fields.base_sequence, delta),
        key,
        value,
        headers,
        int8(attributes),
        size_of_varint(size) + size,
    )
    return record, position


def _read_bytes(buffer: bytes, position: int) -> tuple[bytes | None, int]:
    size, position = read_varint(buffer, position)
    if size < 0:
        return None, position
    if size > len(buffer) - position:
        raise IndexError
    return buffer[position : position + size], position + size


def _read_headers(
    buffer: bytes, array_end: int, position: int, behaviour: RecordBatchBehaviour
) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(buffer, position)
    if count < 0:
        raise InvalidRecordException(f"Found invalid number of record headers {count}")
    if behaviour.header_count_bounded and count > len(buffer) - position:
        raise InvalidRecordException(
            f"Found invalid number of record headers. {count} is larger than the remaining size of the buffer"
        )
    headers = []
    for _ in range(count):
        size, at = read_varint(buffer, position)
        if size < 0:
            raise InvalidRecordException(f"Invalid negative header key size {size}")
        if behaviour.header_keys_decoded and size > array_end - at:
            raise StringIndexOutOfBoundsException
        key, position = _read_bytes(buffer, position)
        value, position = _read_bytes(buffer, position)
        headers.append(Header(key or b"", value))
    return tuple(headers), position
