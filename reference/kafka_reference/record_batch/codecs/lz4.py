"""LZ4 frames, as Kafka's own streams read and write them.

Kafka reads one frame of version 1 with independent blocks. It skips the size of the content and its checksum. The checksum
of the header is over the descriptor. Batches of magic 0 have that of the magic and the descriptor, which is not checked
(KAFKA-3160).

Java source mirrored: ``KafkaLZ4BlockInputStream`` and ``KafkaLZ4BlockOutputStream``, 0.11.0.0 to 3.7.x;
``Lz4BlockInputStream`` and ``Lz4BlockOutputStream``, since 3.8.0.
"""

from __future__ import annotations

import cramjam

from kafka_reference.errors import JavaException
from kafka_reference.record_batch.codecs.stream import InputFault, Stream
from kafka_reference.record_batch.codecs.xxhash32 import xxhash32
from kafka_reference.record_batch.errors import BufferUnderflowException

__all__ = ["lz4", "unlz4"]

_MAGIC = (0x184D2204).to_bytes(4, "little")
_VERSION, _INDEPENDENT_BLOCKS, _BLOCK_CHECKSUM, _CONTENT_SIZE, _CONTENT_CHECKSUM = 0x40, 0x20, 0x10, 0x08, 0x04
_INCOMPRESSIBLE = 1 << 31
_BLOCK = 64 * 1024


def lz4(data: bytes, *, broken_header_checksum: bool) -> bytes:
    """Return ``data`` as one frame with blocks of 64 KB."""
    header = _MAGIC + bytes([_VERSION | _INDEPENDENT_BLOCKS, 4 << 4])
    written = [header, _header_checksum(header if broken_header_checksum else header[4:])]
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        compressed = bytes(cramjam.lz4.compress_block(block, store_size=False))
        if len(compressed) >= len(block):
            written += [(len(block) | _INCOMPRESSIBLE).to_bytes(4, "little"), block]
        else:
            written += [len(compressed).to_bytes(4, "little"), compressed]
    return b"".join([*written, bytes(4)])


def unlz4(data: bytes, *, ignore_header_checksum: bool) -> Stream:
    """Return the content of the frame in ``data``. Raises InputFault if its header is malformed."""
    flags, largest_block, position = _read_header(data, ignore_header_checksum=ignore_header_checksum)
    content = bytearray()
    try:
        while True:
            block, position = _read_block(data, position, flags, largest_block)
            if block is None:
                return Stream(bytes(content))
            content += block
    except (InputFault, JavaException) as fault:
        return Stream(bytes(content), fault)


def _header_checksum(descriptor: bytes) -> bytes:
    return bytes([xxhash32(descriptor) >> 8 & 0xFF])


def _read_header(data: bytes, *, ignore_header_checksum: bool) -> tuple[int, int, int]:
    # The flags, the size of the largest block in bytes, and where the blocks start.
    if len(data) < 6 or not data.startswith(_MAGIC):
        raise InputFault
    flags, sizes, end = data[4], data[5], 6
    if flags & 0xE3 != _VERSION | _INDEPENDENT_BLOCKS or sizes & 0x8F or sizes < 4 << 4:
        raise InputFault
    if flags & _CONTENT_SIZE:
        end += 8
    checksum = data[end : end + 1]
    if not checksum or not (ignore_header_checksum or checksum == _header_checksum(data[4:end])):
        raise InputFault
    return flags, 1 << (2 * (sizes >> 4) + 8), end + 1


def _read_block(data: bytes, position: int, flags: int, largest: int) -> tuple[bytes | None, int]:
    # The next block and the position behind it; None at the end mark.
    if len(data) - position < 4:
        raise InputFault
    marked = int.from_bytes(data[position : position + 4], "little")
    size, position = marked & ~_INCOMPRESSIBLE, position + 4
    if size == 0:
        if flags & _CONTENT_CHECKSUM and len(data) - position < 4:
            raise BufferUnderflowException
        return None, position
    stored = data[position : position + size]
    if size > largest or len(stored) < size:
        raise InputFault
    block = stored if marked & _INCOMPRESSIBLE else _decompress(stored, largest)
    position += size
    if flags & _BLOCK_CHECKSUM:
        checksum = data[position : position + 4]
        if len(checksum) < 4:
            raise BufferUnderflowException
        if checksum != xxhash32(stored).to_bytes(4, "little"):
            raise InputFault
        position += 4
    return block, position


def _decompress(stored: bytes, largest: int) -> bytes:
    room = bytearray(largest)
    try:
        return bytes(room[: cramjam.lz4.decompress_block_into(stored, room, output_len=largest)])
    except cramjam.DecompressionError:
        raise InputFault from None
