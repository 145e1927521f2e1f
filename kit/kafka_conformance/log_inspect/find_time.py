"""Find the records of a time: in which partitions, segments and offsets they are, also where timestamps are out of order.

A broker's search by time returns one offset, that of the first record at or after the time. Where timestamps are out of
order, records of the time may follow anywhere after it. Example: offsets 0 to 3 have the minutes 10, 12, 11, 13. The search
for minute 11 returns offset 1; the record of minute 11 is offset 2.

Headers of batches are read, 4 KiB at a time, and the records of those batches only that may have some of the time. Batches
before the time are skipped by the time index, which names the largest timestamp up to an offset. Memory is bounded: of each
partition the first 20 ranges of offsets are kept.

Java source mirrored: ``UnifiedLog.searchOffsetInLocalLog``, ``LogSegment.findOffsetByTimestamp``.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.log_inspect.directory import LARGEST_FILE, LogDirectory, Partition, SegmentFiles, open_file
from kafka_conformance.log_inspect.find import one_partition, read_limit
from kafka_conformance.log_inspect.header import (
    CODEC_MASK,
    DELETE_HORIZON,
    HEADER,
    LOG_APPEND_TIME,
    BatchHeader,
    header_in,
)
from kafka_conformance.log_inspect.index_files import IndexFile
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import decode_header

__all__ = ["FirstRecord", "TimeRange", "TimeSearch", "TimeSearches", "find_time", "parse_time"]

_AT_ONCE = 4_096
_KEPT = 20
_MOST_MS = 2**63 - 1
_TEXT = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d)(?::(\d\d)(?::(\d\d)(?:\.(\d{3}))?)?)?)?(Z|[+-]\d\d:\d\d)?)?)?", re.ASCII
)
_DATE = re.compile(r"(\d{4})(?:(\d\d)(\d\d))?", re.ASCII)
_UNITS_MS = (86_400_000, 3_600_000, 60_000, 1_000, 1)
_DECEMBER = 12
_MS = datetime.timedelta(milliseconds=1)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class FirstRecord(msgspec.Struct, frozen=True):
    """The first record at or after a time, in the order of offsets: the answer of a broker's search by time."""

    segment: int
    offset: int
    timestamp: int


class TimeRange(msgspec.Struct, frozen=True):
    """Batches that follow each other in a segment, each with records of the time.

    ``position`` is that of the first one, in bytes. The offsets are those of the batches; timestamps are those of the
    records of the time, in ms.
    """

    segment: int
    position: int
    first_offset: int
    last_offset: int
    batches: int
    smallest_timestamp: int
    largest_timestamp: int


class TimeSearch(msgspec.Struct, frozen=True, kw_only=True):
    """A partition: the first record at or after the time, and the ranges of offsets with records of the time.

    ``more_ranges`` are only counted. ``skipped`` is the number of segments that the time index shows to be before the time.
    ``unread`` tells what could not be read: records of the time may be there.
    """

    partition: str
    first: FirstRecord | None
    ranges: Sequence[TimeRange]
    more_ranges: int
    batches: int
    segments: int
    skipped: int
    unread: Sequence[str]


class TimeSearches(msgspec.Struct, frozen=True, kw_only=True):
    """A search by time: from ``first_ms`` to ``last_ms``, both included."""

    first_ms: int
    last_ms: int
    partitions: Sequence[TimeSearch]

    @property
    def found(self) -> bool:
        """Has any partition a record of the time?"""
        return any(each.ranges for each in self.partitions)

    @property
    def judged(self) -> bool:
        """Could everything be read?"""
        return not any(each.unread for each in self.partitions)


def parse_time(text: str) -> tuple[int, int]:
    """Return the first and the last ms that a time stands for. Raises BadInput.

    Examples: ``1700000000123`` is a number of ms; ``2023`` a year, ``2023-11`` a month, ``2023-11-14`` and ``20231114`` a
    day, ``2023-11-14T22:13`` a minute, in UTC; ``2023-11-14T23:13+01:00`` is the same minute.
    """
    if text.isdecimal() and text.isascii() and not _DATE.fullmatch(text) and int(text) <= _MOST_MS:
        return int(text), int(text)
    date = _DATE.fullmatch(text)
    found = _TEXT.fullmatch("-".join(filter(None, date.groups())) if date else text)
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part or 1) for part in found.groups()[:3])
        parts = [part for part in found.groups()[3:7] if part is not None]
        time = f"{found[4] or '00'}:{found[5] or '00'}:{found[6] or '00'}.{found[7] or '000'}"
        zone = "+00:00" if found[8] in {None, "Z"} else found[8]
        since = datetime.datetime.fromisoformat(f"{year:04}-{month:02}-{day:02}T{time}{zone}") - _EPOCH
        if since < datetime.timedelta():
            raise ValueError
        length = _UNITS_MS[len(parts)]
        if found[3] is None:
            year, month = (year + 1, 1) if found[2] is None or month == _DECEMBER else (year, month + 1)
            length = (datetime.datetime(year, month, 1, tzinfo=datetime.UTC) - _EPOCH - since) // _MS
    except (ValueError, OverflowError):
        raise BadInput(f"{text!r} is not a time since 1970: write ms, such as 1700000000123 (0 in front of fewer than 9 "
                       "digits), or a year, month, day, hour, minute, second or ms, such as 2023-11 or "
                       "2023-11-14T22:13:20.123") from None  # fmt: skip
    return since // _MS, since // _MS + length - 1


def find_time(
    directory: LogDirectory,
    times: tuple[int, int],
    *,
    name: str = "",
    scan: bool = False,
    begins: Callable[[str], object] = lambda _: None,
    ends: Callable[[], object] = lambda: None,
) -> TimeSearches:
    """Search all partitions, or the one named, for records from the first to the last of ``times``, in ms.

    ``scan``: read every batch and the records of each, and no index. ``begins`` is called with the name of each partition
    before the search, ``ends`` after it. Raises BadInput for an unknown partition.
    """
    found = []
    for partition in [one_partition(directory, name)] if name else directory.partitions:
        begins(partition.name)
        found.append(_PartitionSearch(partition, *times, scan).run())
        ends()
    return TimeSearches(first_ms=times[0], last_ms=times[1], partitions=found)


@dataclass(slots=True)
class _PartitionSearch:
    partition: Partition
    start: int
    end: int
    scan: bool
    first: FirstRecord | None = None
    ranges: list[TimeRange] = field(default_factory=list)
    more: int = 0
    batches: int = 0
    skipped: int = 0
    unread: list[str] = field(default_factory=list)

    def run(self) -> TimeSearch:
        for files in self.partition.segments:
            try:
                self._segment(files)
            except OSError as error:
                self._cannot_read(files, str(error.strerror))
        return TimeSearch(
            partition=self.partition.name, first=self.first, ranges=self.ranges, more_ranges=self.more,
            batches=self.batches, segments=len(self.partition.segments), skipped=self.skipped, unread=self.unread,
        )  # fmt: skip

    def _segment(self, files: SegmentFiles) -> None:
        active = files is self.partition.active
        try:
            begin = 0 if self.scan else _first_position(files, self.start, active=active)
        except OSError:  # of an index: the batches have all that it has
            begin = 0
        if begin is None:
            self.skipped += 1
            return
        run: TimeRange | None = None
        with open_file(files.path("log")) as log:
            descriptor = log.fileno()
            for position, header in self._headers(files, descriptor, begin):
                within = self._within(files, descriptor, position, header)
                if within is None:
                    run = None
                    continue
                self.batches += 1
                run = self._extend(run, files.base_offset, position, header, within)

    def _extend(
        self, run: TimeRange | None, segment: int, position: int, header: BatchHeader, within: tuple[int, int]
    ) -> TimeRange:
        """Add a batch with records of the time to the range that is open, or begin one."""
        low, high = within
        if run is None:
            made = TimeRange(segment, position, header.base_offset, header.last_offset, 1, low, high)
        else:
            made = TimeRange(segment, run.position, run.first_offset, header.last_offset, run.batches + 1,
                             min(low, run.smallest_timestamp), max(high, run.largest_timestamp))  # fmt: skip
        if run is not None and self.ranges and self.ranges[-1] is run:
            self.ranges[-1] = made
        elif run is None and len(self.ranges) < _KEPT:
            self.ranges.append(made)
        elif run is None:
            self.more += 1
        return made

    def _headers(self, files: SegmentFiles, descriptor: int, position: int) -> Iterator[tuple[int, BatchHeader]]:
        size = os.fstat(descriptor).st_size
        if size > LARGEST_FILE:
            self._cannot_read(files, f"{size:,} bytes are more than {LARGEST_FILE:,}")
            return
        begin, data = 0, b""
        while position < size:
            at = position - begin
            if not 0 <= at <= len(data) - HEADER.size:
                begin, at = position, 0
                data = os.pread(descriptor, _AT_ONCE, position)
            header = header_in(data, at, size - position)
            if header is None:
                if any(os.pread(descriptor, HEADER.size, position)):  # zeros are preallocated
                    self._cannot_read(files, f"at position {position:,} is not a batch: run `log inspect` for details")
                return
            yield position, header
            position += header.size

    def _within(
        self, files: SegmentFiles, descriptor: int, position: int, header: BatchHeader
    ) -> tuple[int, int] | None:
        """Return the smallest and largest timestamp of the time in a batch, None if it has none."""
        low, high = header.base_timestamp, header.max_timestamp
        if not header.records:
            return None
        if self.scan:
            return self._decoded(files, descriptor, position, header)
        if high < self.start:
            return None
        if self.first is None or header.attributes & DELETE_HORIZON:
            return self._decoded(files, descriptor, position, header)
        if header.magic < 2 and header.attributes & CODEC_MASK:  # the header is that of all messages together
            return self._decoded(files, descriptor, position, header)
        if header.attributes & LOG_APPEND_TIME:
            low = high
        if self.start <= low <= high <= self.end:
            return low, high
        if low > self.end:
            return None  # but for a record that is before the first one of its batch: ``scan`` finds it
        return self._decoded(files, descriptor, position, header)

    def _decoded(
        self, files: SegmentFiles, descriptor: int, position: int, header: BatchHeader
    ) -> tuple[int, int] | None:
        data = os.pread(descriptor, header.size, position)
        why = read_limit(header, data)
        low = high = -1
        try:
            batch = None if why else decode_header(data)
            if not why and (batch is None or not batch.valid()):
                why = "its checksum is wrong"
            for record in () if why or batch is None else batch.records():
                if record is None or record.timestamp < self.start:
                    continue
                if self.first is None and header.max_timestamp >= self.start:  # a broker passes by the others
                    self.first = FirstRecord(files.base_offset, record.offset, record.timestamp)
                if record.timestamp <= self.end:
                    low = record.timestamp if low < 0 else min(low, record.timestamp)
                    high = max(high, record.timestamp)
        except JavaException as thrown:
            why = f"its records cannot be decoded: {thrown.java_name}"
        if why:
            self._cannot_read(files, f"the batch at position {position:,}: {why}")
        return None if low < 0 else (low, high)

    def _cannot_read(self, files: SegmentFiles, why: str) -> None:
        if len(self.unread) < _KEPT:
            self.unread.append(f"{files.path('log').name}: {why}")


def _first_position(files: SegmentFiles, start: int, *, active: bool) -> int | None:
    """Return a position in the ``.log`` before which no timestamp is at or after ``start``; None if none is in the segment.

    An index that is missing, empty, or does not ascend says nothing: then it is the beginning.
    """
    if not {"index", "timeindex"} <= files.suffixes:
        return 0
    before, last = -1, -1
    for entry in IndexFile(files.path("timeindex"), files.base_offset).time_entries():
        if entry.timestamp <= last or entry.offset < before:
            return 0
        last = entry.timestamp
        if entry.timestamp < start:
            before = entry.offset
    if last < 0:
        return 0
    if last < start and not active:  # a closed segment ends with its largest timestamp
        return None
    position = 0
    for found in IndexFile(files.path("index"), files.base_offset).offset_entries():
        if found.offset > before or found.position < position:
            break
        position = found.position
    return position
