"""The timeline as a person reads it at a terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from kafka_conformance.core.timeline import NOTHING, Explained
from kafka_conformance.reports.timeline import Timeline, TimelineRow, print_timeline

FIRST = Explained(
    0, "append to t-0", "into a new batch", "append 0", ("nothing queued",), (("t-0", "#0 open"), ("memory", "all"))
)
SECOND = Explained(0, "ready?", "no node ready", "ready", ("waited 0 < 5 ms",), (("t-0", "#0 open"), ("memory", "all")))
THIRD = Explained(5, "5 ms go by", NOTHING, "+5 ms", (), (("memory", "all"),))


def timeline_of(*rows: TimelineRow, instead: tuple[tuple[str, str], ...] = ()) -> Timeline:
    answered = () if rows else (("hash", "7"),)
    return Timeline("a-rule", "a title", "0123", "4.4.0", "java", (("key", "null"),), answered, rows, instead)


def printed(timeline: Timeline, width: int = 80, colour: bool = False) -> str:
    out = StringIO()
    print_timeline(Console(file=out, width=width, highlight=False, force_terminal=colour), timeline)
    return out.getvalue()


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def test_timeline_step_shows_answer_reasons_and_changed_state() -> None:
    assert lines(printed(timeline_of(*map(TimelineRow, (FIRST, SECOND, THIRD))))) == [
        "a-rule, question 0123, by java 4.4.0",
        "a title",
        "asked  key  null",
        "#  ms  step           answer, why, and the state where it changed",
        "0   0  append to t-0  into a new batch",
        "                      · nothing queued",
        "                      t-0  #0 open",
        "                      memory  all",
        "1   0  ready?         no node ready",
        "                      · waited 0 < 5 ms",
        "2   5  5 ms go by     t-0  nothing any more",
    ]


def test_timeline_marks_step_that_differs_from_the_reference() -> None:
    shown = lines(printed(timeline_of(TimelineRow(FIRST), TimelineRow(SECOND, "node 0 ready"))))
    assert "1   0  ready?         no node ready ◀" in shown
    assert "                      the reference: node 0 ready" in shown
    assert shown[-1] == "◀ 1 of 2 steps: java differs from the reference"
    assert "◀" not in printed(timeline_of(TimelineRow(FIRST), TimelineRow(SECOND)))


def test_timeline_without_steps_lists_question_answer_and_reference_answer() -> None:
    assert lines(printed(timeline_of(instead=(("hash", "8"),))))[2:] == [
        "asked                  key   null",
        "answered               hash  7",
        "the reference answers  hash  8",
    ]


def test_timeline_without_clock_has_no_time_column() -> None:
    shown = printed(timeline_of(TimelineRow(Explained(None, "a record to t", "partition 0", "t"))))
    assert "ms" not in shown
    assert "a record to t" in shown


@pytest.mark.parametrize("width", [40, 80, 120])
def test_timeline_keeps_to_the_terminal_width(width: int) -> None:
    long = Explained(0, "append " * 30, "into " * 40, "append", ("because " * 30,), (("t-0", "#0 open │ " * 20),))
    table = printed(timeline_of(TimelineRow(long)), width).splitlines()[4:]
    assert max(map(len, table)) <= width
    assert sum(line.count("append") for line in table) == 30


@pytest.mark.parametrize("colour", [False, True])
def test_timeline_escapes_control_characters_and_markup_of_a_question(colour: bool) -> None:
    evil = "t\x1b[2J\x07[bold]x[/]\u202e"
    shown = printed(timeline_of(TimelineRow(Explained(0, evil, evil, evil, (evil,), ((evil, evil),)))), 200, colour)
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert shown.count("t\\x1b[2J\\x07[bold]x[/]\\u202e") == 5
    assert ("\x1b" in shown) is colour
