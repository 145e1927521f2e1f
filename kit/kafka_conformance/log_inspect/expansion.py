"""How large the records of a compressed batch become, found without decompressing them.

A batch of a hundred bytes can declare 4 GiB, and 16 KB of zstd can hold 512 MiB. So a batch is decompressed only if its
records take no more than ``LARGEST_BYTES``: the headers of blocks and frames bound their size. Gzip has no such headers, and
is inflated piece by piece where its ratio of 1,032 at most would allow more.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from struct import Struct

from kafka_conformance.log_inspect.header import CODEC_MASK, HEADER, MAGIC_AT, SMALLEST

__all__ = ["LARGEST_BYTES", "MOST_RECORDS", "impossible", "most_bytes", "too_large"]

LARGEST_BYTES = 128 * 2**20
"""The most bytes of decompressed records of one batch that are read."""

MOST_RECORDS = 2**20
"""The most records of a batch that are read one by one, as Java reads them: to find one, or the error of a malformed one."""

_INT32 = Struct(">i")
_ATTRIBUTES = {0: 17, 1: 17, 2: 22}
_KEY = {0: 18, 1: 26}
_GZIP_RATIO, _LZ4_RATIO = 1_032, 255
_SNAPPY_RATIO = 32  # a copy of 64 bytes takes two bytes at least
_PIECE = 2**20
_SNAPPY = 2
_SNAPPY_MAGIC, _SNAPPY_HEADER = b"\x82SNAPPY\x00", 16
_SIZED = 1 << 31
_ZSTD_MAGIC, _SKIPPABLE = (0xFD2FB528).to_bytes(4, "little"), 0x184D2A5
_ZSTD_BLOCK = 128 * 1024


def too_large(batch: bytes) -> bool:
    """Return whether the records of a whole batch, of any magic, take more than ``LARGEST_BYTES`` when decompressed."""
    magic = batch[MAGIC_AT]
    codec = batch[_ATTRIBUTES[magic]] & CODEC_MASK
    if codec not in _BOUNDS:
        return False
    return most_bytes(codec, batch[HEADER.size :] if magic == 2 else _value(batch, magic)) > LARGEST_BYTES


def most_bytes(codec: int, data: bytes) -> int:
    """Return a bound of the size of ``data`` when decompressed by the codec of this number: it is not larger."""
    return _BOUNDS[codec](data) if codec in _BOUNDS else len(data)


def _value(batch: bytes, magic: int) -> bytes:
    """Return the value of a message of magic 0 or 1, which holds the compressed messages; empty if it is cut off."""
    at = _KEY[magic]
    if len(batch) < SMALLEST[magic]:
        return b""
    at += 4 + max(0, _INT32.unpack_from(batch, at)[0])
    return batch[at + 4 :]


def _gzip(data: bytes) -> int:
    if len(data) * _GZIP_RATIO <= LARGEST_BYTES:
        return len(data) * _GZIP_RATIO
    size, rest = 0, data
    try:
        while rest and size <= LARGEST_BYTES:
            inflater = zlib.decompressobj(31)
            while not inflater.eof and rest and size <= LARGEST_BYTES:
                size += len(inflater.decompress(rest, _PIECE))
                rest = inflater.unconsumed_tail
            rest = inflater.unused_data or rest
    except zlib.error:  # the reader of batches may go on where zlib does not
        return size + len(rest) * _GZIP_RATIO
    return size


def _snappy(data: bytes) -> int:
    return sum(declared for _, declared in _snappy_blocks(data))


def _snappy_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the size of each block, and the size that it declares for its content."""
    if not data.startswith(_SNAPPY_MAGIC):
        yield len(data), _declared(data, 0)
        return
    at = _SNAPPY_HEADER
    while at + 4 <= len(data):
        if data.startswith(_SNAPPY_MAGIC[:4], at):  # another frame
            at += _SNAPPY_HEADER
            continue
        length = _INT32.unpack_from(data, at)[0]
        if length < 0:
            break
        yield length, _declared(data, at + 4)
        at += 4 + length


def impossible(codec: int, data: bytes) -> bool:
    """Return whether no reader can decompress ``data``: a block of snappy declares more than its bytes can stand for."""
    return codec == _SNAPPY and any(declared > _SNAPPY_RATIO * size for size, declared in _snappy_blocks(data))


def _declared(data: bytes, at: int) -> int:
    """Return the size that a block of snappy declares: at most five bytes with seven bits each."""
    size = 0
    for shift, byte in enumerate(data[at : at + 5]):
        size |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            break
    return size


def _lz4(data: bytes) -> int:
    if len(data) < 6:
        return 0
    largest = 1 << (2 * (data[5] >> 4 & 7) + 8)
    checksum = 4 * (data[4] >> 4 & 1)
    size, at = 0, 15 if data[4] & 8 else 7
    while at + 4 <= len(data):
        length = int.from_bytes(data[at : at + 4], "little")
        stored, length = length & _SIZED, length & ~_SIZED
        if not length:
            break
        size += length if stored else min(largest, length * _LZ4_RATIO)
        at += 4 + length + checksum
    return size


def _zstd(data: bytes) -> int:
    size, at = 0, 0
    while at + 5 <= len(data):
        if int.from_bytes(data[at : at + 4], "little") >> 4 == _SKIPPABLE:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if not data.startswith(_ZSTD_MAGIC, at):
            break
        descriptor = data[at + 4]
        single, checksum = descriptor >> 5 & 1, 4 * (descriptor >> 2 & 1)
        at += 6 - single + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
        last = 0
        while not last and at + 3 <= len(data):
            block = int.from_bytes(data[at : at + 3], "little")
            last, kind, length = block & 1, block >> 1 & 3, block >> 3
            size += _ZSTD_BLOCK if kind == 2 else length
            at += 3 + (1 if kind == 1 else length)
        at += checksum
    return size


_BOUNDS: dict[int, Callable[[bytes], int]] = {1: _gzip, _SNAPPY: _snappy, 3: _lz4, 4: _zstd}
