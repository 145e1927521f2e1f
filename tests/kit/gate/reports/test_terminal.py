"""What a person reads of a gate; and that nothing a target says reaches the terminal as anything but text."""

from __future__ import annotations

import io
import re

import pytest
import streams
from rich.console import Console

from kafka_conformance.core.events import Event
from kafka_conformance.gate.reports.terminal import show
from kafka_conformance.rules import RULES

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def shown(events: list[Event], width: int = 140, *, terminal: bool = False) -> str:
    out = io.StringIO()
    colours = "standard" if terminal else None
    show(Console(file=out, width=width, highlight=False, force_terminal=terminal, color_system=colours), events)
    return out.getvalue()


def test_terminal_report_contains_every_verdict_and_finding() -> None:
    text = shown(streams.everything())
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "rule release verdict grade asked agreed differed known unsupported failed seconds"
    assert lines[1] == "murmur2 3.2.3 differs exact 1,000 588 412 0 0 0 1.2"
    assert sum(line.startswith("sticky-distribution 4.4.0 differs statistical") for line in lines) == 1
    for line in (
        "murmur2 in 3.2.3 and 4.4.0: another hash, 824 questions",
        'question {"key": "666f6f"}',
        'expected {"hash": 597841616}',
        'actual {"hash": -1}',
        (
            "diagnosis 412 of 412 wrong answers equal `sign-abs`: the sign is dropped by abs; so do 588 of 588 right ones "
            f"(see {streams.THREAD})"
        ),
        f"Java {streams.JAVA}",
        f"rule {streams.LINK}",
        "replay kafka-conformance replay .kafka-conformance/failures/90043993ceb72c63.json",
        'step 1 {"op": "new_batch", "previous": 2, "topic": "t"}',
        'expected {"partition": 1}',
        "actual (none)",
        "sticky-distribution in 4.4.0: three partitions, one of them slow, p = 2.5e-09",
        "partition 0: 400.0 expected, 510 seen",
        "delivery in 3.2.3 and 4.4.0: noise (2 times): it printed: starting up",
        "hint: print to standard error only",
        (
            "known: record-sizes in 3.2.3 and 4.4.0: another size: they round down "
            "(https://github.com/twmb/franz-go/issues/1), until 2027-01-01"
        ),
        "known failure murmur2 0123456789abcdef: stale",
        "kit 0.1.0, seed 7, 500 examples",
    ):
        assert line in lines
    assert lines[-1].startswith(
        "differs: franz-go 1.22.2, Kafka 3.2.3 and 4.4.0: 832 answers differ. 3,100 questions, "
    )


@pytest.mark.parametrize("name", streams.ALL)
def test_last_line_of_terminal_report_is_the_verdict(name: str) -> None:
    events = streams.ALL[name]
    last = shown(events).splitlines()[-1]
    codes = {0: "conforms: ", 1: "differs: ", 2: "could not be judged: "}
    ended = events[-1] if events and hasattr(events[-1], "exit_code") else None
    assert last.startswith(codes[ended.exit_code if ended else 2])


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_text_adds_no_escape_sequences_or_lines_to_terminal_report(name: str) -> None:
    text = COLOUR.sub("", shown(streams.hostile(streams.HOSTILE[name]), terminal=True))
    assert all(character.isprintable() or character == "\n" for character in text)
    # Nor does it begin a line: each begins with words of ours, or is indented.
    sides = ("question", "field", "step", "expected", "actual", "diagnosis", "Java", "rule", "replay", "hint: ")
    begins = (*sides, "partition ", "murmur2 ", "round-robin-partitioner ", "known", "kit ", "differs: ")
    for line in text.splitlines():
        assert line.lstrip().startswith(begins), line


def test_terminal_report_truncates_long_client_text() -> None:
    assert max(map(len, shown(streams.hostile("x" * 100_000)).splitlines())) < 20_000


def test_terminal_report_limits_new_and_known_findings_and_states_the_number_of_omitted_ones() -> None:
    known = streams.only_known()[2].known
    new = [streams.differed(kind=f"new {number}") for number in range(23)]
    text = shown([*new, *(streams.differed(kind=f"old {number}", known=known) for number in range(101))])
    assert sum(line.startswith("murmur2 in 4.4.0: new ") for line in text.splitlines()) == 20
    assert "\nmurmur2: 3 findings more in the other reports\n" in text
    assert "\nknown: 1 finding more\n" in text


def test_terminal_report_prints_markup_as_plain_text() -> None:
    assert "[bold red]owned[/]" in shown(streams.hostile(streams.HOSTILE["markup"]))


def test_terminal_table_omits_zero_count_columns_and_a_uniform_release_or_grade() -> None:
    agrees = [streams.began(), streams.ended_rule("murmur2", "4.4.0", "agrees", agreed=9)]
    assert shown(agrees).splitlines()[0].split() == ["rule", "verdict", "asked", "agreed", "seconds"]
    other = streams.ended_rule("delivery", "3.2.3", "differs", grade="admissible", agreed=8, differed=1)
    heads = ["rule", "release", "verdict", "grade", "asked", "agreed", "differed", "seconds"]
    assert shown([*agrees, other]).splitlines()[0].split() == heads


def test_terminal_table_in_80_columns_breaks_no_rule_name() -> None:
    rows = [streams.ended_rule(rule, "4.4.0", "differs", agreed=4_693, differed=12) for rule in RULES]
    text = shown([streams.began(), *rows], width=80)
    assert all(rule in text for rule in RULES)
