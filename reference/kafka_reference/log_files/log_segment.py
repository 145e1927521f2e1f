"""A segment of a partition's log: batches in a file, and the sparse indexes over them.

Java source mirrored: ``LogSegment``, since 2.0.0 (Scala up to 3.6.x, Java since 3.7.0), without the transaction index,
remote storage and compaction. A batch is here what the segment reads of it; its bytes are no part of this module.
"""

# unreached file: no rule asks LogSegment yet

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.errors import IllegalArgumentException, JavaException
from kafka_reference.log_files.abstract_index import DEFAULT_MAX_INDEX_SIZE
from kafka_reference.log_files.entries import NO_TIMESTAMP, TimeEntry
from kafka_reference.log_files.offset_index import OffsetIndex
from kafka_reference.log_files.time_index import TimeIndex
from kafka_reference.releases import NEWEST, Release, since

__all__ = [
    "SEGMENTS",
    "LogSegment",
    "LogSegmentOffsetOverflowException",
    "RollLimits",
    "SegmentBatch",
    "SegmentBehaviour",
    "SegmentRead",
]

SEGMENTS = since("2.0.0")


class LogSegmentOffsetOverflowException(JavaException, OverflowError):
    """An offset does not fit into 32 bits above the base offset of the segment."""


@behaviour("LogSegment", SEGMENTS)
class SegmentBehaviour(Behaviour):
    """What changed in a segment."""

    one_entry_per_append: bool = holds(
        since("2.0.0", until="3.9.0") | since("4.0.0", until="4.0.0"),
        "An append adds at most one entry to each index, for all its batches; later one for each batch.",
        "KAFKA-806",
    )
    reads_at_requested_offset: bool = holds(
        since("2.0.0", until="3.9.x"),
        "What is read has the offset that was asked for; later that of the first batch.",
    )


@dataclass(frozen=True, slots=True)
class SegmentBatch:
    """A batch of records: its offsets, its largest timestamp in ms, its size in bytes, and whether its checksum is right."""

    base_offset: int
    last_offset: int
    max_timestamp: int
    size: int
    valid: bool = True


@dataclass(frozen=True, slots=True)
class SegmentRead:
    """What a read returns: an offset, the position of the first batch in bytes, and a size in bytes.

    ``first_batch_incomplete`` is whether the first batch is cut.
    """

    offset: int
    position: int
    size: int
    first_batch_incomplete: bool = False


@dataclass(frozen=True, slots=True)
class RollLimits:
    """What decides whether a segment is rolled before an append: limits, and the append's size, times and largest offset."""

    max_segment_bytes: int
    max_segment_ms: int
    append_bytes: int
    max_offset: int
    max_timestamp: int
    now_ms: int


class LogSegment:
    """A segment with its batches and both indexes.

    >>> segment = LogSegment(0, index_interval_bytes=100)
    >>> for offset in range(4):
    ...     segment.append([SegmentBatch(offset, offset, 1000 + offset, 80)])
    >>> segment.offset_index.lookup(3)
    OffsetEntry(offset=2, position=160)
    >>> segment.read(3, 4096)
    SegmentRead(offset=3, position=240, size=80, first_batch_incomplete=False)
    """

    def __init__(
        self,
        base_offset: int,
        *,
        index_interval_bytes: int = 4096,
        max_index_size: int = DEFAULT_MAX_INDEX_SIZE,
        roll_jitter_ms: int = 0,
        created_ms: int = 0,
        version: str | Release = NEWEST,
    ) -> None:
        self.behaviour = SegmentBehaviour.of(version)
        self.base_offset, self.index_interval_bytes = base_offset, index_interval_bytes
        self.roll_jitter_ms, self.created_ms = roll_jitter_ms, created_ms
        self.offset_index = OffsetIndex(base_offset, max_index_size, version=version)
        self.time_index = TimeIndex(base_offset, max_index_size, version=version)
        self.batches: list[SegmentBatch] = []
        self.largest = self.time_index.last_entry
        self._bytes_since_entry = 0
        self._first_timestamp: int | None = None

    @property
    def size(self) -> int:
        """The size of the batches in bytes."""
        return sum(batch.size for batch in self.batches)

    # Append.

    def append(self, batches: Sequence[SegmentBatch]) -> None:
        """Append batches with one call, and the index entries that are due before each, or before all of them.

        An entry is due once more than ``index_interval_bytes`` were appended since the last one. Raises
        LogSegmentOffsetOverflowException, and what the indexes raise if they are full.
        """
        if not batches:
            return
        self._check_offset(batches[-1].last_offset)
        position = self.size
        self.batches += batches
        if self.behaviour.one_entry_per_append:
            largest = max(batches, key=lambda batch: batch.max_timestamp)
            if position == 0:
                self._first_timestamp = largest.max_timestamp
            self._note_timestamp(largest)
            self._index(batches[-1].last_offset, position)
            self._bytes_since_entry += sum(batch.size for batch in batches)
            return
        for batch in batches:
            self._note_timestamp(batch)
            self._index(batch.last_offset, position)
            position += batch.size
            self._bytes_since_entry += batch.size

    def _check_offset(self, offset: int) -> None:
        if not self.offset_index.can_append_offset(offset):
            raise LogSegmentOffsetOverflowException

    def _note_timestamp(self, batch: SegmentBatch) -> None:
        if batch.max_timestamp > self.largest.timestamp:
            self.largest = TimeEntry(batch.max_timestamp, batch.last_offset)

    def _index(self, offset: int, position: int) -> None:
        if self._bytes_since_entry > self.index_interval_bytes:
            self.offset_index.append(offset, position)
            self.time_index.maybe_append(*self.largest)
            self._bytes_since_entry = 0

    # Roll.

    def should_roll(self, limits: RollLimits) -> bool:
        """Return whether the next append goes to a new segment: by size, time, full indexes, or an offset too large."""
        waited = self.time_waited_for_roll(limits.now_ms, limits.max_timestamp)
        return (
            self.size > limits.max_segment_bytes - limits.append_bytes
            or (self.size > 0 and waited > limits.max_segment_ms - self.roll_jitter_ms)
            or self.offset_index.is_full
            or self.time_index.is_full
            or not self.offset_index.can_append_offset(limits.max_offset)
        )

    def time_waited_for_roll(self, now_ms: int, timestamp: int) -> int:
        """Return the ms from the first batch's timestamp to ``timestamp``; without one, since the segment was created."""
        if self._first_timestamp is None and self.batches:
            self._first_timestamp = self.batches[0].max_timestamp
        if self._first_timestamp is not None and self._first_timestamp >= 0:
            return timestamp - self._first_timestamp
        return now_ms - self.created_ms

    def become_inactive(self) -> None:
        """Finish the segment: the largest timestamp takes the last slot, and the indexes are trimmed."""
        self.time_index.maybe_append(*self.largest, True)
        self.offset_index.trim_to_valid_size()
        self.time_index.trim_to_valid_size()

    # Read.

    def translate_offset(self, offset: int) -> tuple[SegmentBatch, int] | None:
        """Return the first batch that ends at the offset or behind it, with its position in bytes, or None."""
        return self._find(offset, self.offset_index.lookup(offset).position)

    def _find(self, offset: int, start: int) -> tuple[SegmentBatch, int] | None:
        position = 0
        for batch in self.batches:
            if position >= start and batch.last_offset >= offset:
                return batch, position
            position += batch.size
        return None

    def read(
        self, offset: int, max_size: int, max_position: int | None = None, min_one_message: bool = False
    ) -> SegmentRead | None:
        """Return what is read from ``offset`` on: at most ``max_size`` bytes, and nothing behind ``max_position``.

        ``min_one_message`` reads the first batch whole, even if it is larger. None is behind the end of the segment. Raises
        IllegalArgumentException for a negative size.
        """
        if max_size < 0:
            raise IllegalArgumentException
        found = self.translate_offset(offset)
        if found is None:
            return None
        batch, position = found
        shown = offset if self.behaviour.reads_at_requested_offset else batch.base_offset
        most = max(max_size, batch.size) if min_one_message else max_size
        if most == 0:
            return SegmentRead(shown, position, 0)
        end = self.size if max_position is None else max_position
        return SegmentRead(shown, position, min(end - position, most), most < batch.size)

    # Truncation and recovery.

    def truncate_to(self, offset: int, now_ms: int = 0) -> int:
        """Remove the batches from the one that holds ``offset``, and return their bytes.

        Index entries are removed from ``offset`` on, so one below it may stay that stands behind the last batch.
        """
        found = self.translate_offset(offset)
        for index in (self.offset_index, self.time_index):
            index.truncate_to(offset)
            index.resize(index.max_index_size)
        removed = 0 if found is None else self._cut(found[1])
        if not self.batches:
            self.created_ms, self._first_timestamp = now_ms, None
        self._bytes_since_entry = 0
        if self.largest.timestamp >= 0:
            self.largest = self._read_largest()
        return removed

    def _cut(self, position: int) -> int:
        size = self.size
        while self.batches and self.size > position:
            self.batches.pop()
        return size - self.size

    def _read_largest(self) -> TimeEntry:
        """Return the largest timestamp: that of the time index, or a larger one behind it."""
        largest, position = self.time_index.last_entry, 0
        start = self.offset_index.lookup(largest.offset).position
        for batch in self.batches:
            if position >= start and batch.max_timestamp > largest.timestamp:
                largest = TimeEntry(batch.max_timestamp, batch.last_offset)
            position += batch.size
        return largest

    def recover(self) -> int:
        """Build the indexes anew from the batches, up to the first one that is not valid, and return the bytes cut off.

        An entry is due once more than ``index_interval_bytes`` stand before the batch since the last one, in every release
        for each batch. Raises LogSegmentOffsetOverflowException.
        """
        self.offset_index.reset()
        self.time_index.reset()
        self.largest = TimeEntry(NO_TIMESTAMP, self.largest.offset)
        position = last_entry = 0
        for batch in self.batches:
            if not batch.valid:
                break
            self._check_offset(batch.last_offset)
            self._note_timestamp(batch)
            if position - last_entry > self.index_interval_bytes:
                self.offset_index.append(batch.last_offset, position)
                self.time_index.maybe_append(*self.largest)
                last_entry = position
            position += batch.size
        removed = self._cut(position)
        self.offset_index.trim_to_valid_size()
        self.time_index.maybe_append(*self.largest, True)
        self.time_index.trim_to_valid_size()
        return removed
