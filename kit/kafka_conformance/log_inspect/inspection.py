"""Inspect a log directory: every partition in turn, every segment from its first batch to its last.

Nothing is written: all files are opened for reading only. Memory does not grow with the size of files; per partition it
grows with the number of producers.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.version import kit_version
from kafka_conformance.log_inspect.checks.batches import BatchCheck
from kafka_conformance.log_inspect.checks.checkpoints import (
    HIGH_WATERMARK,
    LOG_START,
    RECOVERY_POINT,
    Checkpoints,
    check_ends,
    check_partition_metadata,
    read_checkpoints,
)
from kafka_conformance.log_inspect.checks.context import Context
from kafka_conformance.log_inspect.checks.leader_epochs import LeaderEpochCheck
from kafka_conformance.log_inspect.checks.node import (
    Places,
    check_all_meta_properties,
    check_folders_across,
    check_topic_ids,
    is_spare,
    read_local_metadata,
)
from kafka_conformance.log_inspect.checks.offset_index import OffsetIndexCheck, open_index
from kafka_conformance.log_inspect.checks.producers import ProducerCheck
from kafka_conformance.log_inspect.checks.records import RecordCheck
from kafka_conformance.log_inspect.checks.snapshots import check_snapshot, check_snapshots_exist
from kafka_conformance.log_inspect.checks.start_files import check_folders, check_quorum, has_zookeeper
from kafka_conformance.log_inspect.checks.time_index import TimeIndexCheck
from kafka_conformance.log_inspect.checks.times import TimeCheck, find_retention_hold
from kafka_conformance.log_inspect.checks.transaction_index import check_transaction_index
from kafka_conformance.log_inspect.directory import LARGEST_FILE, METADATA, LogDirectory, Partition, SegmentFiles
from kafka_conformance.log_inspect.findings import UNJUDGED, Answer, Effect, Findings, Loss, Severity, Situation
from kafka_conformance.log_inspect.header import CONTROL
from kafka_conformance.log_inspect.log_end import BatchTooSmall, read_log_end
from kafka_conformance.log_inspect.next_steps import next_step
from kafka_conformance.log_inspect.node_settings import NodeSettings
from kafka_conformance.log_inspect.result import FindingRow, Inspection, OffsetRange, PartitionSummary, SegmentSummary
from kafka_conformance.log_inspect.scan import Damage, Scanned, Segment, scan
from kafka_conformance.log_inspect.start_verdict import judge_start
from kafka_reference.releases import NEWEST, Release

__all__ = ["inspect", "total_bytes"]

NO_TIME = 2**63 - 1


def inspect(
    *directories: LogDirectory,
    records: bool = False,
    policy: str = "",
    release: Release = NEWEST,
    settings: NodeSettings | None = None,
    read: Callable[[int], object] = lambda _: None,
    partition_begins: Callable[[str], object] = lambda _: None,
) -> Inspection:
    """Inspect a directory, or all log directories of one node.

    ``records``: decode the records of every batch too. ``policy``: the ``cleanup.policy`` of all topics, ``delete`` or
    ``compact``, empty if unknown. ``release`` is that of the broker whose start is judged, ``settings`` are the node's, if
    they are known. ``read`` is called with numbers of bytes that were read.
    """
    began = time.monotonic()
    places = [(directory, Findings()) for directory in directories]
    checkpoints = []
    for directory, findings in places:
        checkpoints.append(read_checkpoints(directory, findings, spare=is_spare(directory, directories)))
        _what_else(directory, findings)
        if not any(partition.only is not None for partition in directory.partitions):
            check_partition_metadata(directory, findings)
    aside, unknown = _check_start_files(places, release, settings)
    summaries: list[PartitionSummary] = []
    rows: list[FindingRow] = []
    left_out = Counter[str]()
    for (directory, findings), offsets in zip(places, checkpoints, strict=True):
        root = str(directory.root) if len(directories) > 1 else ""
        before, before_count = findings.by_folder(), len(summaries)
        offline = any(each.effect is Effect.OFFLINE for each in findings)
        for partition in directory.partitions:
            partition_begins(partition.name)
            try:
                listed = partition.listed_again()
            except FileNotFoundError:
                name = directory.relative(partition.folder)
                findings.add("leftover", name, "a broker deleted it during the inspection")
                continue
            except OSError as error:
                findings.add("unreadable", directory.relative(partition.folder), str(error.strerror))
                continue
            is_aside = offline or (directory.root, partition.name) in aside
            summary = _PartitionRun(directory, listed, findings, offsets, records, policy, read,
                                    aside=is_aside, release=release).run()  # fmt: skip
            summaries.append(_with_earlier(msgspec.structs.replace(summary, directory=root), before, directory))
        rows += _rows(findings, root, {harmless(each.name): each for each in summaries[before_count:]})
        left_out.update(findings.left_out())
    broken, suspicious = (
        sum(findings.count(severity) for _, findings in places) for severity in (Severity.BROKEN, Severity.SUSPICIOUS)
    )
    return Inspection(
        kit=kit_version(), directory=", ".join(str(directory.root) for directory in directories), records_decoded=records,
        verdict="broken" if broken else "not judged" if left_out.keys() & set(UNJUDGED) else "sound",
        left_out=dict(left_out), broken=broken, suspicious=suspicious, partitions=summaries, findings=rows,
        start=judge_start(directories, rows, summaries, release, settings, unknown),
        took_s=round(time.monotonic() - began, 3),
    )  # fmt: skip


def _rows(findings: Findings, root: str, summaries: Mapping[str, PartitionSummary]) -> list[FindingRow]:
    dropped = dict(findings.dropped())
    rows = []
    for each in reversed(list(findings)):  # the number of those left out stands at the last one
        loss = each.loss
        if each.removes_partition:
            loss = _all_of(summaries.get(each.file.partition("/")[0]))
        rows.append(FindingRow(
            kind=each.kind, severity=each.severity.value, file=each.file, position=each.position, end_position=each.end,
            offset=each.offset, what=each.what, meaning=each.meaning, next_step=next_step(each.kind, each.effect),
            lost=None if loss is None or loss.last == loss.first - 1 else OffsetRange(loss.first, loss.last),
            next_good_offset=None if loss is None else loss.next_good,
            transaction_marker="" if loss is None else loss.marker.value,
            only_producer_state="" if loss is None else loss.state.value,
            more=dropped.pop((each.kind, each.severity, each.file), 0), effect=each.effect.value, directory=root,
        ))  # fmt: skip
    return rows[::-1]


def _all_of(partition: PartitionSummary | None) -> Loss | None:
    """Return the loss of a partition that is set aside."""
    if partition is None or partition.end <= partition.start:
        return None
    marker, state = (
        Answer.YES if count else Answer.NO for count in (partition.transactions, partition.producers)
    )  # fmt: skip
    return Loss(partition.start, partition.end - 1, marker=marker, state=state)


def _check_start_files(
    places: Places, release: Release, settings: NodeSettings | None
) -> tuple[set[tuple[Path, str]], str]:
    """Check what a start reads before the partitions.

    Returns the partitions that it sets aside, and what is unknown of the cluster's metadata.
    """
    of_brokers = [place for place in places if place[0].whole and (place[0].of_broker or len(places) > 1)]
    if not of_brokers:
        return set(), ""
    unknown = ""
    properties = check_all_meta_properties(of_brokers, release, settings)
    for directory, findings in of_brokers:
        check_quorum(directory, findings, release)
    check_folders_across(of_brokers)
    of_metadata = any(partition.name == METADATA for directory, _ in of_brokers for partition in directory.partitions)
    if properties.get("version") == "1" or of_metadata:
        metadata, unknown = read_local_metadata(of_brokers, properties, settings)
        check_topic_ids(of_brokers, release, metadata)
    for directory, findings in of_brokers:
        aside = {each.file.partition("/")[0] for each in findings if each.effect is Effect.SETS_ASIDE}
        check_folders(directory, findings, zookeeper=has_zookeeper(properties), aside=aside, release=release)
    return {
        (directory.root, each.file.partition("/")[0])
        for directory, findings in of_brokers
        for each in findings
        if each.removes_partition
    }, unknown


def _with_earlier(
    summary: PartitionSummary, before: Mapping[tuple[str, Severity], int], directory: LogDirectory
) -> PartitionSummary:
    """Count in a partition's row what was found in its folder before its segments were read."""
    folder = harmless(summary.name)

    def count(severity: Severity) -> int:
        return sum(
            number
            for (name, each), number in before.items()
            if each is severity and (name == folder or not directory.whole)
        )

    return msgspec.structs.replace(
        summary, broken=summary.broken + count(Severity.BROKEN),
        suspicious=summary.suspicious + count(Severity.SUSPICIOUS),
    )  # fmt: skip


def _what_else(directory: LogDirectory, findings: Findings) -> None:
    for name in directory.leftovers:
        findings.add("leftover", name, f"{_why_left(name)}, {_size(directory.root / name):,} bytes: not inspected")
    for name in directory.foreign if not directory.of_broker else ():
        findings.add("unknown-file", name, "not a folder of Kafka's")
    for name in directory.unknown:
        findings.add("unknown-file", name, "not a file or folder of Kafka's")
    for name in directory.misnamed:
        findings.add("bad-name", name, "its partition number is not a 32-bit integer")
    for partition in directory.partitions:
        _what_else_in(directory, partition, findings)
    if not directory.partitions:
        findings.add("no-partitions", ".", "no folder of a partition")
    if directory.whole and not directory.clean_shutdown:
        findings.add("not-flushed", ".kafka_cleanshutdown", "the file is not there")


def _what_else_in(directory: LogDirectory, partition: Partition, findings: Findings) -> None:
    others: tuple[tuple[str, Sequence[str | Path], str], ...] = (
        ("bad-name", partition.misnamed, "the part before the first dot is not a 64-bit integer"),
        ("unknown-file", partition.unknown, "not a file of Kafka's"),
        ("leftover", [path for path in partition.orphans if _is_deleted(path, partition)],
         "an index without a .log: the broker deletes it at its start"),
        ("segment-gone", [path for path in partition.orphans if not _is_deleted(path, partition)],
         "its .log is not there"),
    )  # fmt: skip
    for kind, names, what in others:
        for each in names:
            loss = _lost_segment(Path(each), partition) if kind == "segment-gone" else None
            findings.add(kind, directory.relative(partition.folder / each), what, loss=loss)
    for name in partition.leftovers:
        path = partition.folder / name
        findings.add("leftover", directory.relative(path), f"{_size(path):,} bytes: not inspected")


def _lost_segment(index: Path, partition: Partition) -> Loss:
    """Return the loss of a segment whose ``.log`` is not there."""
    base = int(index.stem)
    following = next((each.base_offset for each in partition.segments if each.base_offset > base), None)
    aborted = _size(partition.folder / f"{index.stem}.txnindex")
    return Loss(
        base, None if following is None else following - 1, following,
        marker=Answer.YES if aborted else Answer.UNKNOWN,
        # A start removes snapshots after the end of the log, which is here if no segment follows.
        state=Answer.NO if following is not None and any(each > base for each in partition.snapshots) else Answer.UNKNOWN,
    )  # fmt: skip


def _is_deleted(index: Path, partition: Partition) -> bool:
    """Tell whether a broker was deleting or replacing the segment: it renames the ``.log`` first."""
    return any(f"{index.stem}.log.{suffix}" in partition.leftovers for suffix in ("deleted", "swap", "cleaned"))


def _why_left(name: str) -> str:
    for suffix, why in (
        ("-stray", "set aside as not of this node; a broker keeps it and never deletes it"),
        ("-delete", "deleted; a broker removes it a minute after its start"),
    ):
        if name.endswith(suffix):
            return why
    return "an unfinished file"


def _size(path: Path) -> int:
    """Return the bytes of a file, or of the files of a folder."""
    total = 0
    with contextlib.suppress(OSError):
        for each in path.iterdir() if path.is_dir() else [path]:
            total += each.lstat().st_size
    return total


@dataclass(slots=True)
class _PartitionRun:
    """One partition's inspection."""

    directory: LogDirectory
    partition: Partition
    findings: Findings
    checkpoints: Checkpoints
    records: bool
    policy: str
    read: Callable[[int], object]
    aside: bool = False
    release: Release = NEWEST
    context: Context = field(init=False)
    batches: BatchCheck = field(init=False)
    producers: ProducerCheck = field(init=False)
    epochs: LeaderEpochCheck = field(init=False)
    count: int = 0
    record_count: int = 0
    size: int = 0
    transactions: int = 0
    magic_2: bool = False
    knows_producers: bool = True
    recovery_point: int = 0
    rows: list[SegmentSummary] = field(default_factory=list)
    cut_at: int | None = None
    """The end of the log after a start that cuts it off."""
    end_of_start: int = 2**63 - 1
    """The end of the log as a start reads or makes it; the largest number if it does not look."""

    def run(self) -> PartitionSummary:
        partition, findings = self.partition, self.findings
        broken, suspicious = findings.count(Severity.BROKEN), findings.count(Severity.SUSPICIOUS)
        name = partition.name.partition(".")[0] if partition.name.endswith("-future") else partition.name
        start = self.checkpoints.get(LOG_START, {}).get(name)
        self.recovery_point = self.checkpoints.get(RECOVERY_POINT, {}).get(name, 0)
        cleaned = name in self.checkpoints.get("cleaner-offset-checkpoint", {})
        self.context = Context(self.directory, partition, findings, start, self.policy, cleaned, self.read)
        snapshots = set(partition.snapshots)
        self.batches, self.producers = BatchCheck(self.context), ProducerCheck(self.context)
        self.epochs = LeaderEpochCheck(self.context)
        if not partition.segments:
            self._no_segments(name, start or 0)
        inspected = partition.inspected
        first, last = (inspected[at].base_offset if inspected else 0 for at in (0, -1))
        for number, files in enumerate(partition.segments):
            if partition.only not in {None, files.base_offset}:
                continue
            following = partition.segments[number + 1].base_offset if number + 1 < len(partition.segments) else None
            if files.base_offset in snapshots:
                self._snapshot(files.base_offset)
            self._segment(files, following)
        findings.situation = Situation.KEPT
        end = max(self.batches.last_offset + 1, last)
        if partition.only is None:
            self._other_snapshots(end)
            check_snapshots_exist(self.context, producers=self.magic_2 or not self.count)
        if self.directory.whole and not partition.name.endswith("-future") and not partition.has_rolled():
            check_ends(self.checkpoints, name, first, end, findings)
        end_after = self._end_after_start(end, start or 0)
        self.context.losses.finish(
            end, [segment.base_offset for segment in partition.segments],
            {producer: state.offset for producer, state in self.producers.states.items()}, self.producers.last_marker,
            high=max(end, self.checkpoints.get(HIGH_WATERMARK, {}).get(name, 0)), end_after=self.end_of_start,
            cut=self.cut_at is not None,
        )  # fmt: skip
        return PartitionSummary(
            name=partition.name, segments=len(inspected), bytes=self.size, batches=self.count,
            records=self.record_count, start=max(first, start or 0), end=end, producers=len(self.producers.states),
            transactions=self.producers.markers, compacted=self.context.cleaned,
            broken=findings.count(Severity.BROKEN) - broken, suspicious=findings.count(Severity.SUSPICIOUS) - suspicious,
            end_after_start=end_after, by_segment=self.rows,
            smallest_timestamp=min((each.smallest_timestamp for each in self.rows if each.batches), default=-1),
            largest_timestamp=max((each.largest_timestamp for each in self.rows), default=-1),
            retention_held_by=find_retention_hold(self.rows),
        )  # fmt: skip

    def _situation(self, files: SegmentFiles, following: int | None) -> Situation:
        """Return what a start does with a segment."""
        if self.partition.name == METADATA or "index" not in files.suffixes:
            return Situation.RECOVERED
        if self.directory.of_broker and not self.directory.clean_shutdown:
            recovered = following is None or following > self.recovery_point
            return Situation.RECOVERED if recovered else Situation.KEPT
        return Situation.ACTIVE if following is None else Situation.KEPT

    def _end_after_start(self, end: int, log_start: int) -> int:
        """Return where a broker takes the log to end after its start."""
        if self.aside:
            return 0
        after = end
        if self.cut_at is not None:
            after = self.end_of_start = self.cut_at
        active = self.partition.active
        if active is not None and self.directory.of_broker and self._situation(active, None) is Situation.ACTIVE:
            name = self.context.name(active.path("log"))
            try:
                found = read_log_end(active)
            except BatchTooSmall as error:
                self.findings.add("log-end-unreadable", name, str(error), position=error.position)
            except OSError:
                pass  # a finding already
            else:
                after = self.end_of_start = found.offset
                if after < end:
                    marker = Answer.YES if self.producers.last_marker >= after else Answer.NO
                    written = Answer.NO if self.knows_producers else Answer.UNKNOWN
                    if any(state.offset >= after for state in self.producers.states.values()):
                        written = Answer.YES
                    self.findings.add(
                        "log-end-wrong", name, f"a broker takes the log to end before offset {after}; its batches end "
                        f"before {end}", position=found.position, size=active.path("log").stat().st_size - found.position,
                        offset=after, loss=Loss(after, end - 1, marker=marker, state=written),
                    )  # fmt: skip
        return max(after, log_start)

    def _no_segments(self, name: str, start: int) -> None:
        had = self.checkpoints.get(HIGH_WATERMARK, {}).get(name, 0) > start
        folder = self.directory.relative(self.partition.folder)
        loss = Loss(start) if had else None
        self.context.losses.add(self.findings.add("no-segments", folder, "it has no .log file", loss=loss))

    def _snapshot(self, offset: int) -> None:
        # Where the log goes on without a gap, its producers are those of the snapshot.
        known = self.knows_producers and self.batches.last_offset + 1 == offset
        states = self.producers.states_since(self.batches.gaps) if known else {}
        check_snapshot(self.context, offset, states)

    def _other_snapshots(self, end: int) -> None:
        bases = {segment.base_offset for segment in self.partition.segments}
        for offset in self.partition.snapshots:
            if offset not in bases:
                self._snapshot(offset) if offset == end else check_snapshot(self.context, offset, {})

    def _segment(self, files: SegmentFiles, following: int | None) -> None:
        self.findings.situation = self._situation(files, following)
        last_offset = self.batches.last_offset
        self.findings.mark()
        self.context.losses.mark()
        self._inspect_segment(files, following)
        if files.inodes_now() != files.inodes:
            self.findings.withdraw()
            self.context.losses.withdraw()
            name = self.context.name(files.path("log"))
            self.findings.add("replaced-segment", name, "its files are not those that they were at first")
            self.batches.last_offset = last_offset  # the new files may have offsets of later segments
            self._lost()

    def _inspect_segment(self, files: SegmentFiles, following: int | None) -> None:
        path, active = files.path("log"), following is None
        name = self.context.name(path)
        closed = self.directory.of_broker and self.directory.clean_shutdown and self.partition.name != METADATA
        offset_index, time_index = self._indexes(files, growing=active and not closed)
        try:
            segment = Segment(path, keep=self.records, read=self.read)
        except FileNotFoundError:
            self.findings.add("replaced-segment", name, "a broker deleted it")
            self._lost()
            return
        except OSError as error:
            self.findings.add("unreadable", name, str(error.strerror))
            self._lost()
            return
        with segment:
            self.size += segment.size
            self.batches.begin(name, files.base_offset, following)
            self.producers.begin(name)
            self.epochs.begin(name)
            try:
                run = _SegmentRun(self, segment, name, active, offset_index, time_index, base_offset=files.base_offset,
                                  closed=closed or not active)  # fmt: skip
                run.run()
            except OSError as error:
                self.findings.add("unreadable", name, str(error.strerror))
                self._lost()
                return
            grown = active and segment.size_now() > segment.size
        self.rows.append(SegmentSummary(
            base_offset=files.base_offset, bytes=segment.size, batches=run.count, records=run.record_count,
            smallest_timestamp=-1 if run.smallest == NO_TIME else run.smallest, largest_timestamp=run.largest,
            start=self.findings.situation.value,
        ))  # fmt: skip
        if run.too_large:
            return
        last = max(self.batches.last_offset, files.base_offset - 1)
        needs_indexes = self.partition.only is None and (not active or run.count)  # a file may have been copied alone
        if needs_indexes and not files.path("index").exists():
            self.findings.add("index-missing", self.context.name(files.path("index")), "the file is not there")
        if needs_indexes and not files.path("timeindex").exists() and self.magic_2:
            # With the .index a start writes both again; alone it is made empty.
            rebuilt = self.findings.situation is Situation.RECOVERED
            self.findings.add("index-missing", self.context.name(files.path("timeindex")), "the file is not there",
                              effect=Effect.REBUILDS if rebuilt else Effect.WRONG)  # fmt: skip
        if self.partition.only is not None and not files.suffixes & {"index", "txnindex"}:
            return  # a file that was copied alone
        indexed = check_transaction_index(
            self.context, files.path("txnindex"), (files.base_offset, last if not grown else 2**63 - 1),
            self.producers.aborted, self.producers.abort_markers, sound=run.sound and not grown, release=self.release,
        )  # fmt: skip
        self.context.losses.indexed_markers(indexed)
        if active and (grown or not self.directory.clean_shutdown):
            self.findings.add("active-segment", name, f"judged up to its first {segment.size:,} bytes")

    def _indexes(self, files: SegmentFiles, *, growing: bool) -> tuple[OffsetIndexCheck | None, TimeIndexCheck | None]:
        offset_index = time_index = None
        if index := open_index(self.context, files.path("index"), files.base_offset, growing=growing):
            offset_index = OffsetIndexCheck(self.context, index)
        if index := open_index(self.context, files.path("timeindex"), files.base_offset, growing=growing):
            time_index = TimeIndexCheck(self.context, index, files.base_offset)
        return offset_index, time_index

    def _lost(self) -> None:
        self.producers.forget()
        self.batches.damaged()
        self.knows_producers = False


class _SegmentRun:
    """One segment's batches. ``sound``: all of them could be read; ``too_large``: none was."""

    def __init__(
        self,
        partition: _PartitionRun,
        segment: Segment,
        name: str,
        active: bool,
        offset_index: OffsetIndexCheck | None,
        time_index: TimeIndexCheck | None,
        *,
        base_offset: int,
        closed: bool,
    ) -> None:
        self._partition, self._segment, self._name, self._active = partition, segment, name, active
        self._offset_index, self._time_index = offset_index, time_index
        self._records = RecordCheck(partition.context, name) if partition.records else None
        self._closed, self._base = closed, base_offset
        self.sound, self.count, self.too_large = True, 0, False
        self.smallest, self.largest, self.record_count = NO_TIME, -1, 0
        self._last = -1
        self._end = 0
        self._indexed = -1
        """The offset of the index's entry at which the scan goes on after bytes that are no batch."""

    def run(self) -> None:  # noqa: C901  one loop, for speed
        """Scan the segment. The usual batch costs few calls: indexes and epochs are checked where they change."""
        partition, offset_index, time_index = self._partition, self._offset_index, self._time_index
        batches, producers, epochs, records = partition.batches, partition.producers, partition.epochs, self._records
        times = TimeCheck(partition.context, self._name)
        losses = partition.context.losses
        lost = losses.open
        first_time, last_time, smallest, largest = times.first, times.last, self.smallest, self.largest
        anchors = (lambda _: ()) if offset_index is None else offset_index.anchors
        total, magic_2 = 0, partition.magic_2
        for item in scan(self._segment, anchors):
            if type(item) is Damage:
                self._damaged(item)
                continue
            assert isinstance(item, Scanned)  # noqa: S101
            position, header, valid, payload = item
            self._end = position + header.length + 12
            if not valid:
                self._invalid(item)
                continue
            if lost:
                # A broker searches from the entry of the index before an offset: those before this entry meet the damage.
                losses.resume(max(header.base_offset, self._indexed))
                self._indexed = -1
            self.count += 1
            total += header.records
            if offset_index is not None and 0 <= offset_index.next_position <= position:
                offset_index.batch(position, header, self._last)
            batches.batch(position, header)
            timestamp = header.max_timestamp
            if timestamp > largest:
                largest = timestamp
            if timestamp >= 0 and header.base_timestamp < smallest:
                smallest = header.base_timestamp
            if not first_time <= timestamp <= last_time:
                times.batch(position, header)
            last = header.base_offset + header.last_offset_delta
            self._last = last
            if time_index is not None:
                if 0 <= time_index.next_offset <= last:
                    time_index.batch(header)
                elif timestamp > time_index.largest_kept:
                    time_index.larger(header)
            if header.leader_epoch != epochs.epoch or header.base_offset >= epochs.until:
                epochs.batch(position, header)
            if header.producer_id >= 0:
                if header.attributes & CONTROL:
                    producers.control(position, header, payload, batches.gaps)
                else:
                    producers.batch(position, header, batches.gaps)
            if records is not None:
                records.batch(position, header, payload)
            if header.magic == 2:
                magic_2 = True
        partition.magic_2 = magic_2
        self.smallest, self.largest, self.record_count = smallest, largest, total
        partition.count += self.count
        partition.record_count += total
        self._close()

    def _invalid(self, item: Scanned) -> None:
        self._partition.batches.invalid(item.position, item.header)
        self._lost(self._end)

    def _damaged(self, damage: Damage) -> None:
        findings, kind = self._partition.findings, damage.kind
        if self._active and kind == "cut-batch" and self._segment.size_now() > self._segment.size:
            return  # a broker was writing this batch
        if kind == "zero-tail" and not self._active:
            kind = "foreign-bytes"
        size = (self._segment.size if damage.resumed is None else damage.resumed) - damage.position
        first = max(self._last + 1, self._base)
        loss = None if kind == "zero-tail" else Loss(first)
        losses = self._partition.context.losses
        losses.add(
            findings.add(kind, self._name, damage.what, position=damage.position, size=size, offset=first, loss=loss)
        )
        if kind == "zero-tail":
            return
        if kind == "segment-too-large":
            self._lost(damage.position)
            self._offset_index, self._time_index, self.too_large = None, None, True
            return
        self._partition.batches.damaged()
        self._lost(self._segment.size if damage.resumed is None else damage.resumed)
        losses.known_end(damage.last_offset + 1)
        if damage.resumed is not None and self._offset_index is not None:
            self._indexed = self._offset_index.offset_at(damage.resumed)

    def _lost(self, end: int) -> None:
        self.sound = False
        partition = self._partition
        if (
            partition.cut_at is None
            and partition.findings.situation is Situation.RECOVERED
            and (self._active or not partition.directory.clean_shutdown)
        ):
            partition.cut_at = max(self._last + 1, self._base)
        self._partition.producers.forget()
        self._partition.knows_producers = False
        if self._offset_index is not None:
            self._offset_index.skip(end)
        if self._time_index is not None:
            self._time_index.damaged()

    def _close(self) -> None:
        segment = self._segment
        grown = False
        with contextlib.suppress(OSError):
            grown = self._active and segment.size_now() > segment.size
        size = segment.size_now() if self._active else segment.size
        if self._offset_index is not None:
            self._offset_index.end(self._end, size, self._last)
        if self._time_index is not None:
            self._time_index.end(self._last, growing=grown, closed=self._closed and not grown)


def total_bytes(directory: LogDirectory) -> int:
    """Return the size of all ``.log`` files and indexes in bytes, without those that are too large to be inspected."""
    total = 0
    for partition in directory.partitions:
        for segment in partition.inspected:
            for suffix in segment.suffixes:
                with contextlib.suppress(OSError):
                    size = segment.path(suffix).stat().st_size
                    total += size if size <= LARGEST_FILE else 0
    return total
