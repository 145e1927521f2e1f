"""What a person reads."""

from __future__ import annotations

import pytest
from rich.console import Console

from kafka_conformance.core.pipeline import Difference
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, finding, plural
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question

DIFFERENCE = Difference(Murmur2Question("666f6f"), {"hash": 597841616}, {"raises": "NullPointerException"})


def test_finding_text_has_question_answers_and_replay_command() -> None:
    said = finding(RULES["murmur2"], DIFFERENCE, ("java 4.4.0", "mutant:one-bit 4.4.0"), 2000, "90043993ceb72c63").plain
    assert said.splitlines() == [
        "murmur2: 2,000 questions of this kind, shrunk to",
        '  question  {"key":"666f6f"}',
        '  java 4.4.0            {"hash":597841616}',
        '  mutant:one-bit 4.4.0  {"raises":"NullPointerException"}',
        "  replay: kafka-conformance replay 90043993ceb72c63",
    ]


def test_finding_without_saved_id_has_no_replay_command() -> None:
    said = finding(RULES["murmur2"], DIFFERENCE, ("java 3.1.2", "java 3.2.3"), 1, "").plain
    assert "1 question of this kind" in said
    assert "replay" not in said


@pytest.mark.parametrize(("count", "said"), [(0, "0 days"), (1, "1 day"), (2, "2 days"), (16843009, "16,843,009 days")])
def test_plural_adds_s_except_for_count_1(count: int, said: str) -> None:
    assert plural(count, "day") == said


def printed(made: object) -> list[str]:
    out = Console(width=60, highlight=False)
    with out.capture() as captured:
        out.print(made)
    return [line.rstrip() for line in captured.get().splitlines() if line.strip()]


def test_table_aligns_numbers_right_and_prints_brackets_literally() -> None:
    rows = [["murmur2", "1,000", "[red]a"], ["partition-for-key", "16,843,009", "12"]]
    assert printed(table("", ["rule", "asked", "by"], rows)) == [
        "rule                    asked  by",
        "murmur2                 1,000  [red]a",
        "partition-for-key  16,843,009  12",
    ]


def test_table_without_rows_prints_the_headings() -> None:
    assert printed(table("", ["rule", "asked"], [])) == ["rule  asked"]


def test_output_to_a_pipe_is_at_least_120_characters_wide_despite_columns_40(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert console().width >= 120
