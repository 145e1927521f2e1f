"""Messages of magic 0 and 1: each is a batch of one message, or a wrapper of compressed messages.

An offset (int64) and a size (int32) precede the message: its CRC-32, magic, attributes, with magic 1 a timestamp in ms, and
key and value, each behind its size as int32 (below 0: null). The value of a wrapper is a compressed series of messages.
Their offsets are absolute with magic 0, and relative to the first with magic 1; the offset of the wrapper is that of its
last message.

Java source mirrored: ``LegacyRecord`` and ``AbstractLegacyRecordBatch``, since 0.11.0.0.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from struct import Struct
from typing import ClassVar

from kafka_reference.errors import IllegalArgumentException, JavaException, KafkaException
from kafka_reference.java.int32 import int32
from kafka_reference.java.int64 import int64
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs import Stream, open_stream
from kafka_reference.record_batch.default import LOG_OVERHEAD, codec_of
from kafka_reference.record_batch.errors import (
    CorruptRecordException,
    IndexOutOfBoundsException,
    InvalidRecordException,
)
from kafka_reference.record_batch.types import (
    NO_EPOCH,
    NO_PARTITION_LEADER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    Codec,
    Header,
    TimestampType,
)

__all__ = ["OVERHEAD", "LegacyBatch", "Message"]

OVERHEAD = {0: 14, 1: 22}
_MAGIC, _ATTRIBUTES, _TIMESTAMP, _KEY = 4, 5, 6, {0: 6, 1: 14}
_LOG_APPEND_TIME = 0x08
_BYTE, _INT32, _UINT32, _INT64 = Struct(">b"), Struct(">i"), Struct(">I"), Struct(">q")


@dataclass(frozen=True, slots=True)
class Message:
    """A message, which is a record with the fields of :class:`Record`, each read when asked for.

    ``data`` starts behind offset and size. ``wrapper_timestamp`` in ms and ``wrapper_type`` are those of the wrapper that a
    message of magic 1 was in, else None.
    """

    offset: int
    data: bytes
    behaviour: RecordBatchBehaviour
    wrapper_timestamp: int | None = None
    wrapper_type: TimestampType | None = None

    sequence: ClassVar[int] = NO_SEQUENCE
    headers: ClassVar[tuple[Header, ...]] = ()

    def _read(self, field: Struct, position: int) -> int:
        if not 0 <= position <= len(self.data) - field.size:
            raise IndexOutOfBoundsException
        number: int = field.unpack_from(self.data, position)[0]
        return number

    def _sized(self, position: int) -> bytes | None:
        size = self._read(_INT32, position)
        if size < 0:
            return None
        if size > len(self.data) - position - 4:
            raise IllegalArgumentException
        return self.data[position + 4 : position + 4 + size]

    @property
    def magic(self) -> int:
        """The version of the format."""
        return self._read(_BYTE, _MAGIC)

    @property
    def attributes(self) -> int:
        """Codec (bits 0 to 2) and timestamp type (bit 3, magic 1), as Java's byte."""
        return self._read(_BYTE, _ATTRIBUTES)

    @property
    def codec(self) -> Codec:
        """How the value is compressed."""
        return codec_of(self.attributes, self.behaviour)

    @property
    def timestamp(self) -> int:
        """The timestamp in ms: that of the wrapper if the broker set it; -1 with magic 0."""
        if self.magic == 0:
            return NO_TIMESTAMP
        if self.wrapper_type is TimestampType.LOG_APPEND_TIME and self.wrapper_timestamp is not None:
            return self.wrapper_timestamp
        return self._read(_INT64, _TIMESTAMP)

    @property
    def timestamp_type(self) -> TimestampType:
        """Where the timestamp comes from: the type of the wrapper, if there is one."""
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP_TYPE
        if self.wrapper_type is not None:
            return self.wrapper_type
        return TimestampType.LOG_APPEND_TIME if self.attributes & _LOG_APPEND_TIME else TimestampType.CREATE_TIME

    @property
    def _key_position(self) -> int:
        return _KEY[0] if self.magic == 0 else _KEY[1]

    @property
    def _value_position(self) -> int:
        return int32(self._key_position + 4 + max(0, self.key_size))

    @property
    def key_size(self) -> int:
        """The size of the key in bytes as it is written, below 0 if the key is null."""
        return self._read(_INT32, self._key_position)

    @property
    def value_size(self) -> int:
        """The size of the value in bytes as it is written, below 0 if the value is null."""
        return self._read(_INT32, self._value_position)

    @property
    def key(self) -> bytes | None:
        """The key. Raises IllegalArgumentException or IndexOutOfBoundsException if the message ends before it does."""
        return self._sized(self._key_position)

    @property
    def value(self) -> bytes | None:
        """The value; raises as ``key`` does."""
        return self._sized(self._value_position)

    @property
    def size(self) -> int:
        """The size of message, offset and size in bytes."""
        return len(self.data) + LOG_OVERHEAD

    @property
    def checksum(self) -> int:
        """The stored CRC."""
        return self._read(_UINT32, 0)

    def computed_checksum(self) -> int:
        """Return the CRC that the message should have."""
        return zlib.crc32(self.data[_MAGIC:])

    @property
    def valid(self) -> bool:
        """Whether the message is large enough and its CRC matches."""
        return len(self.data) >= OVERHEAD[0] and self.checksum == self.computed_checksum()


class LegacyBatch:
    """A message or a wrapper of messages in ``data`` from ``start`` to ``end``."""

    __slots__ = ("_behaviour", "end", "message", "start")

    producer_id = NO_PRODUCER_ID
    producer_epoch = NO_EPOCH
    base_sequence = NO_SEQUENCE
    last_sequence = NO_SEQUENCE
    partition_leader_epoch = NO_PARTITION_LEADER_EPOCH
    record_count = None
    delete_horizon_ms = None
    transactional = False
    control = False

    def __init__(self, data: bytes, start: int, end: int, behaviour: RecordBatchBehaviour) -> None:
        self.start, self.end, self._behaviour = start, end, behaviour
        offset: int = _INT64.unpack_from(data, start)[0]
        self.message = Message(offset, data[start + LOG_OVERHEAD : end], behaviour)

    @property
    def magic(self) -> int:
        """The version of the format, 0 or 1."""
        return self.message.magic

    @property
    def size_in_bytes(self) -> int:
        """The size of message, offset and size in bytes."""
        return self.end - self.start

    @property
    def base_offset(self) -> int:
        """The offset of the first message; a wrapper is decompressed for it."""
        return self.message.offset if self.codec is Codec.NONE else next(self.records()).offset

    @property
    def last_offset(self) -> int:
        """The offset of the last message."""
        return self.message.offset

    @property
    def next_offset(self) -> int:
        """The offset behind the last one."""
        return int64(self.message.offset + 1)

    @property
    def max_timestamp(self) -> int:
        """The highest timestamp in ms, -1 with magic 0."""
        return self.message.timestamp

    @property
    def timestamp_type(self) -> TimestampType:
        """Where the timestamps come from."""
        return self.message.timestamp_type

    @property
    def attributes(self) -> int:  # unreached: for tools
        """The attributes of the message or wrapper."""
        return self.message.attributes

    @property
    def codec(self) -> Codec:
        """How the messages of a wrapper are compressed; NONE for a message."""
        return self.message.codec

    @property
    def checksum(self) -> int:
        """The stored CRC."""
        return self.message.checksum

    def valid(self) -> bool:
        """Return whether the CRC matches."""
        return self.message.valid

    def ensure_valid(self) -> None:
        """Raise CorruptRecordException (up to 2.3.x InvalidRecordException) unless the CRC matches."""
        if not self.valid():
            error = InvalidRecordException if self._behaviour.wrong_crc_is_invalid_record else CorruptRecordException
            raise error(
                f"Record is corrupt (stored crc = {self.checksum}, computed crc = {self.message.computed_checksum()})"
            )

    def records(self) -> Iterator[Message]:
        """Return an iterator over the message, or over those of the wrapper, which is decompressed at once."""
        return iter((self.message,)) if self.codec is Codec.NONE else self._unwrapped(self._inner_messages())

    def streaming_records(self) -> Iterator[Message]:
        """Return the iterator of ``records``."""
        return self.records()

    def skipping_records(self) -> Iterator[Message]:
        """Return the iterator of ``records``."""
        return self.records()

    def _inner_messages(self) -> list[Message]:
        # The messages of the wrapper with absolute offsets.
        wrapper, codec = self.message, self.codec
        if codec is Codec.ZSTD:
            raise InvalidRecordException(
                f"Invalid wrapper compressionType found in legacy deep record iterator {wrapper.magic}"
            )
        value = wrapper.value
        if value is None:
            raise InvalidRecordException(
                f"Found invalid compressed record set with null value (magic = {wrapper.magic})"
            )
        stream = open_stream(codec, value, wrapper.magic, self._behaviour)
        timestamp, timestamp_type = wrapper.timestamp, wrapper.timestamp_type
        messages = []
        for offset, data in _split(stream):
            message = Message(offset, data, self._behaviour)
            if message.magic == 1:
                message = Message(offset, data, self._behaviour, timestamp, timestamp_type)
            messages.append(message)
        if not messages:
            raise InvalidRecordException("Found invalid compressed record set with no inner records")
        if wrapper.magic == 0:
            return messages
        base = self._base_of_inner_offsets(messages[-1].offset)
        return [replace(message, offset=int64(base + message.offset)) for message in messages]

    def _base_of_inner_offsets(self, last: int) -> int:
        if self.message.offset == 0:  # written by a producer that leaves the offset to the broker
            return 0
        if self.message.offset < last:
            raise InvalidRecordException(
                f"Found invalid wrapper offset in compressed v1 message set, wrapper offset '{self.message.offset}' is "
                f"less than the last inner message offset '{last}' and it is not zero."
            )
        return int64(self.message.offset - last)

    @staticmethod
    def _unwrapped(messages: list[Message]) -> Iterator[Message]:
        for message in messages:
            if message.codec is not Codec.NONE:
                raise InvalidRecordException("Inner messages must not be compressed")
            yield message


def _split(stream: Stream) -> Iterator[tuple[int, bytes]]:
    # The offsets and bytes of the messages in a stream. A message that is cut off ends the series.
    stream = stream.seen_by(_reads(stream.data))
    data, position = stream.data, 0
    while len(data) - position >= LOG_OVERHEAD:
        offset = _INT64.unpack_from(data, position)[0]
        size = _INT32.unpack_from(data, position + 8)[0]
        if size < OVERHEAD[0]:
            raise CorruptRecordException(f"Record size is less than the minimum record overhead ({OVERHEAD[0]})")
        position += LOG_OVERHEAD
        if len(data) - position < size:
            break
        yield offset, data[position : position + size]
        position += size
    if isinstance(stream.fault, JavaException):
        raise stream.fault
    if stream.fault is not None:
        raise KafkaException


def _reads(data: bytes) -> Iterator[tuple[int, int]]:
    # The position and size of each read of a stream: offset and size of a message, then the message.
    position = 0
    while True:
        yield position, LOG_OVERHEAD
        size = _INT32.unpack_from(data, position + 8)[0]
        position += LOG_OVERHEAD
        yield position, size
        position += max(size, 0)
