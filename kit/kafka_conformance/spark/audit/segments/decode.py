"""Decode the records of a segment: keys, offsets and timestamps, and who produced them.

What a consumer would not read is left out: control records, records of aborted transactions with ``read_committed``, and
batches that are corrupt.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.core.errors import KitError
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.scan import Damage, Segment
from kafka_conformance.spark.audit.segments.folders import SegmentFile
from kafka_conformance.spark.audit.segments.survey import Aborted, items_of
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import decode_header

__all__ = ["Piece", "Task", "decode"]

PIECE = 16_384


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


class Piece(NamedTuple):
    """Some records in the order of their offsets; a missing time, producer id or epoch is -1."""

    offsets: NDArray[np.int64]
    timestamps_ms: NDArray[np.int64]
    keys: pa.BinaryArray
    producers: NDArray[np.int64]
    epochs: NDArray[np.int32]


def decode(
    task: Task, bad: Callable[[int, int, str], object] = lambda *_: None, *, most: int = PIECE
) -> Iterator[Piece]:
    """Yield the records of a task, in pieces of about ``most``.

    ``bad`` is called with position, offset and message for a batch whose checksum is right and whose records cannot be
    decoded. Raises KitError if the file cannot be read, or is not the one that was surveyed: the log cleaner of a running
    broker replaces segments, and joins several in one.
    """
    columns, last, whole = _Columns(task), task.file.base_offset, True
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
                try:
                    columns.add(header, segment.bytes_at(item.position, header.size))
                except JavaException as thrown:
                    bad(item.position, header.base_offset, f"{thrown.java_name}: {thrown.message or 'no message'}")
                if len(columns.offsets) >= most:
                    yield columns.cut()
    except OSError as error:
        raise KitError(f"{task.file.path} cannot be read: {error.strerror or error}") from error
    if whole and task.end_offset not in {None, last}:
        raise KitError(
            f"{task.file.path} has changed since it was surveyed: it ended at offset {task.end_offset:,} and ends at"
            f" {last:,}. The broker's log cleaner has replaced it: audit again, or audit a copy"
        )
    if columns.offsets:
        yield columns.cut()


class _Columns:
    """The records that are not yet in a piece."""

    def __init__(self, task: Task) -> None:
        self._first, self._end = task.first, task.end
        self._begin()

    def _begin(self) -> None:
        self.offsets: list[int] = []
        self._times: list[int] = []
        self._keys: list[bytes | None] = []
        self._producers: list[tuple[int, int, int]] = []

    def add(self, header: BatchHeader, data: bytes) -> None:
        """Add the records of a batch, all or none. Raises JavaException if they cannot be decoded."""
        batch, first, end = decode_header(data), self._first, self._end
        assert batch is not None  # noqa: S101  it was scanned whole
        records = [record for record in batch.records() if record is not None and first <= record.offset < end]
        added = [(record.offset, record.timestamp, record.key) for record in records]
        if added:
            offsets, times, keys = zip(*added, strict=True)
            self.offsets += offsets
            self._times += times
            self._keys += keys
            self._producers.append((header.producer_id, header.producer_epoch, len(added)))

    def cut(self) -> Piece:
        """Return the records, and forget them."""
        producers, epochs, counts = zip(*self._producers, strict=True)
        piece = Piece(
            np.array(self.offsets, np.int64), np.array(self._times, np.int64), pa.array(self._keys, pa.binary()),
            np.repeat(np.array(producers, np.int64), counts), np.repeat(np.array(epochs, np.int32), counts),
        )  # fmt: skip
        self._begin()
        return piece


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
