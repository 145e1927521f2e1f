"""Text from anywhere on the console and in JSON: nothing that a terminal obeys, and nothing that has no encoding."""

from __future__ import annotations

import io
import json
import sys

import pytest
from rich.table import Table
from rich.text import Text

from kafka_conformance.core import streams
from kafka_conformance.core.console import console, styled
from kafka_conformance.core.sanitize import harmless_json
from kafka_conformance.reports.tables import table

HOSTILE = "a\x1b[31mb\x9b2Jc\u202ed\x07\r\x00\ud83de"
SHOWN = r"a\x1b[31mb\x9b2Jc\u202ed\x07\r\x00\ud83de"


@pytest.mark.parametrize(
    "give", [str, styled, lambda text: table("", [text], [[text]]), lambda text: table(text, ["x" * 99], [["y"]])]
)
def test_printed_control_characters_are_escaped_on_the_console(give: object) -> None:
    out = io.StringIO()
    console(out, 200).print(give(HOSTILE))  # type: ignore[operator]
    assert SHOWN in out.getvalue()
    assert out.getvalue().replace("\n", "").isprintable()


def test_escape_sequence_in_a_rich_table_is_escaped_on_the_console() -> None:
    made = Table()
    made.add_column("head\x1b[2J")
    made.add_row(Text("cell\x1b]0;title", style="bold"))
    made.add_row("[red]plain\x1b[0m[/red]")
    out = io.StringIO()
    console(out, 200).print(made)
    assert "\x1b" not in out.getvalue()
    assert r"[red]plain\x1b[0m[/red]" in out.getvalue()


def test_text_styles_are_kept_when_characters_are_escaped() -> None:
    text = Text("one\x1b", style="bold")
    text.append("two", style="red")
    out = console(io.StringIO(), 80)
    seen = [(each.text, str(each.style)) for each in out.render(text) if each.text.strip()]
    assert "".join(part for part, _ in seen) == r"one\x1btwo"
    assert "".join(part for part, style in seen if style == "bold") == r"one\x1b"
    assert "".join(part for part, style in seen if style == "bold red") == "two"


def test_printed_json_escapes_control_characters_and_parses_back_equal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"name": "x\x9b2J\u202e\U000e0001\x7fß", "of": ["\x1b"]}
    streams.say_json(document)
    printed = capsys.readouterr().out
    assert json.loads(printed) == document
    assert printed.rstrip("\n").isprintable()
    assert harmless_json('{"a": "größe"}') == '{"a": "größe"}'


def test_unpaired_surrogates_are_escaped_in_printed_json(capsys: pytest.CaptureFixture[str]) -> None:
    streams.say_json({"file\udcff": ["half \ud83d", ("x\udc80", 1)]})
    assert json.loads(capsys.readouterr().out) == {r"file\udcff": [r"half \ud83d", [r"x\udc80", 1]]}


def test_control_characters_are_escaped_in_lines_and_errors_but_newlines_only_in_errors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    streams.say("one\ntwo\x1b")
    streams.say_error("three\nfour\x1b")
    assert capsys.readouterr() == ("one\ntwo\\x1b\n", "three\\nfour\\x1b\n")


def test_error_message_without_stderr_is_dropped_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    streams.say_error("lost")
