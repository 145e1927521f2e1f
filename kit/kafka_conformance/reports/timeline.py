"""The timeline of ``explain``, for a person at a terminal: a row for each step, and under its answer why, and the state.

What is printed of the state after a step is what changed in it, which after time has gone by is nearly everything, as
batches have aged. The first step shows all of it. A step whose answer is not the reference's is marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kafka_conformance.core.sanitize import harmless
from kafka_conformance.core.timeline import NOTHING, Explained

__all__ = ["Row", "Timeline", "print_story"]


@dataclass(frozen=True, slots=True)
class Row:
    """A step, by somebody's answer; ``instead`` is the reference's answer where that is another one."""

    explained: Explained
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A question and its answer: fields of both by name, and the steps if there are any."""

    rule: str
    title: str
    id: str
    release: str
    who: str
    asked: tuple[tuple[str, str], ...]
    answered: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    instead: tuple[tuple[str, str], ...] = ()

    @property
    def differing(self) -> int:
        """How many steps were not answered as the reference answers them."""
        return sum(row.instead is not None for row in self.rows)


def print_story(out: Console, story: Timeline) -> None:
    """The question, and its answer or its timeline."""
    out.print(_text(f"{story.rule}, question {story.id}, by {story.who} {story.release}", "bold"), soft_wrap=True)
    out.print(_text(story.title, "dim"), soft_wrap=True)
    sides = [("asked", story.asked), ("answered", story.answered), ("the reference answers", story.instead)]
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for side, fields in sides:
        for number, (name, content) in enumerate(fields):
            style = "bold red" if fields is story.instead else "bold"
            table.add_row(_text("" if number else side, style), _text(name, "dim"), _text(content))
    out.print(table)
    if story.rows:
        out.print()
        out.print(_timeline(story.rows, max(20, out.width // 4 + 4)))
    if story.differing:
        many = f"{story.differing} of {len(story.rows)} steps: {story.who} does not answer as the reference does"
        out.print(_text(f"◀ {many}", "bold red"), soft_wrap=True)


def _timeline(rows: Sequence[Row], step_width: int) -> Table:
    clocked = any(row.explained.time_ms is not None for row in rows)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("#", justify="right", no_wrap=True)
    if clocked:
        table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("step", overflow="fold", max_width=step_width)
    table.add_column("answer, why, and the state where it changed", overflow="fold")
    before: dict[str, str] = {}
    for number, row in enumerate(rows):
        state = dict(row.explained.state)
        clock = [] if not clocked else [_text(str(row.explained.time_ms))]
        cell = Text("\n").join(_cell(row, _changed(before, state)))
        table.add_row(_text(str(number), "dim"), *clock, _text(row.explained.step), cell)
        before = state
    return table


def _cell(row: Row, changed: Iterable[tuple[str, str]]) -> Iterator[Text]:
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
    """No markup, no escape sequences; lines are kept."""
    return Text(harmless(content, keep="\n"), style=style)
