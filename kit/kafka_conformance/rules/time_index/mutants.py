"""Known mistakes in a time index: search, append, the last slot, truncation, opening of files, life cycle."""

from __future__ import annotations

from functools import partial
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.common import index_mistakes as mistakes
from kafka_conformance.rules.common.index_mistakes import overriding
from kafka_conformance.rules.time_index.adapter import ask
from kafka_conformance.rules.time_index.rule import RULE
from kafka_reference.errors import IllegalStateException
from kafka_reference.log_files.entries import TimeEntry
from kafka_reference.log_files.errors import CorruptIndexException, IndexOffsetOverflowException, InvalidOffsetException
from kafka_reference.log_files.time_index import TimeIndex
from kafka_reference.releases import parse_release

__all__ = ["MUTANTS"]


class _RoundsUp(mistakes.RoundsUp, TimeIndex):
    pass


class _CountsToFirstZero(mistakes.CountsToFirstZero, TimeIndex):
    pass


class _CutEntryCounts(mistakes.CutEntryCounts, TimeIndex):
    pass


class _PreallocatesAgain(mistakes.PreallocatesAgain, TimeIndex):
    pass


class _KeepsTruncatedOffset(mistakes.KeepsTruncatedOffset, TimeIndex):
    pass


class _RemovesOneMore(mistakes.RemovesOneMore, TimeIndex):
    pass


class _ErasesTruncated(mistakes.ErasesTruncated, TimeIndex):
    pass


class _TrimsTruncated(mistakes.TrimsTruncated, TimeIndex):
    pass


class _RefusesToCut(TimeIndex):
    def resize(self, size: int) -> bool:
        return super().resize(max(size, self.size_in_bytes))


class _StrictlyBelowFound(mistakes.StrictlyBelowFound, TimeIndex):
    pass


class _FirstBelowFound(mistakes.FirstBelowFound, TimeIndex):
    pass


class _CeilingFound(mistakes.CeilingFound, TimeIndex):
    pass


class _StoresAbsoluteOffsets(mistakes.StoresAbsoluteOffsets, TimeIndex):
    pass


class _UncheckedLength(mistakes.UncheckedLength, TimeIndex):
    pass


class _LittleEndian(mistakes.LittleEndian, TimeIndex):
    pass


class _UsesLastSlot(TimeIndex):
    @property
    def is_full(self) -> bool:
        return self.entries >= self.max_entries


class _AlwaysChecksFull(TimeIndex):
    def maybe_append(self, timestamp: int, offset: int, _: bool = False) -> None:
        super().maybe_append(timestamp, offset)


class _AppendsEqual(TimeIndex):
    """An entry with the last timestamp is appended if its offset is larger."""

    def maybe_append(self, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        last = self.last_entry
        if self.entries and timestamp == last.timestamp and offset > last.offset:
            self._last = TimeEntry(timestamp - 1, last.offset)
        super().maybe_append(timestamp, offset, skip_full_check)


class _IgnoresOlder(TimeIndex):
    def maybe_append(self, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        try:
            super().maybe_append(timestamp, offset, skip_full_check)
        except IllegalStateException as error:
            if "position" in str(error):
                raise


class _AppendsAnyOffset(TimeIndex):
    def maybe_append(self, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        try:
            super().maybe_append(timestamp, offset, skip_full_check)
        except InvalidOffsetException:
            self._last = self._last._replace(offset=offset)
            super().maybe_append(timestamp, offset, skip_full_check)


class _OverflowWritesNothing(TimeIndex):
    """A refused offset leaves the file unchanged."""

    def maybe_append(self, timestamp: int, offset: int, skip_full_check: bool = False) -> None:
        position = self._mapped.position if self._mapped is not None else 0
        try:
            super().maybe_append(timestamp, offset, skip_full_check)
        except IndexOffsetOverflowException:
            self.mapped.move(position)
            raise


class _NothingFoundIsZero(TimeIndex):
    def lookup(self, timestamp: int) -> TimeEntry:
        found = super().lookup(timestamp)
        return TimeEntry(max(found.timestamp, 0), found.offset)


class _EmptyIsZero(TimeIndex):
    """An index without entries has the last timestamp 0."""

    def _read_last(self) -> TimeEntry:
        return super()._read_last() if self.entries else TimeEntry(0, self.base_offset)


class _TruncatesByTime(TimeIndex):
    """The entries are searched for the offset as if it were a timestamp."""

    def truncate_to(self, offset: int) -> None:
        self.truncate_at(self._read_timestamp, offset)


class _OneEntryIsCorrupt(TimeIndex):
    """The last timestamp has to be larger than the first one."""

    def sanity_check(self) -> None:
        super().sanity_check()
        if self.entries and self._read_timestamp(0) == self.last_entry.timestamp:
            raise CorruptIndexException


class _UncheckedTime(TimeIndex):
    """The sanity check does not compare timestamps."""

    def sanity_check(self) -> None:
        if self.entries and self._read_timestamp(0) > self.last_entry.timestamp:
            self.check_length()
        else:
            super().sanity_check()


class _RemembersTruncated(TimeIndex):
    """The last entry stays the one that was removed."""

    def truncate_to_entries(self, entries: int) -> None:
        last = self._last
        super().truncate_to_entries(entries)
        self._last = last


_KAFKA = "https://github.com/apache/kafka/pull/"
_SPACETIME = "https://github.com/clockworklabs/SpacetimeDB/pull/"
_LAVINMQ = "https://github.com/cloudamqp/lavinmq/pull/384"
_ADDED = f"{_KAFKA}1215"


def _mutant(slug: str, description: str, ask: Ask, *references: str, release: str = "4.4.0") -> Mutant:
    return Mutant(slug, RULE.slug, description, ask, parse_release(release), references)


def _index(slug: str, description: str, create: type[TimeIndex], *references: str) -> Mutant:
    return _mutant(slug, description, partial(ask, create=create), *references)


def _behaviour(slug: str, description: str, *references: str, release: str = "4.4.0", **values: Any) -> Mutant:
    return _mutant(slug, description, overriding(RULE.slug, **values), *references, release=release)


MUTANTS = (
    _index("time-index-rounds-up", "the file is larger than its maximum", _RoundsUp, f"{_KAFKA}983"),
    _index("time-index-ends-at-zeros", "zeros at the end of a file are no entries", _CountsToFirstZero, f"{_KAFKA}8936"),
    _index("time-index-completes-entry", "a cut entry is completed with zeros", _CutEntryCounts, _LAVINMQ),
    _index("time-index-preallocates-again", "a file that exists is preallocated", _PreallocatesAgain, f"{_KAFKA}2501"),
    _index(
        "time-index-keeps-truncated", "the entry of the offset is kept", _KeepsTruncatedOffset, _ADDED, f"{_SPACETIME}2073"
    ),
    _index("time-index-removes-one-more", "an entry too many is removed", _RemovesOneMore, f"{_SPACETIME}2549"),
    _index("time-index-erases-truncated", "removed entries are zeroed", _ErasesTruncated),
    _index("time-index-trims-truncated", "truncation cuts the file", _TrimsTruncated, f"{_KAFKA}4498", f"{_KAFKA}5986"),
    _index("time-index-refuses-to-cut", "entries are never cut off", _RefusesToCut, f"{_KAFKA}3150"),
    _index("time-index-strictly-below", "a lookup finds what is before the timestamp", _StrictlyBelowFound),
    _index(
        "time-index-first-below", "below the first entry is the first entry", _FirstBelowFound,
        "https://github.com/erleans/vonnegut/pull/57",
    ),
    _index(
        "time-index-ceiling", "a lookup finds the next entry", _CeilingFound,
        "https://github.com/redpanda-data/redpanda/pull/31349",
    ),
    _index("time-index-absolute", "offsets are stored without the base offset taken off", _StoresAbsoluteOffsets),
    _index("time-index-any-length", "a file may end in mid-entry", _UncheckedLength),
    _index(
        "time-index-little-endian", "numbers have their low byte first", _LittleEndian,
        "https://github.com/apache/pinot/pull/6320",
    ),
    _index("time-index-uses-last-slot", "the last slot is an ordinary one", _UsesLastSlot, _ADDED),
    _index("time-index-always-checks", "the roll of a segment does not get the last slot", _AlwaysChecksFull, _ADDED),
    _index("time-index-appends-equal", "the same timestamp is appended with a larger offset", _AppendsEqual, _ADDED),
    _index("time-index-ignores-older", "an older timestamp is left out", _IgnoresOlder, _ADDED),
    _index("time-index-any-offset", "offsets may descend", _AppendsAnyOffset, _ADDED),
    _index("time-index-overflow-writes-nothing", "a refused offset writes nothing", _OverflowWritesNothing, f"{_KAFKA}4692"),
    _index(
        "time-index-nothing-is-zero", "nothing found has the timestamp 0", _NothingFoundIsZero,
        "https://github.com/AutoMQ/automq/pull/2039",
    ),
    _index("time-index-empty-is-zero", "an index without entries has the timestamp 0", _EmptyIsZero, f"{_KAFKA}8936"),
    _index("time-index-truncates-by-time", "truncation searches timestamps", _TruncatesByTime),
    _index("time-index-one-entry-is-corrupt", "one entry is corrupt", _OneEntryIsCorrupt),
    _index("time-index-unchecked-time", "timestamps may go back", _UncheckedTime, f"{_KAFKA}8936"),
    _index(
        "time-index-remembers-truncated", "the last entry stays after truncation", _RemembersTruncated,
        "https://github.com/atomix/atomix/pull/295",
    ),
    _behaviour(
        "time-index-whole-search", "the search starts with the whole index", f"{_KAFKA}5346", searches_whole_index=True
    ),
    _behaviour("time-index-overflows", "an offset loses its high bits", f"{_KAFKA}4975", offsets_overflow=True),
    _behaviour("time-index-relative-entry", "entries have no base offset", f"{_KAFKA}5756", entry_is_relative=True),
    _behaviour("time-index-close-trims", "closing cuts the file", close_trims=True),
    _behaviour("time-index-close-keeps", "a closed index goes on", f"{_KAFKA}5757", close_keeps_mapping=True),
    _behaviour("time-index-flushes-open", "flushing a closed index throws", closed_is_flushed=False),
    _behaviour("time-index-maps-again", "the same size is another size", f"{_KAFKA}3110", same_size_maps_again=True),
    _behaviour(
        "time-index-trims-closed", "a closed index is trimmed", f"{_KAFKA}19961", release="4.3.1", trims_only_if_mapped=False
    ),
    _behaviour(
        "time-index-last-from-file", "the last entry is read from the file each time", release="1.1.1",
        last_entry_read_from_file=True,
    ),
)  # fmt: skip
