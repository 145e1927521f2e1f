"""Print an audit at a terminal: the verdict first, then the tables behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.reports.terminal import plural, table
from kafka_conformance.spark.audit.reports import summary
from kafka_conformance.spark.audit.reports.formatting import percent, when
from kafka_conformance.spark.audit.result import Audit, PartitionLine

__all__ = ["show"]

_LIMIT, _SOURCE = 2000, 200
_RUNS, _KEYS = 12, 10


def show(out: Console, audit: Audit) -> None:
    """Print the report. Control characters in keys and names are escaped."""
    _print(out, clipped(audit.source, _SOURCE), "bold")
    _print(
        out, summary.headline(audit), "bold yellow" if audit.doubt else "bold red" if audit.offending else "bold green"
    )
    for line in summary.details(audit):
        _print(out, line)
    for note in audit.notes:
        _print(out, f"note: {note}", "yellow")
    if not audit.records:
        return
    _tables(out, audit)
    _print(out, f"{audit.took_s:.1f} s, kit {audit.kit}", "dim")
    if audit.offending_records:
        _print(out, f"{plural(audit.offending, 'offending record')}, as Parquet: {audit.offending_records}")


def _tables(out: Console, audit: Audit) -> None:
    if audit.keyed:
        _table(out, "Placements: mappings from keys to partitions", summary.PLACEMENTS, summary.placements(audit))
        if not audit.doubt:
            _table(out, "First and last record", summary.SPANS, summary.spans(audit))
        _growth(out, audit)
        _runs(out, audit)
        out.print()
        _print(out, summary.split(audit), "bold" if audit.splits.keys else "")
        _keys(out, audit)
    if audit.keyless.records:
        patterns = sorted(audit.keyless.patterns.items(), key=lambda one: -one[1])
        rows = [(name, f"{count:,}", percent(count, audit.keyless.records)) for name, count in patterns]
        title = f"{plural(audit.keyless.records, 'record')} without a key, by the pattern of their partitions"
        _table(out, title, ("pattern", "records", "share"), rows)
    _partitions(out, audit)
    _print(out, summary.skewed(audit))


def _growth(out: Console, audit: Audit) -> None:
    for one in audit.growth:
        shown, more = summary.until(one)
        out.print()
        _print(out, f"{summary.growth(one)}: the last offset with the old partition count, of each partition", "bold")
        offsets = ", ".join(f"{partition:,}: {offset:,}" for partition, offset in shown) or "none"
        _print(out, offsets + (f", and {plural(more, 'partition')} more" if more else ""))


def _runs(out: Console, audit: Audit) -> None:
    runs, more = summary.foreign_runs(audit, _RUNS)
    if not runs:
        return
    rows = [
        (
            f"{run.partition:,}",
            f"{run.first_offset:,}",
            f"{run.last_offset:,}",
            f"{run.records:,}",
            summary.placed_by(audit, run),
            when(run.first_ms),
            when(run.last_ms),
        )
        for run in runs
    ]
    heads = ("partition", "from offset", "to offset", "records", "placed by", "from", "to")
    _table(out, summary.runs_title(audit), heads, rows)
    unseen = audit.runs_in_all - len(audit.runs)
    if more or unseen > 0:
        rest = f"{more:,} more like these" + (f", and {plural(unseen, 'run')} not kept" if unseen > 0 else "")
        _print(out, rest, "dim")


def _keys(out: Console, audit: Audit) -> None:
    rows = list(summary.split_rows(audit))
    if rows:
        _table(out, "The earliest of them", ("key", "records", "partitions, in order"), rows[:_KEYS])
    if audit.splits.keys > len(rows[:_KEYS]):
        _print(out, f"{audit.splits.keys - len(rows[:_KEYS]):,} not shown", "dim")


def _partitions(out: Console, audit: Audit) -> None:
    shown, hidden, offending = summary.select_partitions(audit.by_partition)
    heads = ("partition", "from offset", "to offset", "records", "keyed", "keyless", "offending", "", "placed by")
    title = "Partitions" if not hidden else f"The {len(shown)} most affected of {plural(audit.partitions, 'partition')}"
    _table(out, title, heads, [_partition(audit, line) for line in shown])
    if hidden:
        left = f"{plural(hidden, 'partition')} not shown, with {plural(offending, 'offending record')}"
        _print(out, left, "dim")


def _partition(audit: Audit, line: PartitionLine) -> tuple[str, ...]:
    counts = (
        line.partition,
        line.first_offset,
        line.end_offset,
        line.records,
        line.keyed,
        line.keyless,
        line.offending,
    )
    return (
        *(f"{one:,}" for one in counts),
        percent(line.offending, line.keyed),
        summary.partition_writers(audit, line),
    )


def _table(out: Console, title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    out.print()
    _print(out, title, "bold")
    out.print(table("", heads, [[harmless(clipped(cell, _LIMIT)) for cell in row] for row in rows]))


def _print(out: Console, line: str, style: str = "") -> None:
    """Print one line, escaped and clipped."""
    if line:
        out.print(Text(harmless(clipped(line, _LIMIT)), style=style), soft_wrap=True)
