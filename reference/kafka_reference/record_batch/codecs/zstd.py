"""Zstandard, as ``ZstdInputStream`` of zstd-jni reads and ``ZstdOutputStream`` writes it."""

from __future__ import annotations

import cramjam

from kafka_reference.record_batch.codecs.stream import InputFault, Stream

__all__ = ["unzstd", "zstd"]

_DEFAULT_LEVEL = 3
_MAGIC = (0xFD2FB528).to_bytes(4, "little")
_SKIPPABLE = 0x184D2A5


def zstd(data: bytes, level: int | None) -> bytes:
    """Return ``data`` as one frame."""
    return bytes(cramjam.zstd.compress(data, level=_DEFAULT_LEVEL if level is None else level))


def unzstd(data: bytes) -> Stream:
    """Return the content of all frames in ``data``, up to the first fault."""
    content, position = bytearray(), 0
    while position < len(data):
        end = _frame_end(data, position)
        if end is None:
            return Stream(bytes(content), InputFault())
        try:
            content += bytes(cramjam.zstd.decompress(data[position:end]))
        except cramjam.DecompressionError:
            return Stream(bytes(content), InputFault())
        position = end
    return Stream(bytes(content))


def _frame_end(data: bytes, start: int) -> int | None:
    # Where the frame at ``start`` ends; None if it is cut off, or no frame.
    if int.from_bytes(data[start : start + 4], "little") >> 4 == _SKIPPABLE:
        position = start + 8 + int.from_bytes(data[start + 4 : start + 8], "little")
        return position if position <= len(data) else None
    if not data.startswith(_MAGIC, start) or len(data) < start + 5:
        return None
    descriptor = data[start + 4]
    single_segment = descriptor >> 5 & 1
    position = start + 5 + (1 - single_segment) + (0, 1, 2, 4)[descriptor & 3]
    position += (single_segment, 2, 4, 8)[descriptor >> 6]
    while True:
        if len(data) < position + 3:
            return None
        block = int.from_bytes(data[position : position + 3], "little")
        position += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        if block & 1:
            break
    position += 4 if descriptor & 4 else 0
    return position if position <= len(data) else None
