"""An inspection, and a search, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.word_wrap import wrapped
from kafka_conformance.log_inspect.checks.times import TOLERANCE_MS, shown_time
from kafka_conformance.log_inspect.find import FoundBatch, Search
from kafka_conformance.log_inspect.find_time import TimeSearches
from kafka_conformance.log_inspect.result import FindingRow, Inspection, PartitionSummary
from kafka_conformance.reports.tables import PlainTable, table
from kafka_conformance.reports.terminal import plural

__all__ = [
    "loss_lines", "offsets_of", "place_of", "retention_lines", "show", "show_search", "show_times", "start_answers",
    "verdict_line", "worst_first",
]  # fmt: skip

_STYLES = {"broken": "bold red", "suspicious": "yellow", "note": "dim"}
_MOST_PARTITIONS = 50


def show(out: Console, found: Inspection, *, segments: bool = False) -> None:
    """Print the partitions, what is broken, what is suspicious, one paragraph for each kind of note, and the verdict.

    ``segments``: print all segments too.
    """
    partitions = worst_first(found)
    shown = [*(each for each in partitions if not _is_internal(each))][:_MOST_PARTITIONS]
    shown += [each for each in partitions if _is_internal(each)][: _MOST_PARTITIONS - len(shown)]
    rows = [
        [each.path, f"{each.segments:,}", f"{each.bytes:,}", f"{each.batches:,}", f"{each.records:,}",
         offsets_of(each), f"{each.producers:,}", f"{each.transactions:,}",
         "yes" if each.compacted else "", f"{each.broken:,}", f"{each.suspicious:,}"]
        for each in shown
    ]  # fmt: skip
    heads = ["partition", "segments", "bytes", "batches", "records", "offsets", "producers", "transactions ended",
             "compacted", "broken", "suspicious"]  # fmt: skip
    if rows:
        out.print(table("", heads, rows))
    if len(partitions) > len(shown):
        out.print(f"… and {len(partitions) - len(shown):,} more partitions; --json lists all", markup=False)
    if segments and partitions:
        out.print(_segment_table(partitions))
    for line in retention_lines(partitions):
        out.print(Text(line))
    explained: set[tuple[str, str]] = set()
    for each in sorted((each for each in found.findings if each.severity != "note"), key=lambda one: one.severity):
        _finding(out, each, explain=(each.kind, each.next_step) not in explained)
        explained.add((each.kind, each.next_step))
    for kind, notes in groupby(
        sorted((each for each in found.findings if each.severity == "note"), key=lambda one: one.kind),
        key=lambda one: one.kind,
    ):
        _notes(out, kind, list(notes))
    out.print()
    for question, answer, lines in start_answers(found):
        out.print(Text(f"{question} ").append(answer, style="bold"))
        for line in lines:
            out.print(Text(f"  {line}"))
    out.print(Text(verdict_line(found), style="bold green" if found.verdict == "sound" else "bold red"))


def _segment_table(partitions: Sequence[PartitionSummary]) -> PlainTable:
    rows = [
        [each.path, str(one.base_offset), f"{one.bytes:,}", f"{one.batches:,}", f"{one.records:,}",
         shown_time(one.smallest_timestamp), shown_time(one.largest_timestamp), one.start]
        for each in partitions
        for one in each.by_segment
    ]  # fmt: skip
    heads = [
        "partition",
        "segment",
        "bytes",
        "batches",
        "records",
        "smallest timestamp",
        "largest timestamp",
        "at a start",
    ]
    return table("", heads, rows)


def retention_lines(partitions: Sequence[PartitionSummary]) -> Iterator[str]:
    """Yield a line for each partition of which a segment keeps later ones from retention by time for over a day."""
    for each in partitions:
        held = each.retention_held_by
        if held is not None and held.longer_ms > TOLERANCE_MS:
            yield (f"{each.path}: segment {held.base_offset} has the largest timestamp, {shown_time(held.until)}: "
                   f"retention.ms counts from it for the {plural(held.segments, 'segment')} after it too, "
                   f"{held.longer_ms / TOLERANCE_MS:,.1f} days longer than from their own")  # fmt: skip


def start_answers(found: Inspection) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Yield the three questions, each with a short answer and its reasons, and after them what was not checked."""
    start = found.start
    if start.starts == "not asked":
        yield "Would a broker start?", "not asked: it needs the log directory, with its meta.properties", []
    else:
        yield f"Would a broker of {start.kafka} start?", start.starts, [harmless(line) for line in start.stopped_by]
    changes, wrong = ([harmless(line) for line in lines] for lines in (start.changes, start.wrong))
    none = "not reached" if start.starts == "no" else "nothing"
    yield "What would it set aside, truncate, delete or rebuild?", "" if changes else none, changes
    yield "What cannot be read, or gets a wrong answer, afterwards?", "" if wrong else none, wrong
    if start.starts != "not asked":
        yield "What of a start was not checked?", "", start.not_checked


def worst_first(found: Inspection) -> list[PartitionSummary]:
    """Return the partitions, those of users before internal ones, and of each those with most findings first."""
    return sorted(found.partitions, key=lambda each: (_is_internal(each), -each.broken, -each.suspicious, each.name))


def _is_internal(partition: PartitionSummary) -> bool:
    return partition.name.startswith("__")


def offsets_of(partition: PartitionSummary) -> str:
    """Return the first and the last offset as text."""
    return f"{partition.start} to {partition.end - 1}" if partition.end > partition.start else "none"


def verdict_line(found: Inspection) -> str:
    """Return the verdict as one line."""
    how = "every record decoded" if found.records_decoded else "records were not decoded (--records decodes them)"
    if left_out := ", ".join(f"{count:,} {kind}" for kind, count in found.left_out.items()):
        how = f"not judged: {left_out}" + ("" if found.records_decoded else f"; {how}")
    looked = f"{plural(len(found.partitions), 'partition')}, {found.bytes:,} bytes, {found.took_s:.1f} s; {how}"
    counts = f"{found.broken:,} broken, {found.suspicious:,} suspicious"
    return f"{found.verdict.upper() if found.verdict != 'sound' else 'sound'}: {counts}; {looked}"


def _finding(out: Console, each: FindingRow, *, explain: bool) -> None:
    text = Text("\n" if explain else "")
    text.append(f"{each.severity}  {each.kind}  ", style=_STYLES[each.severity])
    text.append(place_of(each))
    text.append(f"\n  {harmless(each.what)}")
    for lost in loss_lines(each):
        text.append(f"\n  {lost}")
    if each.more:
        text.append(f"\n  … and {each.more:,} more like it in this file", style="dim")
    out.print(text)
    if explain:
        _meaning(out, each)
        for line in wrapped(Text(f"Next step: {each.next_step}"), out.width - 2):
            out.print(Text("  ").append_text(line))


def _notes(out: Console, kind: str, notes: list[FindingRow]) -> None:
    count = len(notes) + sum(each.more for each in notes)
    text = Text("\n")
    text.append(f"note  {kind}  ", style=_STYLES["note"])
    text.append(place_of(notes[0]))
    text.append(f"\n  {harmless(notes[0].what)}")
    if count > 1:
        text.append(f"; and {plural(count - 1, 'note')} like it (--json lists them)")
    out.print(text)
    _meaning(out, notes[0])


def _meaning(out: Console, each: FindingRow) -> None:
    for line in wrapped(Text(each.meaning, style="dim"), out.width - 2):
        out.print(Text("  ").append_text(line))


def place_of(each: FindingRow) -> str:
    """Return where a finding is, as one line."""
    parts = [each.path]
    if each.position is not None and each.end_position is not None and each.end_position > each.position:
        parts.append(f"bytes {each.position:,} to {each.end_position - 1:,}")
    elif each.position is not None:
        parts.append(f"position {each.position:,}")
    if each.offset is not None:
        parts.append(f"offset {each.offset}")
    return ", ".join(parts)


def loss_lines(each: FindingRow) -> Iterator[str]:
    """Yield what a finding makes unreadable, as a line, and nothing if all can be read."""
    if each.lost is not None:
        first, last = each.lost.first, each.lost.last
        lost = (
            f"offset {first}" if first == last else f"offsets {first} to {'an unknown one' if last is None else last}"
        )
        following = "none" if each.next_good_offset is None else each.next_good_offset
        yield (f"lost: {lost}; next good offset: {following}; the end of a transaction among them: "
               f"{each.transaction_marker}; the only copy of a producer's state: {each.only_producer_state}")  # fmt: skip
    elif each.only_producer_state:
        yield f"the only copy of a producer's state: {each.only_producer_state}"


def show_search(out: Console, found: Search) -> None:
    """Print a search as steps."""
    out.print(f"offset {found.offset} of {found.partition}", markup=False, style="bold")
    bases = ", ".join(map(str, found.segments[:8])) + (", …" if len(found.segments) > 8 else "")
    if found.segment is None:
        out.print(f"1  segments begin at {bases or '-'}: {found.why}", markup=False)
        return
    out.print(f"1  segments begin at {bases}: the largest at or below is {found.segment}, {found.file}", markup=False)
    entries = "1 entry" if found.entries == 1 else f"{found.entries:,} entries"
    out.print(f"2  binary search in its index of {entries}:", markup=False)
    for probe in found.probes:
        sign = "at or below" if probe.at_or_below else "above"
        out.print(
            f"     entry {probe.number}: offset {probe.offset}, position {probe.position:,}: {sign}", markup=False
        )
    if found.entry is None:
        out.print("   no entry is at or below: the scan starts at position 0", markup=False)
    else:
        out.print(f"   the largest at or below is offset {found.entry.offset}: the scan starts at position "
                  f"{found.entry.position:,}", markup=False)  # fmt: skip
    out.print(f"3  scan of {found.file} from position {found.start:,}:", markup=False)
    hidden = found.read - len(found.passed) - (found.batch is not None)
    shown = found.passed if len(found.passed) <= 6 else [*found.passed[:3], None, *found.passed[-2:]]
    for batch in shown:
        if batch is None:
            out.print(f"     … {len(found.passed) - 5 + hidden:,} more", markup=False)
        else:
            out.print(f"     {_batch(batch)}: before it", markup=False)
    if found.batch is not None:
        out.print(f"     {_batch(found.batch)}: found", markup=False, style="bold")
    if found.record is not None:
        record = found.record
        out.print(f"4  record {record.offset}: timestamp {record.timestamp}, key {_shown(record.key)}, value "
                  f"{_shown(record.value)}", markup=False, style="bold")  # fmt: skip
    if found.why:
        out.print(f"   {found.why}", markup=False)


def show_times(out: Console, found: TimeSearches) -> None:
    """Print a search by time: a row for each range of offsets, and of partitions what a broker answers."""
    first, last = shown_time(found.first_ms), shown_time(found.last_ms)
    out.print(
        f"records of {first}" + (f" to {last}" if found.last_ms > found.first_ms else ""), style="bold", markup=False
    )
    rows = [
        [harmless(each.partition), str(one.segment), f"{one.first_offset} to {one.last_offset}", f"{one.batches:,}",
         f"{one.position:,}", shown_time(one.smallest_timestamp), shown_time(one.largest_timestamp)]
        for each in found.partitions
        for one in each.ranges
    ]  # fmt: skip
    if rows:
        out.print(
            table("", ["partition", "segment", "offsets of batches", "batches", "position", "earliest", "latest"], rows)
        )
    for each in found.partitions:
        for why in each.unread:
            out.print(f"not read: {harmless(each.partition)}/{harmless(why)}", markup=False)
        if each.more_ranges:
            out.print(f"{harmless(each.partition)}: {plural(each.more_ranges, 'more range')}", markup=False)
    for each in found.partitions[:_MOST_PARTITIONS]:
        answer = (
            "none"
            if each.first is None
            else f"offset {each.first.offset} in segment {each.first.segment}, of {shown_time(each.first.timestamp)}"
        )
        out.print(f"{harmless(each.partition)}: a broker's search by time returns {answer}; {each.skipped:,} of "
                  f"{plural(each.segments, 'segment')} skipped", markup=False)  # fmt: skip
    if (hidden := len(found.partitions) - _MOST_PARTITIONS) > 0:
        out.print(f"… of {plural(hidden, 'more partition')} (--json has all)", markup=False)
    having = sum(bool(each.ranges) for each in found.partitions)
    out.print(f"{having:,} of {plural(len(found.partitions), 'partition')} have records of the time", markup=False)


def _batch(batch: FoundBatch) -> str:
    codec = "" if batch.codec == "none" else f", {batch.codec}"
    return (f"position {batch.position:,}: offsets {batch.first_offset} to {batch.last_offset}, "
            f"{plural(batch.records, 'record')}, {batch.size:,} bytes{codec}")  # fmt: skip


def _shown(text: str | None) -> str:
    return "null" if text is None else f'"{text}"'
