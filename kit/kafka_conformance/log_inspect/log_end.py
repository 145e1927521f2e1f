"""The end of a log as a start after a clean stop reads it: from the last entry of the active segment's index.

No checksum is checked, and nothing before that entry is read. So a file that was cut behind it ends for the broker where
the segment begins, and zeros after the last batch stop the start. Example: the index ends with (offset 61, position 800),
the ``.log`` was cut to 500 bytes: no batch has offset 61, and the log ends with the segment's first offset.

Java source mirrored: ``LogSegment.readNextOffset`` and ``translateOffset``, ``FileLogInputStream.nextBatch``.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_conformance.log_inspect.directory import SegmentFiles, open_file
from kafka_reference.log_files.index_search import WARM_BYTES, find_slots

__all__ = ["BatchTooSmall", "LogEnd", "read_log_end"]

_ENTRY = struct.Struct(">ii")
_HEADER = struct.Struct(">qiib")
_BEFORE_MAGIC = 17
_SMALLEST = 14
_DELTA = struct.Struct(">i")
_DELTA_AT = 23


class BatchTooSmall(Exception):
    """A size at which a broker throws a CorruptRecordException; ``position`` is that of the batch."""

    def __init__(self, position: int, size: int) -> None:
        super().__init__(f"the record size at position {position:,} is {size}: at least {_SMALLEST} are needed")
        self.position = position


@dataclass(frozen=True, slots=True)
class LogEnd:
    """The offset after the last batch, and the position after it."""

    offset: int
    position: int


def read_log_end(files: SegmentFiles) -> LogEnd:
    """Return the end of an active segment. Raises BatchTooSmall, OSError."""
    start, target = _start(files)
    with open_file(files.path("log")) as log:
        size = os.fstat(log.fileno()).st_size
        found, reached = None, False
        for last, end in _batches(log.fileno(), start, size):
            reached = reached or last >= target
            if reached:
                found = LogEnd(last + 1, end)
        return found or LogEnd(files.base_offset, 0)


def _start(files: SegmentFiles) -> tuple[int, int]:
    """Return the position at which the search begins, and the offset of the index's last entry."""
    base = files.base_offset
    try:
        with open_file(files.path("index")) as index:
            entries = os.fstat(index.fileno()).st_size // _ENTRY.size

            def entry(slot: int) -> tuple[int, int]:
                offset, position = _ENTRY.unpack(os.pread(index.fileno(), _ENTRY.size, slot * _ENTRY.size))
                return base + offset, position

            if not entries:
                return 0, base
            target = entry(entries - 1)[0]
            slot, _ = find_slots(lambda at: entry(at)[0], entries, target, WARM_BYTES // _ENTRY.size)
            return (entry(slot)[1] if slot >= 0 else 0), target
    except FileNotFoundError:
        return 0, base


def _batches(descriptor: int, position: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the last offset and the end of each batch, as far as a broker reads them."""
    position = max(position, 0)
    while position < end - _BEFORE_MAGIC:
        head = os.pread(descriptor, _BEFORE_MAGIC + 10, position)
        if len(head) < _BEFORE_MAGIC:
            return
        offset, size, _, magic = _HEADER.unpack_from(head)
        if size < _SMALLEST:
            raise BatchTooSmall(position, size)
        if position > end - 12 - size:
            return
        delta = _DELTA.unpack_from(head, _DELTA_AT)[0] if magic >= 2 and len(head) >= _DELTA_AT + 4 else 0
        position += size + 12
        yield offset + delta, position
