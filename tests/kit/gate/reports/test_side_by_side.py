"""Several gates side by side: the table, its width, the reports, the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console
from tests.shared.streams import HOSTILE, began, differed, ended_rule, target

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Ended, Event
from kafka_conformance.gate.reports import side_by_side, writers
from kafka_conformance.gate.reports.outline import outline


def stream(name: str, verdict: str, code: int) -> list[Event]:
    differs = verdict == "differs"
    rule = ended_rule("murmur2", "4.4.0", verdict, agreed=588, differed=412 if differs else 0)
    end = Ended(code, "as it ended", 1000, 588, 412, 0, 0, 0, 1.0)
    return [began(target(name, "1")), *([differed()] if differs else []), rule, end]


RIGHT, WRONG = stream("right", "agrees", 0), stream("wrong", "differs", 1)
UNJUDGED = stream("silent", "not judged", 2)


def shown(*streams: list[Event], width: int = 80) -> str:
    console = Console(width=width)
    with console.capture() as captured:
        side_by_side.show(console, streams)
    return captured.get()


def test_events_of_several_gates_are_split_at_every_began_event() -> None:
    assert side_by_side.split_streams([*RIGHT, *WRONG]) == [RIGHT, WRONG]
    assert side_by_side.split_streams([]) == []


def test_comparison_table_has_one_column_per_implementation() -> None:
    lines = shown(RIGHT, WRONG).splitlines()
    assert lines[0].split() == ["rule", "right", "1", "wrong", "1"]
    assert lines[1].split() == ["murmur2", "agrees", "588", "differs", "412", "of", "1,000"]
    assert lines[-2].startswith("conforms: right 1")
    assert lines[-1].startswith("differs: wrong 1")


def test_wide_comparison_table_wraps_into_further_tables_within_terminal_width() -> None:
    many = [stream(f"implementation-{number}", "differs", 1) for number in range(9)]
    text = shown(*many, width=70)
    assert all(f"implementation-{number}" in text for number in range(9))
    assert text.count("412 of 1,000") == 9
    tables = text.split("differs: implementation-0")[0]
    assert max(map(len, tables.splitlines())) <= 70


@pytest.mark.parametrize(
    ("streams", "code"),
    [((RIGHT,), 0), ((RIGHT, WRONG), 1), ((UNJUDGED, WRONG), 1), ((RIGHT, UNJUDGED), 2), ((), 2)],
)
def test_exit_code_of_gates_prefers_1_over_2_over_0_and_defaults_to_2(
    streams: tuple[list[Event], ...], code: int
) -> None:
    assert side_by_side.exit_code(list(map(outline, streams))) == code


def test_several_gates_get_html_markdown_and_terminal_comparison_but_badge_raises_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, text = tmp_path / "page.html", tmp_path / "page.md"
    assert writers.write_several([*RIGHT, *WRONG], html=page, markdown=text, terminal=True) == 1
    assert "412 of 1,000" in capsys.readouterr().out
    assert "| murmur2 | agrees 588 | differs 412 of 1&#44;000 |".replace("&#44;", ",") in text.read_text()
    html = page.read_text()
    assert html.count("<section id=") == 2
    assert "412 of 1,000" in html
    with pytest.raises(BadInput, match="--badge is a report of one gate"):
        writers.write_several([*RIGHT, *WRONG], badge=tmp_path / "badge.json")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_implementation_name_stays_inert_in_html_and_terminal(text: str) -> None:
    hostile = stream(text, "differs", 1)
    page = side_by_side.write_html([hostile, RIGHT])
    assert "<script>" not in page
    assert "<owned" not in page
    assert "\x1b" not in shown(hostile, RIGHT)
