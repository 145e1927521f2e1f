"""Batches of magic 2.

======== ====== ========================================================================
position bytes  field
======== ====== ========================================================================
0        8      base offset
8        4      size of what follows
12       4      partition leader epoch
16       1      magic
17       4      CRC-32C of what follows
21       2      attributes: codec (bits 0 to 2), timestamp type (3), transactional (4), control (5), delete horizon (6)
23       4      delta of the last offset
27       8      base timestamp, ms
35       8      highest timestamp, ms
43       8      producer id
51       2      producer epoch
53       4      base sequence
57       4      number of records
61              records, compressed together
======== ====== ========================================================================

Java source mirrored: ``org.apache.kafka.common.record.DefaultRecordBatch``, since 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from crc32c import crc32c

from kafka_reference.errors import IllegalArgumentException
from kafka_reference.java.int32 import int32
from kafka_reference.java.int64 import int64
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import Stream, open_stream
from kafka_reference.record_batch.errors import (
    CorruptRecordException,
    IndexOutOfBoundsException,
    InvalidRecordException,
)
from kafka_reference.record_batch.records import (
    BatchFields,
    increment_sequence,
    read_buffer,
    read_stream,
)
from kafka_reference.record_batch.skipping import skip_stream
from kafka_reference.record_batch.types import NO_SEQUENCE, Codec, Record, SkippedRecord, TimestampType

__all__ = ["ATTRIBUTES", "CRC", "OVERHEAD", "DefaultBatch", "codec_of"]

CRC, ATTRIBUTES, RECORDS = 17, 21, 61
OVERHEAD = RECORDS
LOG_OVERHEAD = 12
_CODEC, _LOG_APPEND_TIME, _TRANSACTIONAL, _CONTROL, _DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
_BYTE, _INT16, _INT32, _UINT32, _INT64 = Struct(">b"), Struct(">h"), Struct(">i"), Struct(">I"), Struct(">q")


def codec_of(attributes: int, behaviour: RecordBatchBehaviour) -> Codec:
    """Return the codec in the low bits of ``attributes``. Raises IllegalArgumentException for an unknown one."""
    number = attributes & _CODEC
    if number > (Codec.ZSTD if behaviour.zstd else Codec.LZ4):
        raise IllegalArgumentException(f"Unknown compression type id: {number}")
    return Codec(number)


class DefaultBatch:
    """A batch of magic 2 in ``data`` from ``start`` to ``end``.

    Fields are read when asked for: a batch may be too short for its header, which gives IndexOutOfBoundsException.
    """

    __slots__ = ("_behaviour", "_data", "end", "start")

    def __init__(self, data: bytes, start: int, end: int, behaviour: RecordBatchBehaviour) -> None:
        self._data, self.start, self.end, self._behaviour = data, start, end, behaviour

    def _read(self, field: Struct, position: int) -> int:
        position += self.start
        if position + field.size > self.end:
            raise IndexOutOfBoundsException
        number: int = field.unpack_from(self._data, position)[0]
        return number

    @property
    def magic(self) -> int:
        """The version of the format, 2."""
        return self._read(_BYTE, 16)

    @property
    def size_in_bytes(self) -> int:
        """The size of the whole batch in bytes."""
        return int32(LOG_OVERHEAD + self._read(_INT32, 8))

    @property
    def base_offset(self) -> int:
        """The offset of the first record; it stays when compaction removes records."""
        return self._read(_INT64, 0)

    @property
    def last_offset(self) -> int:
        """The offset of the last record; it stays when compaction removes records."""
        return int64(self.base_offset + self._read(_INT32, 23))

    @property
    def next_offset(self) -> int:
        """The offset behind the last one."""
        return int64(self.last_offset + 1)

    @property
    def partition_leader_epoch(self) -> int:
        """The epoch of the leader that wrote the batch, -1 for none."""
        return self._read(_INT32, 12)

    @property
    def checksum(self) -> int:
        """The stored CRC."""
        return self._read(_UINT32, CRC)

    @property
    def attributes(self) -> int:
        """The low byte of the attributes, as Java's byte; the high byte is not used."""
        self._read(_INT16, ATTRIBUTES)
        return self._read(_BYTE, ATTRIBUTES + 1)

    @property
    def codec(self) -> Codec:
        """How the records are compressed."""
        return codec_of(self.attributes, self._behaviour)

    @property
    def timestamp_type(self) -> TimestampType:
        """Where the timestamps come from."""
        return TimestampType.LOG_APPEND_TIME if self.attributes & _LOG_APPEND_TIME else TimestampType.CREATE_TIME

    @property
    def transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & _TRANSACTIONAL)

    @property
    def control(self) -> bool:
        """Whether the records are control records."""
        return bool(self.attributes & _CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """From when on compaction removes tombstones and markers of the batch, in ms; None if it is not set."""
        if self._behaviour.delete_horizon and self.attributes & _DELETE_HORIZON:
            return self.base_timestamp
        return None

    @property
    def base_timestamp(self) -> int:
        """The timestamp that the deltas of the records are added to, in ms."""
        return self._read(_INT64, 27)

    @property
    def max_timestamp(self) -> int:
        """The highest timestamp in ms; that of all records with LOG_APPEND_TIME."""
        return self._read(_INT64, 35)

    @property
    def producer_id(self) -> int:
        """The id of an idempotent producer, else -1."""
        return self._read(_INT64, 43)

    @property
    def producer_epoch(self) -> int:
        """The epoch of an idempotent producer, else -1."""
        return self._read(_INT16, 51)

    @property
    def base_sequence(self) -> int:
        """The sequence of the first record, -1 without an idempotent producer."""
        return self._read(_INT32, 53)

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record, -1 without an idempotent producer."""
        base = self.base_sequence
        return base if base == NO_SEQUENCE else increment_sequence(base, self._read(_INT32, 23))

    @property
    def record_count(self) -> int:
        """The number of records."""
        return self._read(_INT32, 57)

    def computed_checksum(self) -> int:
        """Return the CRC that the batch should have."""
        return int(crc32c(memoryview(self._data)[self.start + ATTRIBUTES : self.end]))

    def valid(self) -> bool:
        """Return whether the batch is large enough and its CRC matches."""
        return self.size_in_bytes >= OVERHEAD and self.checksum == self.computed_checksum()

    def ensure_valid(self) -> None:
        """Raise CorruptRecordException (up to 2.3.x InvalidRecordException) unless the batch is valid."""
        error = InvalidRecordException if self._behaviour.wrong_crc_is_invalid_record else CorruptRecordException
        if self.size_in_bytes < OVERHEAD:
            raise error(
                f"Record batch is corrupt (the size {self.size_in_bytes} is smaller than the minimum allowed overhead "
                f"{OVERHEAD})"
            )
        if not self.valid():
            raise error(f"Record is corrupt (stored crc = {self.checksum}, computed crc = {self.computed_checksum()})")

    def records(self) -> Iterator[Record | None]:
        """Return an iterator over the records; a compressed batch is read whole first. A record is None up to 3.0.0 only."""
        if self.record_count == 0:
            return iter(())
        records = self.streaming_records()
        return records if self.codec is Codec.NONE else iter(list(records))

    def streaming_records(self) -> Iterator[Record | None]:
        """Return an iterator that reads each record when it is asked for."""
        if self.codec is Codec.NONE:
            self._check_header()
            return read_buffer(
                self._data[self.start + RECORDS : self.end], len(self._data) - self.end, self._fields(), self._behaviour
            )
        stream = self._stream()
        return read_stream(stream, self._fields(), self._behaviour)

    def skipping_records(self) -> Iterator[Record | SkippedRecord | None]:
        """Return an iterator that skips keys, values and headers if the batch is compressed. Since 2.4.0."""
        if self.record_count == 0:
            return iter(())
        if self.codec is Codec.NONE:
            return self.streaming_records()
        stream = self._stream()
        return skip_stream(stream, self._fields(), self._behaviour)

    def _check_header(self) -> None:
        if self.end - self.start < RECORDS:
            raise IllegalArgumentException

    def _stream(self) -> Stream:
        self._check_header()
        return open_stream(self.codec, self._data[self.start + RECORDS : self.end], self.magic, self._behaviour)

    def _fields(self) -> BatchFields:
        count = self.record_count
        if count < 0:
            raise InvalidRecordException(f"Found invalid record count {count} in magic v{self.magic} batch")
        log_append_time = self.max_timestamp if self.timestamp_type is TimestampType.LOG_APPEND_TIME else None
        return BatchFields(count, self.base_offset, self.base_timestamp, self.base_sequence, log_append_time)
