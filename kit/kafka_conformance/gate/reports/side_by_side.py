"""Several gates side by side: a line for each rule, a column for each implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.console import styled
from kafka_conformance.core.events import Began, Event
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.reports.markdown import cell, code, rendered
from kafka_conformance.gate.reports.outline import (
    CODES,
    Outline,
    RuleRow,
    diagnosed,
    findings,
    outline,
    replay_command,
    verdict,
    worst_verdict,
)
from kafka_conformance.reports.page import render
from kafka_conformance.reports.tables import PlainTable
from kafka_conformance.reports.terminal import plural

__all__ = ["Cell", "exit_code", "matrix", "show", "split_streams", "write_html", "write_markdown"]

_NOT_ASKED = "–"
_WIDEST, _SHOWN = 28, 20


@dataclass(frozen=True, slots=True)
class Cell:
    """What an implementation does with a rule: the worst verdict of its releases, and how many answers differ or match."""

    verdict: str
    count: str = ""

    def __str__(self) -> str:
        return f"{self.verdict} {self.count}".strip()


def split_streams(events: Iterable[Event]) -> list[list[Event]]:
    """Cut the events of several gates that stand one after another; each begins with ``began``."""
    streams: list[list[Event]] = []
    for event in events:
        if isinstance(event, Began) or not streams:
            streams.append([])
        streams[-1].append(event)
    return streams


def exit_code(seen: Sequence[Outline]) -> int:
    """Return 1 if any implementation differs, else 2 if one could not be judged, else 0."""
    codes = {one.exit_code for one in seen} or {2}
    return 1 if 1 in codes else max(codes)


def matrix(seen: Sequence[Outline]) -> list[tuple[str, list[Cell]]]:
    """Return each rule with a cell for each implementation."""
    rules = dict.fromkeys(rule for one in seen for rule in one.rules)
    return [(rule, [_cell([row for row in one.rows if row.rule == rule]) for one in seen]) for rule in rules]


def _cell(rows: Sequence[RuleRow]) -> Cell:
    if not rows:
        return Cell(_NOT_ASKED)
    worst = worst_verdict(rows)
    ended = [row.ended for row in rows if row.ended]
    asked = sum(one.asked for one in ended)
    counts = {
        "agrees": f"{asked:,}",
        "differs": f"{sum(one.differed for one in ended):,} of {asked:,}",
        "known": f"{sum(one.known for one in ended):,} of {asked:,}",
        "errored": f"{sum(one.failed for one in ended):,} of {asked:,}",
        "crashed": f"{sum(one.failed for one in ended):,} of {asked:,}",
    }
    return Cell(worst, counts.get(worst, ""))


def show(out: Console, streams: Sequence[Sequence[Event]]) -> None:
    """Print the tables, as many implementations in each as fit side by side, then a verdict for each."""
    seen = list(map(outline, streams))
    found = matrix(seen)
    for first, last in _blocks(out.width, seen, found):
        heads = ["rule", *(clipped(one.target, _WIDEST) for one in seen[first:last])]
        rows: list[list[str | Text]] = [
            [rule, *(styled(str(each), _style(each)) for each in cells[first:last])] for rule, cells in found
        ]
        out.print(PlainTable("", heads, rows))
        out.print()
    for one in seen:
        out.print(styled(clipped(verdict(one), 2000), _style_of(one.exit_code)), soft_wrap=True)


def _style(cell_of_rule: Cell) -> str:
    return {"agrees": "green", "known": "yellow", "unsupported": "dim", _NOT_ASKED: "dim"}.get(
        cell_of_rule.verdict, "bold red"
    )


def _style_of(code_of_gate: int) -> str:
    return "bold green" if code_of_gate == 0 else "bold red"


def _blocks(width: int, seen: Sequence[Outline], found: Sequence[tuple[str, list[Cell]]]) -> Iterator[tuple[int, int]]:
    """Yield the columns of each table: from, to."""
    left = max((len(rule) for rule, _ in found), default=0)
    first, used = 0, left
    for place, one in enumerate(seen):
        wide = max(min(len(one.target), _WIDEST), *(len(str(cells[place])) for _, cells in found), 0) + 2
        if place > first and used + wide > width:
            yield first, place
            first, used = place, left
        used += wide
    if seen:
        yield first, len(seen)


def write_markdown(streams: Sequence[Sequence[Event]]) -> str:
    """Return the table, then the report of each implementation."""
    seen = list(map(outline, streams))
    heads = ["rule", *(cell(one.target) for one in seen)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += [
        "| " + " | ".join([cell(rule), *(cell(str(each)) for each in cells)]) + " |" for rule, cells in matrix(seen)
    ]
    verdicts = [f"- {code(verdict(one), 2000)}" for one in seen]
    parts = ["# Implementations side by side", "\n".join(lines), "\n".join(verdicts), *map(rendered, seen)]
    return "\n\n".join(parts)


def write_html(streams: Sequence[Sequence[Event]]) -> str:
    """Return one page: the table, and what differs in each implementation."""
    seen = list(map(outline, streams))
    given = {
        "seen": seen,
        "matrix": matrix(seen),
        "words": [CODES.get(one.exit_code, CODES[2]) for one in seen],
        "verdicts": list(map(verdict, seen)),
        "findings": [[each for each in findings(one.rows) if each.first.known is None] for one in seen],
        "shown": _SHOWN,
    }
    filters: dict[str, Callable[..., Any]] = {"plural": plural, "diagnosed": diagnosed, "replay": replay_command}
    styles = ("reports/page.css", "gate/reports/gate_page.css")
    return render("gate/reports/several_page.html.j2", styles, filters, given)
