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

import errno
import io
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from kafka_conformance.log_inspect.directory import LARGEST_FILE, open_file

__all__ = ["ENTRY_BYTES", "AbortedEntry", "IndexFile", "OffsetEntry", "TimeEntry", "TooLarge", "batch_positions"]

_FORMATS = {"index": struct.Struct(">ii"), "timeindex": struct.Struct(">qi"), "txnindex": struct.Struct(">hqqqq")}
ENTRY_BYTES = {suffix: form.size for suffix, form in _FORMATS.items()}
_ENTRIES_AT_ONCE = 8_192
_ZEROS = bytes(2**18)


class TooLarge(OSError):
    """An index of more than ``LARGEST_FILE`` bytes."""


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

    ``zeros`` is the number of bytes of zeros at the end, ``odd`` that of bytes after the last whole entry. ``read`` is
    called with the number of bytes that were read. Raises OSError; TooLarge for a file that a broker does not open.
    """

    def __init__(self, path: Path, base_offset: int, read: Callable[[int], object] = lambda _: None) -> None:
        self.path, self.base, self._count_read = path, base_offset, read
        self._form = _FORMATS[path.suffix[1:]]
        with open_file(path) as file:
            self.size = os.fstat(file.fileno()).st_size
            if self.size > LARGEST_FILE:
                raise TooLarge(errno.EFBIG, f"{self.size:,} bytes are more than {LARGEST_FILE:,}", str(path))
            used = _used(file, self.size) if path.suffix != ".txnindex" else self.size
        size = self._form.size
        self.odd = self.size % size
        # An entry may end in zeros itself.
        self.entries = min(-(-used // size), self.size // size)
        if not self.entries and self.size == size and path.suffix == ".timeindex":
            self.entries = 1  # the first record, with timestamp 0
        self.zeros = (self.size // size - self.entries) * size
        read(self.zeros)

    def rows(self, first: int = 0) -> Iterator[tuple[int, ...]]:
        """Yield the entries from number ``first`` on, each after its position in the file. Raises OSError."""
        size = self._form.size
        with open_file(self.path) as file:
            at, left = first * size, self.entries - first
            file.seek(at)
            while left > 0:
                data = file.read(min(left, _ENTRIES_AT_ONCE) * size)
                data = data[: len(data) // size * size]
                if not data:
                    return
                self._count_read(len(data))
                for row in self._form.iter_unpack(data):
                    yield (at, *row)
                    at += size
                left -= len(data) // size
                file.seek(at)

    def offset_entries(self, first: int = 0) -> Iterator[OffsetEntry]:
        """Yield the entries of an offset index from number ``first`` on."""
        for at, relative, position in self.rows(first):
            yield OffsetEntry(at, self.base + relative, position)

    def time_entries(self) -> Iterator[TimeEntry]:
        """Yield the entries of a time index."""
        for at, timestamp, relative in self.rows():
            yield TimeEntry(at, timestamp, self.base + relative)

    def aborted_entries(self) -> Iterator[AbortedEntry]:
        """Yield the entries of a transaction index."""
        for row in self.rows():
            yield AbortedEntry._make(row)

    def offset_entry(self, number: int) -> OffsetEntry:
        """Return one entry of an offset index. Raises OSError, IndexError."""
        size = self._form.size
        with open_file(self.path) as file:
            file.seek(number * size)
            data = file.read(size)
        if not 0 <= number < self.entries or len(data) < size:
            raise IndexError(number)
        relative, position = self._form.unpack(data)
        return OffsetEntry(number * size, self.base + relative, position)


def batch_positions(entries: Iterable[OffsetEntry]) -> Callable[[int], Iterator[int]]:
    """Return what ``scan`` takes as ``anchors``: positions of an offset index's entries, each read once in all calls.

    The position in a call is never below that of the call before, and what was yielded is not wanted again.
    """
    ascending = _ascending(entries)
    return lambda position: (at for at in ascending if at > position)


def _ascending(entries: Iterable[OffsetEntry]) -> Iterator[int]:
    largest = -1
    try:
        for entry in entries:
            if entry.position > largest:
                largest = entry.position
                yield largest
    except (OSError, ValueError):
        return


def _used(file: io.FileIO, size: int) -> int:
    """Return the size of a file without the zeros at its end. Of a sparse file only what is stored is read."""
    used = start = 0
    while start < size:
        try:
            start = os.lseek(file.fileno(), start, os.SEEK_DATA)
            end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # the rest is a hole
                break
            end = size  # the file system has no holes
        used = max(used, _used_between(file, start, min(end, size)))
        start = end
    return used


def _used_between(file: io.FileIO, first: int, end: int) -> int:
    block = bytearray(len(_ZEROS))  # read into again and again: new memory would cost more than the comparison
    while end > first:
        start = max(first, end - len(block))
        file.seek(start)
        size = file.readinto(memoryview(block)[: end - start])
        data = block if size == len(block) else block[:size]
        if data != _ZEROS and (data := data.rstrip(b"\0")):  # comparing is several times as fast as stripping
            return start + len(data)
        end = start
    return 0
