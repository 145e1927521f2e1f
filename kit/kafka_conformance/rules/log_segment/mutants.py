"""Known mistakes in a log segment: sparse entries, roll, read, search, truncation, recovery, opening and closing."""

# ruff: noqa: ARG002 - a mistake may ignore an argument

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.log_segment.adapter import ask
from kafka_conformance.rules.log_segment.rule import RULE
from kafka_reference.behaviour import overridden
from kafka_reference.log_files.entries import TimeEntry
from kafka_reference.log_files.log_segment import LogSegment, RollLimits, SegmentBatch, SegmentRead
from kafka_reference.log_files.segment_behaviour import SegmentBehaviour
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]


class _AtInterval(LogSegment):
    def entry_is_due(self, bytes_since_entry: int) -> bool:
        return bytes_since_entry >= self.index_interval_bytes


class _CountsFirst(LogSegment):
    """The bytes of a batch are counted before its entry is due, not after."""

    def append(self, batches: Sequence[SegmentBatch], *, by_leader: bool = False) -> None:
        size = sum(batch.size for batch in batches)
        self._bytes_since_entry += size
        super().append(batches, by_leader=by_leader)
        self._bytes_since_entry -= size if self._bytes_since_entry >= size else 0


class _KeepsRemainder(LogSegment):
    """The interval goes on with what was more than it."""

    def _index(self, offset: int, position: int) -> None:
        before = self._bytes_since_entry
        super()._index(offset, position)
        if before > self.index_interval_bytes:
            self._bytes_since_entry = before - self.index_interval_bytes


class _EntryBehind(LogSegment):
    """An entry has the position behind its batch."""

    def _index(self, offset: int, position: int) -> None:
        super()._index(offset, self.size)


class _LaterTie(LogSegment):
    """Of batches with the same largest timestamp the last one counts."""

    def _note_timestamp(self, batch: SegmentBatch, offset: int) -> None:
        if batch.max_timestamp == self.largest.timestamp:
            self._largest = TimeEntry(batch.max_timestamp, offset)
        super()._note_timestamp(batch, offset)


class _FirstOfLargest(LogSegment):
    """The largest timestamp is at the record that has it, not at the end of its batch."""

    def _note_timestamp(self, batch: SegmentBatch, offset: int) -> None:
        super()._note_timestamp(batch, batch.offset_of_max_timestamp)


class _FollowerAsLeader(LogSegment):
    def append(self, batches: Sequence[SegmentBatch], *, by_leader: bool = False) -> None:
        super().append(batches, by_leader=True)


class _AnyOffset(LogSegment):
    def check_offset(self, offset: int) -> None:
        """Accept any offset."""


class _RollsAtSize(LogSegment):
    def should_roll(self, limits: RollLimits) -> bool:
        return super().should_roll(replace(limits, append_bytes=limits.append_bytes + 1))


class _RollsByClock(LogSegment):
    def time_waited_for_roll(self, now_ms: int, timestamp: int) -> int:
        return super().time_waited_for_roll(now_ms, now_ms)


class _RollsSinceCreated(LogSegment):
    def time_waited_for_roll(self, now_ms: int, timestamp: int) -> int:
        return now_ms - self.created_ms


class _RollsByLargest(LogSegment):
    """The time since the largest timestamp counts, not since the first batch's."""

    def time_waited_for_roll(self, now_ms: int, timestamp: int) -> int:
        super().time_waited_for_roll(now_ms, timestamp)
        if self.batches and self.largest.timestamp >= 0:
            return timestamp - self.largest.timestamp
        return now_ms - self.created_ms


class _NoJitter(LogSegment):
    def should_roll(self, limits: RollLimits) -> bool:
        return super().should_roll(replace(limits, max_segment_ms=limits.max_segment_ms + self.roll_jitter_ms))


class _RollsEmpty(LogSegment):
    def should_roll(self, limits: RollLimits) -> bool:
        waited = self.time_waited_for_roll(limits.now_ms, limits.max_timestamp)
        return super().should_roll(limits) or waited > limits.max_segment_ms - self.roll_jitter_ms


class _RollsByOffset(LogSegment):
    """An offset that does not fit rolls nothing."""

    def should_roll(self, limits: RollLimits) -> bool:
        return super().should_roll(replace(limits, max_offset=self.base_offset))


class _NeverOneMessage(LogSegment):
    def read(
        self, offset: int, max_size: int, max_position: int | None = None, min_one_message: bool = False
    ) -> SegmentRead | None:
        return super().read(offset, max_size, max_position)


class _AnyPosition(LogSegment):
    def read(
        self, offset: int, max_size: int, max_position: int | None = None, min_one_message: bool = False
    ) -> SegmentRead | None:
        return super().read(offset, max_size, None, min_one_message)


class _WholeBatches(LogSegment):
    """A read ends with the last batch that fits whole."""

    def read(
        self, offset: int, max_size: int, max_position: int | None = None, min_one_message: bool = False
    ) -> SegmentRead | None:
        found = super().read(offset, max_size, max_position, min_one_message)
        if found is None:
            return None
        size = 0
        for batch, start in self.batches_from(found.position):
            if start + batch.size - found.position <= found.size:
                size = start + batch.size - found.position
        return replace(found, size=size)


class _BehindEntry(LogSegment):
    """The search starts behind the batch of the index entry."""

    def batches_from(self, start: int) -> Iterator[tuple[SegmentBatch, int]]:
        return super().batches_from(start + 1 if start else 0)


class _NoGaps(LogSegment):
    """An offset between two batches is in none of them."""

    def translate_offset(self, offset: int) -> tuple[SegmentBatch, int] | None:
        found = super().translate_offset(offset)
        return found if found is not None and found[0].base_offset <= offset else None


class _CountsRecords(LogSegment):
    """Offsets have no gaps."""

    def read_next_offset(self) -> int:
        return self.base_offset + sum(len(batch.timestamps) for batch in self.batches)


class _FirstOfBatch(LogSegment):
    """A timestamp is found at the start of its batch."""

    def find_offset_by_timestamp(self, timestamp: int, starting_offset: int) -> TimeEntry | None:
        found = super().find_offset_by_timestamp(timestamp, starting_offset)
        if found is None:
            return None
        batch = next(each for each in self.batches if each.base_offset <= found.offset <= each.last_offset)
        return TimeEntry(batch.timestamps[0], batch.base_offset)


class _AnyStart(LogSegment):
    def find_offset_by_timestamp(self, timestamp: int, starting_offset: int) -> TimeEntry | None:
        return super().find_offset_by_timestamp(timestamp, self.base_offset)


class _NewerOnly(LogSegment):
    def find_offset_by_timestamp(self, timestamp: int, starting_offset: int) -> TimeEntry | None:
        return super().find_offset_by_timestamp(timestamp + 1, starting_offset)


class _KeepsBatch(LogSegment):
    """The batch that holds the offset is kept, unless it begins with it."""

    def truncate_to(self, offset: int, now_ms: int = 0) -> int:
        found = self.translate_offset(offset)
        inside = found is not None and found[0].base_offset < offset
        return super().truncate_to(found[0].last_offset + 1 if found is not None and inside else offset, now_ms)


class _KeepsEntries(LogSegment):
    def truncate_to(self, offset: int, now_ms: int = 0) -> int:
        offsets, times = self.offset_index, self.time_index
        kept = offsets.entries, times.entries
        removed = super().truncate_to(offset, now_ms)
        offsets.truncate_to_entries(kept[0])
        times.truncate_to_entries(kept[1])
        return removed


class _KeepsCount(LogSegment):
    def truncate_to(self, offset: int, now_ms: int = 0) -> int:
        count = self._bytes_since_entry
        removed = super().truncate_to(offset, now_ms)
        self._bytes_since_entry = count
        return removed


class _KeepsLargest(LogSegment):
    def _read_largest(self) -> TimeEntry:
        return self.largest


class _KeepsCreated(LogSegment):
    """A segment that becomes empty keeps its age."""

    def truncate_to(self, offset: int, now_ms: int = 0) -> int:
        return super().truncate_to(offset, self.created_ms)


class _TrustsChecksums(LogSegment):
    def recover(self) -> int:
        for batch in self.batches:
            batch.valid = True
        return super().recover()


class _SkipsDamaged(LogSegment):
    """Recovery leaves a damaged batch out, and goes on behind it."""

    def recover(self) -> int:
        size = self.size
        self.batches = [batch for batch in self.batches if batch.valid]
        super().recover()
        return size - self.size


class _ForgetsInactive(LogSegment):
    def become_inactive(self) -> None:
        self.offset_index.trim_to_valid_size()
        self.time_index.trim_to_valid_size()


class _RefusesLastSlot(LogSegment):
    def become_inactive(self) -> None:
        self.time_index.maybe_append(*self.largest)
        super().become_inactive()


def _behaving(**values: Any) -> Ask:
    def answer(question: Any, release: Release) -> Answer:
        with overridden(SegmentBehaviour, **values):
            return ask(question, release)

    return answer


_KAFKA = "https://github.com/apache/kafka/pull/"
_REDPANDA = "https://github.com/redpanda-data/redpanda/pull/"
_IGGY = "https://github.com/apache/iggy/pull/3946"


def _mutant(slug: str, description: str, ask: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(f"log-segment-{slug}", RULE.slug, description, ask, parse_release(release), references)


def _segment(slug: str, description: str, create: type[LogSegment], *references: str) -> Mutant:
    return _mutant(slug, description, partial(ask, create=create), *references)


MUTANTS = (
    _mutant(
        "one-entry-per-append", "an append of many batches adds one entry", _behaving(one_entry_per_append=True),
        f"{_KAFKA}18012",
    ),
    _mutant(
        "entries-of-each-batch", "each batch may get an entry, before there was a release that did so",
        _behaving(one_entry_per_append=False), f"{_KAFKA}18842", release="3.9.0",
    ),
    _mutant(
        "leader-notes-last-offset", "a leader passes the last offset of a batch for the time index",
        _behaving(leader_notes_offset_of_record=False), release="2.8.2",
    ),
    _mutant(
        "follower-notes-record", "a follower passes the offset of the record for the time index",
        partial(ask, create=_FollowerAsLeader), release="2.8.2",
    ),
    _mutant("first-offset", "an entry has the first offset", _behaving(entry_has_first_offset=True)),
    _mutant("requested-offset", "a read shows the offset asked for", _behaving(reads_at_requested_offset=True)),
    _mutant("eager", "the indexes are opened with the segment", _behaving(largest_read_at_open=True), f"{_KAFKA}5498"),
    _mutant(
        "close-loads", "closing opens indexes that were never used", _behaving(close_opens_indexes=True), f"{_KAFKA}8346",
        release="3.4.1",
    ),
    _mutant(
        "overflow-opens-nothing", "an offset that does not fit leaves the time index closed",
        _behaving(overflow_reads_largest=False), release="3.6.2",
    ),
    _mutant("close-adds", "closing adds the largest timestamp", _behaving(close_adds_largest=True)),
    _mutant(
        "truncates-only-what-it-has", "an offset behind the last batch truncates nothing",
        _behaving(truncates_only_what_it_has=True),
    ),
    _segment("at-interval", "an entry is due at the interval, not behind it", _AtInterval),
    _segment("counts-first", "a batch counts for its own entry", _CountsFirst, f"{_KAFKA}11856"),
    _segment("keeps-remainder", "the interval goes on with the remainder", _KeepsRemainder),
    _segment("entry-behind", "an entry stands behind its batch", _EntryBehind),
    _segment("later-tie", "the last of equal timestamps counts", _LaterTie),
    _segment("first-of-largest", "the time index has the record, not its batch's end", _FirstOfLargest, f"{_KAFKA}15621"),
    _segment("any-offset", "any offset is appended", _AnyOffset),
    _segment("rolls-at-size", "a segment may not be filled to its limit", _RollsAtSize),
    _segment("rolls-by-clock", "the clock counts, not the record's timestamp", _RollsByClock, f"{_KAFKA}1809"),
    _segment("rolls-since-created", "the age of the file counts", _RollsSinceCreated, "https://github.com/AutoMQ/automq/pull/511"),
    _segment("rolls-by-largest", "the time since the largest timestamp counts", _RollsByLargest),
    _segment("no-jitter", "the jitter is forgotten", _NoJitter),
    _segment("rolls-empty", "an empty segment is rolled by its age", _RollsEmpty, "https://github.com/AutoMQ/automq/pull/504"),
    _segment("rolls-by-offset", "an offset that does not fit rolls nothing", _RollsByOffset),
    _segment("never-one-message", "a batch larger than the read is cut", _NeverOneMessage, f"{_REDPANDA}1532"),
    _segment("any-position", "a read ends at the end of the file", _AnyPosition),
    _segment("whole-batches", "a read has whole batches only", _WholeBatches),
    _segment("behind-entry", "the search starts behind the entry's batch", _BehindEntry),
    _segment("no-gaps", "an offset between two batches is not found", _NoGaps),
    _segment("counts-records", "the next offset is the number of records", _CountsRecords, f"{_REDPANDA}11450"),
    _segment("first-of-batch", "a timestamp is found at the start of its batch", _FirstOfBatch),
    _segment("any-start", "records before the starting offset are found", _AnyStart),
    _segment("newer-only", "a record of the same time is not found", _NewerOnly),
    _segment("keeps-batch", "a batch that holds the offset is kept", _KeepsBatch),
    _segment("keeps-entries", "entries of removed batches stay", _KeepsEntries, f"{_REDPANDA}3125"),
    _segment("keeps-count", "the bytes since the last entry are counted on after truncation", _KeepsCount),
    _segment("keeps-largest", "the largest timestamp of removed batches stays", _KeepsLargest),
    _segment("keeps-created", "a segment that becomes empty is as old as before", _KeepsCreated),
    _segment("trusts-checksums", "recovery keeps damaged batches", _TrustsChecksums, _IGGY),
    _segment("skips-damaged", "recovery goes on behind a damaged batch", _SkipsDamaged, _IGGY),
    _segment("forgets-inactive", "an inactive segment lacks its largest timestamp", _ForgetsInactive),
    _segment("refuses-last-slot", "an inactive segment may not use the last slot", _RefusesLastSlot),
)  # fmt: skip
