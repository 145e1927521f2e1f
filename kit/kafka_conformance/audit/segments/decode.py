"""Decode the records of a segment: keys, offsets and timestamps, and who produced them.

What a consumer would not read is left out: control records, records of aborted transactions with ``read_committed``, and
batches that are corrupt.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from kafka_conformance.audit.segments.columns import Columns, Piece
from kafka_conformance.audit.segments.folders import SegmentFile
from kafka_conformance.audit.segments.survey import Aborted, items_of
from kafka_conformance.core.errors import KitError
from kafka_conformance.log_inspect.expansion import LARGEST_BYTES, too_large
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.scan import Damage, Segment
from kafka_reference.errors import JavaException

__all__ = ["Piece", "Task", "decode"]

PIECE = 16_384
_KEY_BYTES = 2**26
"""The size of its keys, in bytes, at which a piece ends although it has fewer records."""


class Task(msgspec.Struct, frozen=True):
    """A segment to read: offsets from ``first`` up to ``end``, of its first ``size`` bytes, without aborted records.

    ``end_offset`` is where the segment ended when it was surveyed, None if it was not.
    """

    file: SegmentFile
    size: int
    first: int
    end: int
    aborted: tuple[Aborted, ...] = ()
    end_offset: int | None = None


def decode(
    task: Task, bad: Callable[[int, int, str], object] = lambda *_: None, *, most: int = PIECE
) -> Iterator[Piece]:
    """Yield the records of a task, in pieces of about ``most``.

    ``bad`` is called with position, offset and message for a batch whose checksum is right and whose records cannot be
    decoded, or are too large to be. Raises KitError if the file cannot be read, or is not the one that was surveyed: the
    log cleaner of a running broker replaces segments, and joins several in one.
    """
    columns, last, whole = Columns(task.first, task.end), task.file.base_offset, True
    try:
        with Segment(Path(task.file.path)) as segment:
            segment.size = min(segment.size, task.size)
            ends = _ends(task.aborted)
            for item in items_of(segment):
                if isinstance(item, Damage) or not item.valid:
                    continue
                header = item.header
                if header.magic == 2 and header.base_offset >= task.end:
                    whole = False
                    break
                last = max(last, header.last_offset + 1)
                if not _wanted(header, task, ends):
                    continue
                if why := _add(columns, header, segment, item.position):
                    bad(item.position, header.base_offset, why)
                if columns.records >= most or columns.key_bytes >= _KEY_BYTES:
                    yield columns.cut()
    except OSError as error:
        raise KitError(f"{task.file.path} cannot be read: {error.strerror or error}") from error
    if whole and task.end_offset not in {None, last}:
        raise KitError(
            f"{task.file.path} has changed since it was surveyed: it ended at offset {task.end_offset:,} and ends at"
            f" {last:,}. The broker's log cleaner has replaced it: audit again, or audit a copy"
        )
    if columns.records:
        yield columns.cut()


def _add(columns: Columns, header: BatchHeader, segment: Segment, position: int) -> str:
    """Add the records of a batch; return why that is not possible, or an empty text."""
    if header.size > LARGEST_BYTES:
        return f"it has more than {LARGEST_BYTES:,} bytes"
    batch = segment.bytes_at(position, header.size)
    if too_large(batch):
        return f"it may take more than {LARGEST_BYTES:,} bytes when decompressed"
    try:
        columns.add(header, batch)
    except JavaException as thrown:
        return f"{thrown.java_name}: {thrown.message or 'no message'}"
    return ""


def _wanted(header: BatchHeader, task: Task, ends: dict[int, list[Aborted]]) -> bool:
    if header.control or header.last_offset < task.first:
        return False
    return not (header.transactional and _is_aborted(header, ends.get(header.producer_id, [])))


def _is_aborted(header: BatchHeader, transactions: list[Aborted]) -> bool:
    at = bisect_left(transactions, header.base_offset, key=lambda one: one.last)
    return at < len(transactions) and transactions[at].first <= header.base_offset


def _ends(aborted: tuple[Aborted, ...]) -> dict[int, list[Aborted]]:
    found: dict[int, list[Aborted]] = {}
    for each in aborted:
        found.setdefault(each.producer_id, []).append(each)
    return found
