"""Snappy with the framing of snappy-java, as ``SnappyInputStream`` reads and ``SnappyOutputStream`` writes it.

A frame is a header of 16 bytes (8 bytes of magic, the version and the oldest compatible one as int32) and blocks of at most
32 KB, each behind its compressed size as int32. Data without this header is one block of raw snappy.

Not mirrored: a later header that begins with the magic and goes on otherwise. The stream ends there; in Java the one read
ends that meets it, and a record across it is read on from the next block, with another exception. No writer makes such a
header.
"""

from __future__ import annotations

from collections.abc import Iterator

import cramjam

from kafka_reference.errors import JavaException
from kafka_reference.java.int32 import int32
from kafka_reference.record_batch.behaviour import RecordBatchBehaviour
from kafka_reference.record_batch.codecs.stream import Buffer, InputFault, Read, Stream
from kafka_reference.record_batch.errors import NegativeArraySizeException, SnappyError

__all__ = ["snappy", "unsnappy"]

_MAGIC = b"\x82SNAPPY\x00"
_HEADER = _MAGIC + b"\0\0\0\1\0\0\0\1"
_BLOCK = 32 * 1024
_BUFFER = 2 * 1024
_LARGEST_BLOCK = 512 * 1024 * 1024


def snappy(data: bytes) -> bytes:
    """Return ``data`` in one frame."""
    blocks = (bytes(cramjam.snappy.compress_raw(data[at : at + _BLOCK])) for at in range(0, len(data), _BLOCK))
    return _HEADER + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)


def unsnappy(data: bytes, behaviour: RecordBatchBehaviour) -> Stream:
    """Return the content of ``data``. Raises InputFault if it is empty, or neither a frame nor raw snappy."""
    if not data:
        raise InputFault
    if len(data) < len(_HEADER) or not data.startswith(_MAGIC):
        return Stream(_decompress(data))
    content = bytearray()
    try:
        for block in _blocks(data, content, behaviour):
            content += _decompress(block)
    except (InputFault, JavaException) as fault:
        buffer = Buffer(_BUFFER, 0, lambda: _reading(len(content))) if behaviour.stream_buffer else None
        return Stream(bytes(content), fault, buffer)
    return Stream(bytes(content))


def _reading(left: int) -> Read:
    # Read from ``left`` bytes before a fault: a read that meets the fault loses what it has copied.
    def read(size: int) -> int:
        nonlocal left
        left -= size
        return size if left >= 0 else 0

    return read


def _blocks(data: bytes, content: bytearray, behaviour: RecordBatchBehaviour) -> Iterator[bytes]:
    # The compressed blocks; ``content`` is what the blocks so far contain.
    position, buffered = len(_HEADER), False
    while len(data) - position >= 4:
        start = data[position : position + 4]
        if start == _MAGIC[:4]:  # another frame
            header = data[position : position + len(_HEADER)]
            if len(header) < len(_HEADER):
                raise InputFault
            position += len(_HEADER)
            if header.startswith(_MAGIC):
                if int32(int.from_bytes(header[8:12], "big")) < 1:
                    raise InputFault
            elif not behaviour.stream_buffer or len(content) % _BUFFER == 0:
                # This ends the read that met it: the stream, if that read has nothing.
                return
            continue
        size, position = int32(int.from_bytes(start, "big")), position + 4
        if _is_refused(size, behaviour):
            raise SnappyError
        if size < 0 and not buffered:
            raise NegativeArraySizeException
        block = data[position : position + size]
        if size < 0 or len(block) < size:
            raise InputFault
        position, buffered = position + size, True
        yield block


def _is_refused(size: int, behaviour: RecordBatchBehaviour) -> bool:
    if size < 0:
        return behaviour.snappy_block_size_checked
    return size > _LARGEST_BLOCK and behaviour.snappy_block_size_limited


def _decompress(block: bytes) -> bytes:
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError:
        raise InputFault from None
