"""Survey a segment: the headers and checksums of its batches, without their records.

A survey is small: consecutive batches of a producer whose sequences follow each other are one *run*. What needs several
segments, transactions and sequences, is found from their surveys.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from kafka_conformance.audit.segments.folders import SegmentFile
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.java_text import parse_long
from kafka_conformance.log_inspect.expansion import LARGEST_BYTES, MOST_RECORDS, too_large
from kafka_conformance.log_inspect.header import BatchHeader
from kafka_conformance.log_inspect.index_files import IndexFile, OffsetEntry, batch_positions
from kafka_conformance.log_inspect.scan import Damage, Scanned, Segment, scan
from kafka_reference.errors import JavaException
from kafka_reference.record_batch import decode_end_marker, decode_header

__all__ = ["Aborted", "BatchRun", "Damaged", "MarkerSeen", "Survey", "items_of", "survey"]


class BatchRun(msgspec.Struct, array_like=True):
    """Batches of one producer and epoch in the order of their sequences, without a marker of the producer in between.

    ``first`` and ``last`` are the base sequence and the number of sequences of the first and of the last batch.
    ``gaps_before`` and ``gaps`` count the places of the segment at which offsets are missing, up to the first and the last.
    """

    producer_id: int
    epoch: int
    transactional: bool
    first: tuple[int, int]
    last: tuple[int, int]
    sequences: int
    batches: int
    first_offset: int
    last_offset: int
    position: int
    first_ms: int
    last_ms: int
    gaps_before: int
    gaps: int


class MarkerSeen(msgspec.Struct, array_like=True):
    """The end of a transaction."""

    producer_id: int
    epoch: int
    offset: int
    commit: bool
    coordinator_epoch: int
    position: int
    time_ms: int
    gaps: int


class Aborted(msgspec.Struct, array_like=True, frozen=True):
    """An aborted transaction: its producer, its first offset or one before it, and the offset of its marker."""

    producer_id: int
    first: int
    last: int


class Damaged(msgspec.Struct, array_like=True, frozen=True):
    """Bytes that are not a batch, or a batch whose checksum is wrong; ``expected`` is the offset that should follow."""

    position: int
    expected: int
    what: str


class Survey(msgspec.Struct):
    """What the headers of a segment show. ``end_offset`` follows the last batch; ``max_ms`` is the largest timestamp.

    ``size`` is the number of bytes that were read. ``aborted`` is the transaction index, None if there is no such file.
    """

    size: int
    end_offset: int
    max_ms: int
    gaps: int
    compacted: bool
    runs: list[BatchRun]
    markers: list[MarkerSeen]
    aborted: list[Aborted] | None
    damaged: list[Damaged]


def items_of(segment: Segment) -> Iterator[Scanned | Damage]:
    """Yield the batches of a segment, as ``log_inspect.scan.scan`` does, with the index's help past damaged bytes."""
    path = segment.path.with_suffix(".index")

    def entries() -> Iterator[OffsetEntry]:  # opened with the first damage: most segments have none
        yield from IndexFile(path, parse_long(path.stem)).offset_entries()

    return scan(segment, batch_positions(entries()))


def survey(file: SegmentFile) -> Survey:
    """Return the survey of a segment. Raises KitError if the file cannot be read."""
    try:
        with Segment(Path(file.path)) as segment:
            found = Survey(segment.size, file.base_offset, -1, 0, False, [], [], None, [])
            _Surveying(found, segment, last=file.last).run()
        found.aborted = _index(Path(file.path).with_suffix(".txnindex"))
    except OSError as error:
        raise KitError(f"{file.path} cannot be read: {error.strerror or error}") from error
    return found


def _index(path: Path) -> list[Aborted] | None:
    if not path.exists():
        return None
    entries = IndexFile(path, 0).aborted_entries()
    return [Aborted(each.producer_id, each.first_offset, each.last_offset) for each in entries]


class _Surveying:
    def __init__(self, found: Survey, segment: Segment, *, last: bool) -> None:
        self._found, self._segment, self._last = found, segment, last
        self._open: dict[int, BatchRun] = {}

    def run(self) -> None:
        found = self._found
        for item in items_of(self._segment):
            if isinstance(item, Damage):
                self._damage(item)
                continue
            header = item.header
            if not item.valid:
                what = f"the batch of {header.size:,} bytes has another checksum than its header says"
                self._lost(item.position, what)
                continue
            if header.magic == 2:
                missing = header.base_offset > found.end_offset
                short = header.records < header.last_offset_delta + 1
                found.gaps += missing
                found.compacted |= missing or short
                self._producer(item, header)
                found.gaps += short
            found.end_offset = max(found.end_offset, header.last_offset + 1)
            found.max_ms = max(found.max_ms, header.max_timestamp)

    def _producer(self, item: Scanned, header: BatchHeader) -> None:
        if header.producer_id < 0:
            return
        if header.control:
            self._open.pop(header.producer_id, None)
            self._marker(item, header)
            return
        run, batch = self._open.get(header.producer_id), (header.base_sequence, header.last_offset_delta + 1)
        if (
            run is not None and run.epoch == header.producer_epoch and run.transactional == header.transactional
            and batch[0] == (run.last[0] + run.last[1]) & 0x7FFFFFFF and batch[0] >= 0
        ):  # fmt: skip
            run.last, run.last_offset, run.gaps = batch, header.last_offset, self._found.gaps
            run.last_ms = max(run.last_ms, header.max_timestamp)
            run.sequences += batch[1]
            run.batches += 1
            return
        gaps = self._found.gaps
        run = BatchRun(
            header.producer_id, header.producer_epoch, header.transactional, batch, batch, batch[1], 1, header.base_offset,
            header.last_offset, item.position, header.max_timestamp, header.max_timestamp, gaps, gaps,
        )  # fmt: skip
        self._open[header.producer_id] = run
        self._found.runs.append(run)

    def _marker(self, item: Scanned, header: BatchHeader) -> None:
        if header.records > MOST_RECORDS or header.size > LARGEST_BYTES:  # no marker: that is one small record
            return
        data = self._segment.bytes_at(item.position, header.size)
        if too_large(data):
            return
        try:
            batch = decode_header(data)
            records = [] if batch is None else [record for record in batch.records() if record is not None]
            if not records:  # compaction leaves the empty batch of a marker
                return
            end = decode_end_marker(records[0].key, records[0].value)
        except JavaException:  # a control record of another kind, such as a change of leader
            return
        self._found.markers.append(
            MarkerSeen(header.producer_id, header.producer_epoch, header.base_offset, end.commit, end.coordinator_epoch,
                       item.position, header.max_timestamp, self._found.gaps)
        )  # fmt: skip

    def _damage(self, damage: Damage) -> None:
        ends = damage.resumed is None and (damage.kind == "zero-tail" or (self._last and damage.kind == "cut-batch"))
        if not ends:  # else it is where a broker goes on, or preallocated space
            self._lost(damage.position, damage.what)

    def _lost(self, position: int, what: str) -> None:
        self._found.damaged.append(Damaged(position, self._found.end_offset, what))
        self._open.clear()
