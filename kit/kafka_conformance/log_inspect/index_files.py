"""Entries of index files, streamed.

============  =====  ==========================================================================================
file          bytes  entry, big-endian
============  =====  ==========================================================================================
.index        8      offset less the base offset int32, position in the .log int32
.timeindex    12     timestamp int64, offset less the base offset int32
.txnindex     34     version int16, producer id int64, first offset int64, last offset int64, last stable offset int64
============  =====  ==========================================================================================

An index of the active segment is preallocated: zeros follow its entries. An entry of zeros is none: a broker indexes no
batch at position 0, and writes no timestamp at or below that of the entry before.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["ENTRY_BYTES", "AbortedEntry", "IndexFile", "OffsetEntry", "TimeEntry"]

_FORMATS = {"index": struct.Struct(">ii"), "timeindex": struct.Struct(">qi"), "txnindex": struct.Struct(">hqqqq")}
ENTRY_BYTES = {suffix: form.size for suffix, form in _FORMATS.items()}
_ENTRIES_AT_ONCE = 8_192


class OffsetEntry(NamedTuple):
    """An entry of an offset index: ``at`` is its own position in the index file, in bytes."""

    at: int
    offset: int
    position: int


class TimeEntry(NamedTuple):
    """An entry of a time index: the largest timestamp, in ms, of all records up to ``offset``."""

    at: int
    timestamp: int
    offset: int


class AbortedEntry(NamedTuple):
    """An entry of a transaction index: an aborted transaction."""

    at: int
    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class IndexFile:
    """An index file: its entries without the zeros at its end, as they are when it is opened.

    ``zeros`` is the number of bytes of zeros at the end, ``odd`` that of bytes after the last whole entry. Raises OSError.
    """

    def __init__(self, path: Path, base_offset: int) -> None:
        self.path, self._base = path, base_offset
        self._form = _FORMATS[path.suffix[1:]]
        with io.FileIO(path, "r") as file:
            self.size = os.fstat(file.fileno()).st_size
            used = _used(file, self.size) if path.suffix != ".txnindex" else self.size
        size = self._form.size
        self.odd = self.size % size
        # An entry may end in zeros itself.
        self.entries = min(-(-used // size), self.size // size)
        if not self.entries and self.size == size and path.suffix == ".timeindex":
            self.entries = 1  # the first record, with timestamp 0
        self.zeros = (self.size // size - self.entries) * size

    def rows(self, first: int = 0) -> Iterator[tuple[int, ...]]:
        """Yield the entries from number ``first`` on, each after its position in the file. Raises OSError."""
        size = self._form.size
        with io.FileIO(self.path, "r") as file:
            at, left = first * size, self.entries - first
            file.seek(at)
            while left > 0:
                data = file.read(min(left, _ENTRIES_AT_ONCE) * size)
                data = data[: len(data) // size * size]
                if not data:
                    return
                for row in self._form.iter_unpack(data):
                    yield (at, *row)
                    at += size
                left -= len(data) // size
                file.seek(at)

    def offset_entries(self, first: int = 0) -> Iterator[OffsetEntry]:
        """Yield the entries of an offset index from number ``first`` on."""
        for at, relative, position in self.rows(first):
            yield OffsetEntry(at, self._base + relative, position)

    def time_entries(self) -> Iterator[TimeEntry]:
        """Yield the entries of a time index."""
        for at, timestamp, relative in self.rows():
            yield TimeEntry(at, timestamp, self._base + relative)

    def aborted_entries(self) -> Iterator[AbortedEntry]:
        """Yield the entries of a transaction index."""
        for row in self.rows():
            yield AbortedEntry._make(row)

    def offset_entry(self, number: int) -> OffsetEntry:
        """Return one entry of an offset index. Raises OSError, IndexError."""
        size = self._form.size
        with io.FileIO(self.path, "r") as file:
            file.seek(number * size)
            data = file.read(size)
        if not 0 <= number < self.entries or len(data) < size:
            raise IndexError(number)
        relative, position = self._form.unpack(data)
        return OffsetEntry(number * size, self._base + relative, position)


def _used(file: io.FileIO, size: int) -> int:
    """Return the size of a file without the zeros at its end."""
    end = size
    while end > 0:
        start = max(0, end - 2**16)
        file.seek(start)
        data = file.read(end - start).rstrip(b"\0")
        if data:
            return start + len(data)
        end = start
    return 0
