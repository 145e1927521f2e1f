"""The timeline of ``explain`` on a terminal: a row for each step, with its answer, the reasons, and the state.

The first step shows the whole state, and each later one what changed. A step whose answer differs from the reference's is
marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.console import styled
from kafka_conformance.core.timeline import NOTHING, Explained
from kafka_conformance.reports.tables import PlainTable

__all__ = ["Timeline", "TimelineRow", "print_timeline"]


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A step as one implementation answers it; ``instead`` is the reference's answer where that differs."""

    explained: Explained
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A question and its answer: fields of both by name, and the steps if there are any."""

    rule: str
    title: str
    id: str
    release: str
    answerer: str
    asked: tuple[tuple[str, str], ...]
    answered: tuple[tuple[str, str], ...]
    rows: tuple[TimelineRow, ...]
    instead: tuple[tuple[str, str], ...] = ()

    @property
    def differing(self) -> int:
        """The number of steps whose answer differs from the reference's."""
        return sum(row.instead is not None for row in self.rows)


def print_timeline(out: Console, timeline: Timeline) -> None:
    """Print a question with its answer, or with its timeline."""
    out.print(
        _text(f"{timeline.rule}, question {timeline.id}, by {timeline.answerer} {timeline.release}", "bold"),
        soft_wrap=True,
    )
    out.print(_text(timeline.title, "dim"), soft_wrap=True)
    sides = [("asked", timeline.asked), ("answered", timeline.answered), ("the reference answers", timeline.instead)]
    lines = []
    for side, fields in sides:
        for number, (name, content) in enumerate(fields):
            style = "bold red" if fields is timeline.instead else "bold"
            lines.append([_text("" if number else side, style), _text(name, "dim"), _text(content)])
    out.print(PlainTable("", ("", "", ""), lines))
    if timeline.rows:
        out.print()
        out.print(_timeline(timeline.rows, max(20, out.width // 4 + 4)))
    if timeline.differing:
        many = f"{timeline.differing} of {len(timeline.rows)} steps: {timeline.answerer} differs from the reference"
        out.print(_text(f"◀ {many}", "bold red"), soft_wrap=True)


def _timeline(rows: Sequence[TimelineRow], step_width: int) -> PlainTable:
    clocked = any(row.explained.time_ms is not None for row in rows)
    heads = ["#", *["ms"] * clocked, "step", "answer, why, and the state where it changed"]
    lines = []
    before: dict[str, str] = {}
    for number, row in enumerate(rows):
        state = dict(row.explained.state)
        clock = [] if not clocked else [_text(str(row.explained.time_ms))]
        cell = Text("\n").join(_cell(row, _changed(before, state)))
        lines.append([_text(str(number), "dim"), *clock, _text(row.explained.step), cell])
        before = state
    return PlainTable("", heads, lines, right=range(len(heads) - 2), widest={len(heads) - 2: step_width})


def _cell(row: TimelineRow, changed: Iterable[tuple[str, str]]) -> Iterator[Text]:
    one = row.explained
    if row.instead is None and one.answer == NOTHING and (one.reasons or one.state):
        pass  # the step says what happened
    elif row.instead is None:
        yield _text(one.answer, "bold")
    else:
        yield _text(f"{one.answer} ◀", "bold red")
        yield _text(f"the reference: {row.instead}", "red")
    for reason in one.reasons:
        yield Text.assemble(("· ", "dim"), _text(reason, "cyan"))
    for name, content in changed:
        yield Text.assemble(_text(f"{name}  ", "dim"), _text(content))


def _changed(before: dict[str, str], after: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, content in after.items():
        if before.get(name) != content:
            yield name, content
    for name in before:
        if name not in after:
            yield name, "nothing any more"


def _text(content: str, style: str = "") -> Text:
    return styled(content, style, keep="\n")
