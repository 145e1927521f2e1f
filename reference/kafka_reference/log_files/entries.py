"""The bytes of index files: entries of 8 bytes (offset index) and of 12 bytes (time index), big-endian.

An offset index has the offset above the base offset and the position in bytes, both int32. A time index has the timestamp
in ms, int64, and the offset above the base offset, int32. Java sources mirrored: ``parseEntry`` of ``OffsetIndex`` and
``TimeIndex``, every release.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from kafka_reference.arguments import checked
from kafka_reference.java.int32 import int32
from kafka_reference.java.int64 import int64

__all__ = [
    "NO_TIMESTAMP",
    "OFFSET_ENTRY_BYTES",
    "TIME_ENTRY_BYTES",
    "OffsetEntry",
    "TimeEntry",
    "read_offset_index",
    "read_time_index",
    "write_offset_index",
    "write_time_index",
]

OFFSET_ENTRY_BYTES = 8
TIME_ENTRY_BYTES = 12
NO_TIMESTAMP = -1

_OFFSET, _TIME = struct.Struct(">ii"), struct.Struct(">qi")


class OffsetEntry(NamedTuple):
    """An entry of an offset index: at ``position`` bytes of the segment's file begins a batch that ends with ``offset``.

    >>> OffsetEntry(24, 8773).position
    8773
    """

    offset: int
    position: int


class TimeEntry(NamedTuple):
    """An entry of a time index: up to ``offset`` no record has a larger timestamp than ``timestamp``, in ms.

    >>> TimeEntry(1000, 24).timestamp
    1000
    """

    timestamp: int
    offset: int


@checked
def read_offset_index(data: bytes, base_offset: int = 0) -> list[OffsetEntry]:
    """Return the entries of an offset index file; bytes after the last whole entry are ignored.

    A file of an active segment is longer than its entries: zeros follow, which read as entries of the base offset.

    >>> read_offset_index(bytes.fromhex("0000000c 00001147 00000018 00002245"))
    [OffsetEntry(offset=12, position=4423), OffsetEntry(offset=24, position=8773)]
    """
    whole = len(data) // OFFSET_ENTRY_BYTES * OFFSET_ENTRY_BYTES
    return [
        OffsetEntry(int64(base_offset + relative), position) for relative, position in _OFFSET.iter_unpack(data[:whole])
    ]


@checked
def read_time_index(data: bytes, base_offset: int = 0) -> list[TimeEntry]:
    """Return the entries of a time index file; bytes after the last whole entry are ignored.

    >>> read_time_index(bytes.fromhex("00000000000003e8 00000018"), 100)
    [TimeEntry(timestamp=1000, offset=124)]
    """
    whole = len(data) // TIME_ENTRY_BYTES * TIME_ENTRY_BYTES
    return [TimeEntry(time, int64(base_offset + relative)) for time, relative in _TIME.iter_unpack(data[:whole])]


def write_offset_index(entries: Iterable[tuple[int, int]], base_offset: int = 0) -> bytes:
    """Return the bytes of an offset index with these entries; what does not fit into 32 bits loses its high bits.

    >>> write_offset_index([(12, 4423)]).hex()
    '0000000c00001147'
    """
    return b"".join(_OFFSET.pack(int32(offset - base_offset), int32(position)) for offset, position in entries)


def write_time_index(entries: Iterable[tuple[int, int]], base_offset: int = 0) -> bytes:
    """Return the bytes of a time index with these entries, each a timestamp in ms and an offset.

    >>> write_time_index([(1000, 124)], 100).hex()
    '00000000000003e800000018'
    """
    return b"".join(_TIME.pack(int64(time), int32(offset - base_offset)) for time, offset in entries)
