"""Write batches part by part, so that each part can be wrong.

The formats are a second, plain implementation: a mistake in the reference must not choose the questions that do not show
it. Compressed bytes are the simplest that each format allows: literals, and blocks that are not compressed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafka_reference.java.crc32c import crc32c

__all__ = [
    "CODECS", "HEADER", "Message", "RawBatch", "compressed", "message_set", "raw_record", "varint", "wire_headers",
]  # fmt: skip

HEADER = 61
"""The bytes of a batch's header."""
_LZ4_MAGIC, _LZ4_FLAGS = bytes.fromhex("04224d18"), bytes.fromhex("6040")
_LZ4_CHECKSUM, _LZ4_CHECKSUM_OF_MAGIC_0 = b"\x82", b"\x1a"
_BLOCK = 1 << 16


def varint(value: int) -> bytes:
    """Return a zig-zag varint of any width."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    found = bytearray()
    while rest > 0x7F:
        found.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*found, rest])


def _field(data: bytes | None) -> list[bytes]:
    return [varint(-1), b""] if data is None else [varint(len(data)), data]


def wire_headers(headers: Sequence[tuple[bytes, bytes | None]]) -> list[bytes]:
    """Return the count of headers, then length and bytes of each key and value."""
    return [varint(len(headers)), *(part for key, value in headers for part in (*_field(key), *_field(value)))]


def raw_record(
    key: bytes | None = None,
    value: bytes | None = None,
    headers: Sequence[tuple[bytes, bytes | None]] = (),
    *,
    timestamp_delta: int = 0,
    offset_delta: int = 0,
    attributes: int = 0,
    replaced: tuple[int, bytes] | None = None,
    length_more: int = 0,
) -> bytes:
    """Return a record of magic 2; ``replaced`` puts other bytes in place of one of its parts.

    The parts are attributes, timestamp delta, offset delta, key length, key, value length, value, count of headers, and
    four for each header. ``length_more`` is added to the record's own length.
    """
    parts = [bytes([attributes]), varint(timestamp_delta), varint(offset_delta), *_field(key), *_field(value)]
    parts += wire_headers(headers)
    if replaced is not None:
        parts[replaced[0] % len(parts)] = replaced[1]
    body = b"".join(parts)
    return varint(len(body) + length_more) + body


@dataclass(frozen=True)
class RawBatch:
    """A batch of magic 2. What is None is computed; ``crc_xor`` makes the CRC wrong."""

    records: bytes
    count: int
    base_offset: int = 0
    length: int | None = None
    leader_epoch: int = -1
    magic: int = 2
    crc_xor: int = 0
    attributes: int = 0
    last_offset_delta: int | None = None
    base_timestamp: int = 0
    max_timestamp: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1

    def data(self) -> bytes:
        """Return the bytes of the batch."""
        delta = self.count - 1 if self.last_offset_delta is None else self.last_offset_delta
        covered = struct.pack(
            ">HiqqqhiI", self.attributes & 0xFFFF, _signed(delta, 32), self.base_timestamp, self.max_timestamp,
            self.producer_id, self.producer_epoch, self.base_sequence, self.count & 0xFFFFFFFF,
        ) + self.records  # fmt: skip
        length = 9 + len(covered) if self.length is None else self.length
        head = struct.pack(">qiib", self.base_offset, length, self.leader_epoch, self.magic)
        return head + struct.pack(">I", crc32c(covered) ^ self.crc_xor) + covered


@dataclass(frozen=True)
class Message:
    """A message of magic 0 or 1. What is None is computed; ``crc_xor`` makes the CRC wrong."""

    value: bytes | None
    key: bytes | None = None
    offset: int = 0
    magic: int = 1
    attributes: int = 0
    timestamp: int = 0
    crc_xor: int = 0
    size: int | None = None
    key_length: int | None = None
    value_length: int | None = None

    def data(self) -> bytes:
        """Return the bytes of the message, with its offset and size."""
        timestamp = struct.pack(">q", self.timestamp) if self.magic == 1 else b""
        body = struct.pack(">bb", self.magic, _signed(self.attributes, 8)) + timestamp
        for length, field in ((self.key_length, self.key), (self.value_length, self.value)):
            counted = -1 if field is None else len(field)
            body += struct.pack(">i", counted if length is None else length) + (field or b"")
        size = 4 + len(body) if self.size is None else self.size
        return struct.pack(">qiI", self.offset, size, zlib.crc32(body) ^ self.crc_xor) + body


def message_set(messages: Sequence[Message]) -> bytes:
    """Return messages one after another."""
    return b"".join(message.data() for message in messages)


def compressed(codec: str, data: bytes, *, magic: int = 2) -> bytes:
    """Return the data as a stream of this codec; up to magic 0, lz4 has the checksum of Kafka's first encoder."""
    if codec == "lz4" and magic == 0:
        return _lz4(data, _LZ4_CHECKSUM_OF_MAGIC_0)
    return CODECS[codec](data)


def _snappy(data: bytes) -> bytes:
    chunks = [data[at : at + 60] for at in range(0, len(data), 60)]
    block = _unsigned(len(data)) + b"".join(bytes([len(chunk) - 1 << 2]) + chunk for chunk in chunks)
    head = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    return head + (struct.pack(">i", len(block)) + block if data else b"")


def _lz4(data: bytes, checksum: bytes = _LZ4_CHECKSUM) -> bytes:
    blocks = b"".join(
        struct.pack("<I", len(part) | 1 << 31) + part
        for part in (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
    )
    return _LZ4_MAGIC + _LZ4_FLAGS + checksum + blocks + bytes(4)


def _zstd(data: bytes) -> bytes:
    parts = [data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK)] or [b""]
    blocks = b"".join(
        (len(part) << 3 | (place == len(parts) - 1)).to_bytes(3, "little") + part for place, part in enumerate(parts)
    )
    return bytes.fromhex("28b52ffd") + b"\0\x58" + blocks  # a window of 2 MB, no content size


def _gzip(data: bytes) -> bytes:
    parts = [data[at : at + _BLOCK - 1] for at in range(0, len(data), _BLOCK - 1)] or [b""]
    blocks = b"".join(
        struct.pack("<BHH", place == len(parts) - 1, len(part), len(part) ^ 0xFFFF) + part
        for place, part in enumerate(parts)
    )
    return bytes.fromhex("1f8b08000000000000ff") + blocks + struct.pack("<II", zlib.crc32(data), len(data))


def _unsigned(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _signed(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


CODECS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes, "gzip": _gzip, "snappy": _snappy, "lz4": _lz4, "zstd": _zstd,
}  # fmt: skip
