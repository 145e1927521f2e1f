"""Print a repair at a terminal: the records of each partition, and whether the new topic is as planned."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.filesize import decimal
from rich.text import Text

from kafka_conformance.audit.isolation import notes_of
from kafka_conformance.audit.repair.plan import Repair
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import plural

__all__ = ["show"]

_MOST = 64
_HEADS = ("partition", "records before", "records after", "from another", "without a key")


def show(out: Console, repair: Repair) -> None:
    """Print the report; the verdict is the last line."""
    words = "rewritten to" if repair.written else "would be rewritten to"
    title = f"{repair.source} ({plural(repair.before, 'partition')}) {words} {repair.target} ({repair.partitions})"
    rows = [[f"{number:,}" for number in (one.partition, one.before, one.after, one.arriving, one.keyless)]
            for one in repair.by_partition[:_MOST]]  # fmt: skip
    out.print(table(harmless(title), _HEADS, rows))
    if len(repair.by_partition) > _MOST:
        out.print(f"and {plural(len(repair.by_partition) - _MOST, 'partition')} more: use --json for all", style="dim")
    for text, style in _lines(repair):
        out.print(Text(harmless(text), style=style))


def _lines(repair: Repair) -> Iterator[tuple[str, str]]:
    moved = f"{plural(repair.moved, 'record')} of {repair.records:,} {'changed' if repair.written else 'would change'}"
    yield f"{moved} partition, {repair.spread:,} of them without a key", ""
    for note in () if repair.reading is None else notes_of(repair.reading):
        yield note, "yellow"
    for gap in repair.gaps:
        lost = f"partition {gap.partition} of {repair.source}: offsets {gap.first} to {gap.end - 1}"
        yield f"{lost} were deleted there before they were copied", "bold yellow"
    took = f"{repair.took_s:.1f} s"
    if repair.compared is None:
        if repair.run:
            yield f"{plural(repair.copied, 'record')} more to copy than the run in {repair.run} has copied", ""
        yield f"a dry run: nothing was written. Give --execute to write. {took}", "bold yellow"
        return
    yield f"planned     {repair.compared.planned}", ""
    yield f"read back   {repair.compared.found}", ""
    if repair.resumed:
        yield f"resumed from {repair.run}: {plural(repair.copied, 'record')} copied in this run", "dim"
    if repair.staged:
        size = f"{decimal(repair.staged.bytes)} in {repair.staged.path}"
        yield f"the staged copy, {size}, was {'kept' if repair.staged.kept else 'removed'}", "dim"
    if repair.compared.misplaced:
        yield f"{plural(repair.compared.misplaced, 'record')} not where Java puts the key", "bold red"
    if repair.right:
        if repair.behind:
            more = f"{repair.source} has gained {plural(repair.behind, 'offset')} since"
            yield f"{more}: run the same command again to copy the rest, or with --follow", "bold yellow"
        yield f"{repair.target} is as planned: nothing lost, nothing duplicated. {took}", "bold green"
    else:
        yield (
            f"{repair.target} is NOT as planned: do not use it. Another client writes to it or deletes from it. {took}",
            "bold red",
        )
