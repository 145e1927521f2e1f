"""Find an offset as a broker does: the segment by name, the index entry at or below it, and a scan of batches from there.

Java source mirrored: ``LocalLog.read`` (the segment with the largest base offset at or below), ``OffsetIndex.lookup``
(binary search for the largest entry at or below), ``FileRecords.searchForOffsetWithSize`` (the first batch whose last
offset is not lower).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.log_inspect.directory import LARGEST_FILE, LogDirectory, Partition, SegmentFiles
from kafka_conformance.log_inspect.expansion import LARGEST_BYTES, MOST_RECORDS, too_large
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.index_files import IndexFile, OffsetEntry
from kafka_conformance.log_inspect.scan import Segment
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import Message, decode_header
from kafka_reference.record_batch.types import Record

__all__ = ["FoundBatch", "FoundRecord", "Probe", "Search", "find_offset", "one_partition", "read_limit"]

_SHOWN = 200
_SHOWN_BATCHES = 1_000


class Probe(msgspec.Struct, frozen=True):
    """A step of the binary search: the number of the entry, from 0, its offset and position, and is it at or below?"""

    number: int
    offset: int
    position: int
    at_or_below: bool


class FoundBatch(msgspec.Struct, frozen=True):
    """A batch that the scan read: where it begins, its size, its offsets, its number of records and its codec."""

    position: int
    size: int
    first_offset: int
    last_offset: int
    records: int
    codec: str


class FoundRecord(msgspec.Struct, frozen=True):
    """A record; ``key`` and ``value`` are clipped text, None for null."""

    offset: int
    timestamp: int
    key: str | None
    value: str | None


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """A search, step by step. ``record`` is the first one at or after ``offset``; None, as ``batch``, if there is none.

    ``passed`` are the batches before ``batch``, at most the last 1,000; ``read`` is the number of batches that were read.
    ``judged`` is False if the batch was too large to be read: whether it has the record is not known.
    """

    partition: str
    offset: int
    segments: Sequence[int]
    segment: int | None
    file: str
    entries: int
    probes: Sequence[Probe]
    entry: Probe | None
    start: int
    read: int
    passed: Sequence[FoundBatch]
    batch: FoundBatch | None
    record: FoundRecord | None
    why: str
    judged: bool = True


def one_partition(directory: LogDirectory, name: str) -> Partition:
    """Return the partition named, or the only one. Raises BadInput."""
    if not name and len(directory.partitions) == 1:
        return directory.partitions[0]
    for partition in directory.partitions:
        if partition.name == name:
            return partition
    if name:
        raise BadInput(f"{directory.root} has no partition {name!r}")
    raise BadInput(
        f"{directory.root} has {len(directory.partitions)} partitions: give the folder of one, or --partition NAME"
    )


def find_offset(partition: Partition, offset: int) -> Search:
    """Search an offset. Raises BadInput for a file that cannot be read."""
    bases = [segment.base_offset for segment in partition.segments]
    place = bisect_right(bases, offset) - 1
    if place < 0:
        why = f"the log begins with offset {bases[0]}" if bases else "the partition has no segment"
        return Search(partition=partition.name, offset=offset, segments=bases, segment=None, file="", entries=0, probes=(),
                      entry=None, start=0, read=0, passed=(), batch=None, record=None, why=why)  # fmt: skip
    try:
        found = _in_segment(partition, partition.segments[place], offset, bases)
        while found.batch is None and not found.why and place + 1 < len(bases):
            place += 1  # the rest of the segment was removed by compaction: the next one follows
            found = _in_segment(partition, partition.segments[place], offset, bases)
    except OSError as error:
        raise BadInput(f"{error.filename or partition.folder} cannot be read: {error.strerror}") from error
    if found.batch is None and not found.why:
        return msgspec.structs.replace(found, why="no batch has this offset or a higher one: the log ends before it")
    return found


def _in_segment(partition: Partition, files: SegmentFiles, offset: int, bases: Sequence[int]) -> Search:
    probes: list[Probe] = []
    entries = 0
    entry: Probe | None = None
    if "index" in files.suffixes:
        index = IndexFile(files.path("index"), files.base_offset)
        entries = index.entries
        entry = _lookup(index, offset, probes)
    start = 0 if entry is None else entry.position
    passed: list[FoundBatch] = []
    batch, record, why, read, judged = None, None, "", 0, True
    with Segment(files.path("log")) as segment:
        position = start
        if segment.size > LARGEST_FILE:
            why = f"{files.path('log').name} has {segment.size:,} bytes: a broker opens none of more than {LARGEST_FILE:,}"
            position = segment.size
        elif start > segment.size:
            why = f"the index entry points past the end of {files.path('log').name}: `log inspect` tells more"
        while position < segment.size:
            at = segment.header_at(position)
            if at is None:
                why = f"at position {position:,} of {files.path('log').name} is not a batch: run `log inspect` for details"
                break
            header, read = at[0], read + 1
            shown = _shown(position, header)
            if header.last_offset >= offset:
                batch = shown
                data = segment.bytes_at(position, header.size) if header.size <= LARGEST_BYTES else b""
                if why := read_limit(header, data):
                    judged = False
                else:
                    record, why = _record(data, offset)
                break
            passed.append(shown)
            del passed[:-_SHOWN_BATCHES]
            position += header.size
    return Search(
        partition=partition.name, offset=offset, segments=bases, segment=files.base_offset,
        file=files.path("log").name, entries=entries, probes=probes, entry=entry, start=start, read=read, passed=passed,
        batch=batch, record=record, why=why, judged=judged,
    )  # fmt: skip


def _lookup(index: IndexFile, offset: int, probes: list[Probe]) -> Probe | None:
    """Return the largest entry at or below ``offset`` by binary search."""
    low, high, best = 0, index.entries - 1, None
    while low <= high:
        middle = (low + high) // 2
        found: OffsetEntry = index.offset_entry(middle)
        probe = Probe(middle, found.offset, found.position, found.offset <= offset)
        probes.append(probe)
        if probe.at_or_below:
            best, low = probe, middle + 1
        else:
            high = middle - 1
    return best


def _shown(position: int, header: BatchHeader) -> FoundBatch:
    return FoundBatch(position, header.size, header.base_offset, header.last_offset, header.records, header.codec)


def read_limit(header: BatchHeader, data: bytes) -> str:
    """Return why the records of a batch are not read, "" if they are."""
    if header.size > LARGEST_BYTES:
        return f"the batch has {header.size:,} bytes: more than {LARGEST_BYTES:,} are not read"
    if too_large(data):
        return f"the batch may take more than {LARGEST_BYTES:,} bytes when decompressed: it is not read"
    if header.magic == 2 and header.records > MOST_RECORDS:
        return f"the batch has {header.records:,} records: more than {MOST_RECORDS:,} are not read"
    return ""


def _record(data: bytes, offset: int) -> tuple[FoundRecord | None, str]:
    batch = decode_header(data)
    try:
        if batch is None:
            return None, "the batch cannot be decoded"
        if not batch.valid():
            return None, "the checksum of the batch is wrong: a consumer fails here"
        for record in batch.records():
            if record is not None and record.offset >= offset:
                why = "" if record.offset == offset else "compaction removed the record of this offset"
                return _found(record), why
    except JavaException as thrown:
        return None, f"the records cannot be decoded: {thrown.java_name}"
    return None, "compaction removed the record, and the batch has no later one: a consumer goes on after the batch"


def _found(record: Record | Message) -> FoundRecord:
    return FoundRecord(record.offset, record.timestamp, _text(record.key), _text(record.value))


def _text(data: bytes | None) -> str | None:
    return None if data is None else clipped(harmless(data[: 4 * _SHOWN].decode("utf-8", "backslashreplace")), _SHOWN)
