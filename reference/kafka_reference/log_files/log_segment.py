"""A segment of a partition's log: batches in a file, and the sparse indexes over them.

Java source mirrored: ``LogSegment`` (Scala up to 3.6.x, Java since 3.7.0) and the searches of ``FileRecords``, without the
transaction index, remote storage and compaction. A batch has only the fields that the segment reads; its bytes are not
part of this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from kafka_reference.arguments import checked, proven_by
from kafka_reference.errors import IllegalArgumentException, JavaException
from kafka_reference.java.int32 import INT_MAX
from kafka_reference.log_files.abstract_index import DEFAULT_MAX_INDEX_SIZE
from kafka_reference.log_files.entries import NO_TIMESTAMP, TimeEntry
from kafka_reference.log_files.mapped_file import Folder
from kafka_reference.log_files.offset_index import OffsetIndex
from kafka_reference.log_files.segment_behaviour import SEGMENTS, SegmentBehaviour
from kafka_reference.log_files.time_index import TimeIndex
from kafka_reference.releases import NEWEST, Release

__all__ = [
    "SEGMENTS",
    "LogSegment",
    "LogSegmentOffsetOverflowException",
    "RollLimits",
    "SegmentBatch",
    "SegmentBehaviour",
    "SegmentRead",
]


class LogSegmentOffsetOverflowException(JavaException, OverflowError):
    """An offset does not fit into 32 bits above the base offset of the segment; since 2.0.0."""


@checked
@dataclass(slots=True)
class SegmentBatch:
    """A batch of records: its first offset, the timestamps of its records in ms, its size in bytes, and its checksum.

    The offsets of its records ascend by one. ``valid`` is whether the checksum is right.
    """

    base_offset: int
    timestamps: tuple[int, ...]
    size: int
    valid: bool = True

    @property
    def last_offset(self) -> int:
        """The offset of the last record."""
        return self.base_offset + len(self.timestamps) - 1

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp in ms."""
        return max(self.timestamps)

    @property
    def offset_of_max_timestamp(self) -> int:
        """The offset of the first record that has the largest timestamp."""
        return self.base_offset + self.timestamps.index(self.max_timestamp)


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


@checked(version=proven_by("log-segment"))
class LogSegment:
    """A segment with its batches and both indexes.

    ``folder`` has the index files, ``batches`` what a file that exists holds; ``cut_bytes`` are those of a cut batch behind.

    >>> segment = LogSegment(0, index_interval_bytes=100)
    >>> for offset in range(4):
    ...     segment.append([SegmentBatch(offset, (1000 + offset,), 80)])
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
        folder: Folder | None = None,
        batches: Sequence[SegmentBatch] = (),
        cut_bytes: int = 0,
    ) -> None:
        self.behaviour, self.version = SegmentBehaviour.of(version), version
        self.base_offset, self.index_interval_bytes, self.max_index_size = (
            base_offset,
            index_interval_bytes,
            max_index_size,
        )
        self.roll_jitter_ms, self.created_ms = roll_jitter_ms, created_ms
        self.folder: Folder = {} if folder is None else folder
        self.batches, self.cut_bytes = list(batches), cut_bytes
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._largest: TimeEntry | None = None
        self._bytes_since_entry = 0
        self._first_timestamp: int | None = None
        if self.behaviour.largest_read_at_open:
            _ = self.offset_index, self.largest

    @property
    def size(self) -> int:
        """The size of the segment's file in bytes."""
        return sum(batch.size for batch in self.batches) + self.cut_bytes

    @property
    def offset_index(self) -> OffsetIndex:
        """The offset index, opened when it is first asked."""
        if self._offset_index is None:
            self._offset_index = OffsetIndex(
                self.base_offset, self.max_index_size, version=self.version, folder=self.folder
            )
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        """The time index, opened when it is first asked."""
        if self._time_index is None:
            self._time_index = TimeIndex(
                self.base_offset, self.max_index_size, version=self.version, folder=self.folder
            )
        return self._time_index

    @property
    def largest(self) -> TimeEntry:
        """The largest timestamp and its offset, mostly the last of its batch: at first what the time index ends with."""
        if self._largest is None:
            self._largest = self.time_index.last_entry
        return self._largest

    # Append.

    def append(self, batches: Sequence[SegmentBatch], *, by_leader: bool = False) -> None:
        """Append batches with one call, and the index entries that are due before each, or before all of them.

        An entry is due once more than ``index_interval_bytes`` were appended since the last one. ``by_leader``: the leader
        of the partition appends a batch that is not compressed, with timestamps of its producer. Raises
        LogSegmentOffsetOverflowException, and what the indexes raise if they are full.
        """
        if not batches:
            return
        if self.behaviour.one_entry_per_append:
            self._append_at_once(batches, by_leader=by_leader)
            return
        position = self.size
        self.check_offset(batches[-1].last_offset)
        self.batches += batches
        for batch in batches:
            self._note_timestamp(batch, batch.last_offset)
            self._index(batch.last_offset, position)
            position += batch.size
            self._bytes_since_entry += batch.size

    def _append_at_once(self, batches: Sequence[SegmentBatch], *, by_leader: bool) -> None:
        largest, position = max(batches, key=lambda batch: batch.max_timestamp), self.size
        if position == 0:
            self._first_timestamp = largest.max_timestamp
        self.check_offset(batches[-1].last_offset)
        self.batches += batches
        by_record = by_leader and self.behaviour.leader_notes_offset_of_record
        self._note_timestamp(largest, largest.offset_of_max_timestamp if by_record else largest.last_offset)
        self._index(self._entry_offset(batches[0], batches[-1]), position)
        self._bytes_since_entry += sum(batch.size for batch in batches)

    def _entry_offset(self, first: SegmentBatch, last: SegmentBatch) -> int:
        return first.base_offset if self.behaviour.entry_has_first_offset else last.last_offset

    def can_append(self, offset: int) -> bool:
        """Return whether the offset is not too far above the base offset, and since 2.0.0 not below it."""
        if self.behaviour.offset_check_is_loose:
            return offset - self.base_offset <= INT_MAX
        return self.offset_index.can_append_offset(offset)

    def check_offset(self, offset: int) -> None:
        """Raise LogSegmentOffsetOverflowException, up to 1.1.x IllegalArgumentException, for an offset that does not fit."""
        if not self.can_append(offset):
            if self.behaviour.overflow_reads_largest:
                _ = self.largest
            raise (
                IllegalArgumentException if self.behaviour.offset_check_is_loose else LogSegmentOffsetOverflowException
            )

    def _note_timestamp(self, batch: SegmentBatch, offset: int) -> None:
        if batch.max_timestamp > self.largest.timestamp:
            self._largest = TimeEntry(batch.max_timestamp, offset)

    def _index(self, offset: int, position: int) -> None:
        if self.entry_is_due(self._bytes_since_entry):
            self.offset_index.append(offset, position)
            self.time_index.maybe_append(*self.largest)
            self._bytes_since_entry = 0

    def entry_is_due(self, bytes_since_entry: int) -> bool:
        """Return whether the next batch gets an entry."""
        return bytes_since_entry > self.index_interval_bytes

    # Roll.

    def should_roll(self, limits: RollLimits) -> bool:
        """Return whether the next append goes to a new segment: by size, time, full indexes, or an offset too large."""
        waited = self.time_waited_for_roll(limits.now_ms, limits.max_timestamp)
        return (
            self.size > limits.max_segment_bytes - limits.append_bytes
            or (self.size > 0 and waited > limits.max_segment_ms - self.roll_jitter_ms)
            or self.offset_index.is_full
            or self.time_index.is_full
            or not self.can_append(limits.max_offset)
        )

    def time_waited_for_roll(self, now_ms: int, timestamp: int) -> int:
        """Return the ms from the first batch's timestamp to ``timestamp``; without one, since the segment was created."""
        if self._first_timestamp is None and self.batches:
            self._first_timestamp = self.batches[0].max_timestamp
        if self._first_timestamp is not None and self._first_timestamp >= 0:
            return timestamp - self._first_timestamp
        return now_ms - self.created_ms

    def become_inactive(self) -> None:
        """Finish the segment: the largest timestamp takes the last slot, and since 1.1.0 the indexes are trimmed."""
        self.time_index.maybe_append(*self.largest, True)
        if not self.behaviour.inactive_keeps_its_size:
            self.offset_index.trim_to_valid_size()
            self.time_index.trim_to_valid_size()

    def resize_indexes(self, size: int) -> None:
        """Give both index files ``size`` bytes (``resizeIndexes``, since 1.1.0)."""
        self.offset_index.resize(size)
        self.time_index.resize(size)

    # Read.

    def batches_from(self, start: int) -> Iterator[tuple[SegmentBatch, int]]:
        """Yield the batches from a position on, each with its position in bytes."""
        position = 0
        for batch in self.batches:
            if position >= start:
                yield batch, position
            position += batch.size

    def translate_offset(self, offset: int) -> tuple[SegmentBatch, int] | None:
        """Return the first batch that ends at the offset or behind it, with its position in bytes, or None."""
        found = self.batches_from(self.offset_index.lookup(offset).position)
        if self.behaviour.searches_by_last_offset:
            return next((each for each in found if each[0].last_offset >= offset), None)
        before = None
        for each in found:
            if each[0].base_offset >= offset:
                exact = each[0].base_offset == offset
                return before if not exact and before is not None and before[0].last_offset >= offset else each
            before = each
        return before if before is not None and before[0].last_offset >= offset else None

    def translated_offset(self, batch: SegmentBatch) -> int:
        """Return the offset that a translation to this batch shows."""
        return batch.last_offset if self.behaviour.translates_to_last_offset else batch.base_offset

    def read(
        self, offset: int, max_size: int, max_position: int | None = None, min_one_message: bool = False
    ) -> SegmentRead | None:
        """Return what is read from ``offset`` on: at most ``max_size`` bytes, and nothing behind ``max_position``.

        ``min_one_message`` reads the first batch whole, even if it is larger. None is behind the end of the segment. Raises
        IllegalArgumentException for a negative size, and for a ``max_position`` before the batch.
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
        size = min((self.size if max_position is None else max_position) - position, most)
        if size < 0:
            raise IllegalArgumentException
        return SegmentRead(shown, position, min(size, self.size - position), most < batch.size)

    def read_next_offset(self) -> int:
        """Return the offset behind the last batch; the base offset if there is none."""
        found = self.translate_offset(self.offset_index.last_offset)
        return self.base_offset if found is None else self.batches[-1].last_offset + 1

    def find_offset_by_timestamp(self, timestamp: int, starting_offset: int) -> TimeEntry | None:
        """Return the first record from an offset on that is not older than ``timestamp``, in ms, or None."""
        offset = max(self.time_index.lookup(timestamp).offset, starting_offset)
        for batch, _ in self.batches_from(self.offset_index.lookup(offset).position):
            for number, found in enumerate(batch.timestamps):
                if found >= timestamp and batch.base_offset + number >= starting_offset:
                    return TimeEntry(found, batch.base_offset + number)
        return None

    # Truncation and recovery.

    def truncate_to(self, offset: int, now_ms: int = 0) -> int:
        """Remove the batches from the one that holds ``offset``, and return their bytes.

        Index entries are removed from ``offset`` on, so one below it may stay that stands behind the last batch.
        """
        found = self.translate_offset(offset)
        if found is None and self.behaviour.truncates_only_what_it_has:
            return 0
        self.offset_index.truncate_to(offset)
        self.time_index.truncate_to(offset)
        self.resize_indexes(self.max_index_size)
        removed = 0 if found is None else self._cut(found[1])
        if self.size == 0:
            self.created_ms, self._first_timestamp = now_ms, None
        self._bytes_since_entry = 0
        if self.largest.timestamp >= 0:
            self._largest = self._read_largest()
        return removed

    def _cut(self, position: int) -> int:
        size = self.size
        self.batches = [batch for batch, start in self.batches_from(0) if start < position]
        self.cut_bytes = 0
        return size - position

    def _read_largest(self) -> TimeEntry:
        """Return the largest timestamp: that of the time index, or a larger one behind it."""
        largest = self.time_index.last_entry
        for batch, _ in self.batches_from(self.offset_index.lookup(largest.offset).position):
            if batch.max_timestamp > largest.timestamp:
                largest = TimeEntry(batch.max_timestamp, batch.last_offset)
        return largest

    def recover(self) -> int:
        """Rebuild the indexes from the batches, up to the first one that is not valid, and return the bytes cut off.

        An entry is due once more than ``index_interval_bytes`` stand before the batch since the last one, in every release
        for each batch. Raises LogSegmentOffsetOverflowException, and what the indexes raise if they are full.
        """
        self.offset_index.reset()
        self.time_index.reset()
        self._largest = TimeEntry(NO_TIMESTAMP, self.base_offset)
        position = last_entry = 0
        for batch in self.batches:
            if not batch.valid:
                break
            if not self.behaviour.offset_check_is_loose:
                self.check_offset(batch.last_offset)
            self._note_timestamp(batch, batch.last_offset)
            if self.entry_is_due(position - last_entry):
                self.offset_index.append(self._entry_offset(batch, batch), position)
                self.time_index.maybe_append(*self.largest)
                last_entry = position
            position += batch.size
        removed = self._cut(position)
        self.offset_index.trim_to_valid_size()
        self.time_index.maybe_append(*self.largest, True)
        self.time_index.trim_to_valid_size()
        return removed

    def close(self) -> None:
        """Close the segment: indexes that are open add the largest timestamp, and are trimmed, both up to 4.3.x.

        What the indexes raise is ignored.
        """
        if self.behaviour.close_opens_indexes:
            _ = self.offset_index, self.time_index, self.largest
        if self._largest is not None and self.behaviour.close_adds_largest:
            with suppress(JavaException):
                self.time_index.maybe_append(*self._largest, True)
        for index in (self._offset_index, self._time_index):
            if index is not None:
                index.close()
