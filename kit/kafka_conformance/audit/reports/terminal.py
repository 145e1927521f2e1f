"""Print an audit at a terminal: the verdict first, then the most important rows of the tables behind it.

The report fits a screen of 40 lines with 100 columns. The page and ``audit.json`` have the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from kafka_conformance.audit.reports import framing, producers, summary
from kafka_conformance.audit.reports.formatting import key, percent, when
from kafka_conformance.audit.result import Audit, Framing
from kafka_conformance.audit.segments.result import SegmentEvidence
from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import plural

__all__ = ["show"]

_LIMIT, _SOURCE, _NOTES = 2000, 98, 2
_PLACEMENTS, _RUNS, _KEYS, _PARTITIONS, _GROWN = 5, 2, 1, 3, 8
_PRODUCERS, _PROBLEMS = 5, 2
_CELL, _LINE = 30, 290
"""The maximum length of a cell of text, and of a line, which may wrap."""


def show(out: Console, audit: Audit) -> None:
    """Print the report. Control characters in keys and names are escaped."""
    _print(out, clipped(audit.source, _SOURCE), "bold")
    _print(
        out, summary.headline(audit), "bold yellow" if audit.doubt else "bold red" if audit.offending else "bold green"
    )
    for line in summary.details(audit):
        _print(out, line)
    for note in audit.notes[:_NOTES]:
        _print(out, f"note: {note}", "yellow")
    if len(audit.notes) > _NOTES:
        _print(out, f"{plural(len(audit.notes) - _NOTES, 'note')} more", "yellow")
    if not audit.records:
        return
    if audit.keyed:
        _placements(out, audit)
        _growth(out, audit)
        _runs(out, audit)
        _keys(out, audit)
        _framing(out, audit.framing)
    _keyless(out, audit)
    _producers(out, audit.segments)
    _partitions(out, audit)
    _print(out, summary.skewed(audit))
    isolation = f", {audit.reading.isolation}" if audit.reading and audit.reading.isolation else ""
    rest = "the page (--html FILE) and audit.json have every row"
    _print(out, f"{audit.took_s:.1f} s{isolation}, kit {audit.kit}; {rest}", "dim")
    if audit.offending_records:
        _print(
            out, f"{plural(audit.offending, 'record')} elsewhere than expected, as Parquet: {audit.offending_records}"
        )


def _placements(out: Console, audit: Audit) -> None:
    columns = [
        summary.PLACEMENTS.index(name) for name in ("placement", "partitions", "attributed", "share", "explains")
    ]
    if audit.foreign or any(share.estimated for share in audit.shares):
        columns.insert(4, summary.PLACEMENTS.index("estimated"))
    rows = [[row[column] for column in columns] for row in summary.placements(audit)]
    of_none = [row for row in rows if row[1] == "-"]
    found = [row for row in rows if row[1] != "-"]
    shown = [*found[:_PLACEMENTS], *of_none]
    _table(out, "", [summary.PLACEMENTS[column] for column in columns], shown)
    used = ["attributed", "explains", *(["estimated"] if len(columns) > 5 else [])]
    more = f"{len(found) - _PLACEMENTS} placements more. " if len(found) > _PLACEMENTS else ""
    _print(out, more + ". ".join(f"{word}: {summary.DEFINITIONS[word]}" for word in used), "dim")
    for line in summary.alike(audit)[:1]:
        _print(out, line, "dim")


def _growth(out: Console, audit: Audit) -> None:
    for one in audit.growth[:1]:
        offsets = ", ".join(f"{partition:,}: {offset:,}" for partition, offset in sorted(one.until.items())[:_GROWN])
        more = f", and {plural(len(one.until) - _GROWN, 'partition')} more" if len(one.until) > _GROWN else ""
        _print(out, f"{summary.growth(one)}, last offset with the old count by partition: {offsets or 'none'}{more}")


def _runs(out: Console, audit: Audit) -> None:
    runs, more = summary.foreign_runs(audit, _RUNS)
    if not runs:
        return
    rows = [
        (f"{run.partition:,}", f"{run.first_offset:,}", f"{run.last_offset:,}", f"{run.records:,}",
         summary.placed_by(audit, run), when(run.first_ms))
        for run in runs
    ]  # fmt: skip
    unseen = audit.runs_in_all - len(audit.runs)
    rest = [f"{more:,} more"] * bool(more) + [f"{plural(unseen, 'run')} not kept"] * (unseen > 0)
    title = "The earliest runs not placed as expected" + (f" ({', '.join(rest)})" if rest else "")
    _table(out, title, ("partition", "from offset", "to offset", "records", "placed by", "from"), rows)


def _keys(out: Console, audit: Audit) -> None:
    out.print()
    _print(out, summary.split(audit), "bold" if audit.splits.keys else "")
    for one in audit.splits.earliest[:_KEYS]:
        partitions = ", ".join(f"{place.partition:,}" for place in one.places[:_GROWN])
        more = f" and {len(one.places) - _GROWN} more" if len(one.places) > _GROWN else ""
        _print(out, f"  {key(one.key, _CELL)}: {plural(one.records, 'record')} in partitions {partitions}{more}")


def _framing(out: Console, found: Framing | None) -> None:
    if not found:
        return
    if not found.split:  # else it is among the details
        _print(out, framing.verdict(found))
    for line in framing.sentences(found):
        _print(out, line)
    rows = list(framing.rows(found))[:_KEYS]
    if rows:
        _table(out, "The earliest of them", framing.HEADS, rows, last=_LINE)
    if found.split > len(rows):
        _print(out, f"{found.split - len(rows):,} not shown", "dim")


def _keyless(out: Console, audit: Audit) -> None:
    if not audit.keyless.records:
        return
    patterns = sorted(audit.keyless.patterns.items(), key=lambda one: -one[1])
    parts = [f"{name} {percent(count, audit.keyless.records)}" for name, count in patterns]
    _print(out, f"{plural(audit.keyless.records, 'record')} without a key, by pattern: {', '.join(parts)}")


def _producers(out: Console, found: SegmentEvidence | None) -> None:
    if not found:
        return
    out.print()
    _print(out, producers.verdict(found), "bold red" if found.problems_certain else "")
    for line in list(producers.problem_lines(found))[:_PROBLEMS]:
        _print(out, f"  {line}")
    _print(out, producers.by_rule(found))
    rows = list(producers.rows(found))[:_PRODUCERS]
    if rows:
        more = found.producers_in_all - len(rows)
        title = "Producer ids: one writer each" + (f" ({more:,} more)" if more else "")
        _table(out, title, producers.HEADS, rows, last=48)


def _partitions(out: Console, audit: Audit) -> None:
    lines = audit.by_partition
    if len(lines) > _PARTITIONS:
        lines = tuple(sorted(lines, key=lambda line: (-line.offending, -line.records, line.partition))[:_PARTITIONS])
    which = "those with the most records elsewhere" if audit.offending else "the fullest"
    rows = [
        (f"{line.partition:,}", f"{line.records:,}", f"{line.offending:,}", percent(line.offending, line.keyed),
         summary.partition_writers(audit, line, 2))
        for line in lines
    ]  # fmt: skip
    title = f"{len(lines)} of {plural(audit.partitions, 'partition')}, {which}"
    _table(out, title, ("partition", "records", "elsewhere", "", "placed by"), rows, last=58)


def _table(out: Console, title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, last: int = _CELL) -> None:
    out.print()
    _print(out, title, "bold")
    cells = [[harmless(clipped(cell, _CELL)) for cell in row[:-1]] + [harmless(clipped(row[-1], last))] for row in rows]
    out.print(table("", heads, cells))


def _print(out: Console, line: str, style: str = "") -> None:
    """Print one line, escaped and clipped."""
    if line:
        out.print(Text(harmless(clipped(line, _LIMIT)), style=style), soft_wrap=True)
