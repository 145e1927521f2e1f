"""Reports to where they were asked for: files whole or not at all, one line for one that cannot be written."""

from __future__ import annotations

import html
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import streams
from rich.console import Console

from kafka_conformance.core.events import Event
from kafka_conformance.gate.reports import badge as gate_badge
from kafka_conformance.gate.reports import github as gate_github
from kafka_conformance.gate.reports import junit as gate_junit
from kafka_conformance.gate.reports import markdown as gate_markdown
from kafka_conformance.gate.reports import page as gate_page
from kafka_conformance.gate.reports import terminal as gate_terminal
from kafka_conformance.gate.reports.writers import show, write_all

EVENTS = streams.everything()


@pytest.fixture(autouse=True)
def _no_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def test_every_report_format_is_written_to_the_given_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / "a folder" / name for name in ("junit", "markdown", "html", "badge")}
    write_all(EVENTS, **files)
    writers = {"junit": gate_junit, "markdown": gate_markdown, "html": gate_page, "badge": gate_badge}
    for name, path in files.items():
        assert path.read_text(encoding="utf-8") == writers[name].write(EVENTS)
    assert sorted(path.name for path in (tmp_path / "a folder").iterdir()) == sorted(files)
    assert capsys.readouterr().out == ""


def test_no_report_file_is_written_without_report_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    write_all(EVENTS)
    assert list(tmp_path.iterdir()) == []


def test_github_report_prints_commands_and_appends_to_existing_step_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "summary").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    write_all(EVENTS, github=True)
    assert capsys.readouterr().out == gate_github.write(EVENTS)
    assert (tmp_path / "summary").read_text(encoding="utf-8") == "before\n" + gate_github.summary(EVENTS)


def test_unwritable_report_gives_a_warning_and_remaining_reports_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "none" / "summary"))
    write_all(EVENTS, junit=tmp_path / "file" / "junit", html=tmp_path / "page", markdown=tmp_path, github=True)
    warnings = capsys.readouterr().err.splitlines()
    assert warnings == [
        f"kafka-conformance: warning: {path} cannot be written: {why}"
        for path, why in (
            (tmp_path / "file" / "junit", "what should be its folder is a file"),
            (tmp_path, "Is a directory"),
            (tmp_path / "none" / "summary", "No such file or directory"),
        )
    ]
    assert (tmp_path / "page").read_text(encoding="utf-8") == gate_page.write(EVENTS)


def test_terminal_report_in_github_actions_is_fenced_by_stop_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show(EVENTS)
    plain = capsys.readouterr().out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    show(EVENTS)
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert lines == plain.splitlines()


def _at_a_terminal(events: Sequence[Event]) -> str:
    out = Console(width=200, file=io.StringIO())
    with out.capture() as printed:
        gate_terminal.show(out, events)
    return printed.get()


@pytest.mark.parametrize(
    "write",
    [_at_a_terminal, gate_markdown.write, gate_junit.write, gate_page.write, gate_github.write, gate_github.summary],
)
def test_every_report_format_shows_the_unanswered_question_and_the_replay_command(
    write: Callable[[Sequence[Event]], str],
) -> None:
    events = [
        event for event in streams.everything() if getattr(event, "rule", "sequence-increment") == "sequence-increment"
    ]
    text = html.unescape(write(events)).replace("&#34;", '"')
    assert '{"by": 3, "sequence": 7}' in text
    assert "kafka-conformance replay .kafka-conformance/failures/7c1e0b5a9d3f2468.json" in text
