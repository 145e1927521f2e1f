"""``report``: reports from a saved stream, also from one that was cut, and the exit code that the gate ended with."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
import streams

from kafka_conformance.cli import main as cli
from kafka_conformance.cli.commands.report import read, run
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Event, to_line
from kafka_conformance.gate.reports import page as gate_page

NOTHING = {"junit": None, "github": False, "markdown": None, "badge": None, "html": None, "terminal": False}


@pytest.fixture(autouse=True)
def _no_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def saved(folder: Path, events: list[Event]) -> Path:
    path = folder / "events.ndjson"
    path.write_bytes(b"".join(to_line(event) + b"\n" for event in events))
    return path


@pytest.mark.parametrize(
    ("name", "code"),
    [("conforming", 0), ("known", 0), ("everything", 1), ("stale", 1), ("crashed", 2), ("cut", 2), ("empty", 2)],
)
def test_report_exits_with_the_gate_exit_code_or_2_for_cut_or_empty_events(
    name: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(events=[saved(tmp_path, streams.ALL[name])], **NOTHING) == code
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(("conforms: ", "differs: ", "could not be judged: ")[code])


def test_report_writes_only_the_formats_that_options_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = saved(tmp_path, streams.everything())
    assert run(events=[events], **{**NOTHING, "html": tmp_path / "page"}) == 1
    assert (tmp_path / "page").read_text(encoding="utf-8") == gate_page.write(streams.everything())
    assert capsys.readouterr().out == ""
    assert run(events=[events], **{**NOTHING, "github": True, "terminal": True}) == 1
    out = capsys.readouterr().out
    assert out.startswith("rule ")
    assert "\n::error title=kafka-conformance::differs: " in out


def test_report_drops_a_truncated_last_event_line_but_refuses_a_file_without_a_whole_line(tmp_path: Path) -> None:
    path = saved(tmp_path, streams.everything())
    path.write_bytes(path.read_bytes()[:-20])
    assert read(path) == streams.everything()[:-1]
    path.write_bytes(path.read_bytes()[:7])
    with pytest.raises(BadInput, match="is not a stream of events"):
        read(path)


def test_report_accepts_a_last_line_without_newline(tmp_path: Path) -> None:
    path = saved(tmp_path, streams.conforming())
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert read(path) == streams.conforming()


@pytest.mark.parametrize(
    "line", [b"nonsense\n", b'{"event":"rained"}\n', b"\xff\n", b"[" * 100_000 + b"\n", b'"\\ud800"\n']
)
def test_invalid_event_line_is_refused_by_report_with_the_line_number(line: bytes, tmp_path: Path) -> None:
    path = saved(tmp_path, streams.conforming())
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(BadInput, match="is not a stream of events: line 7: ") as failed:
        read(path)
    assert "\n" not in str(failed.value)


def test_event_stream_with_hostile_text_is_read_back_with_only_lone_surrogates_replaced(tmp_path: Path) -> None:
    for text in streams.HOSTILE.values():
        without_surrogates = text.encode("utf-8", "replace").decode("utf-8")
        assert read(saved(tmp_path, streams.hostile(text))) == streams.hostile(without_surrogates)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("report none.ndjson", 2, "none.ndjson cannot be read: No such file or directory"),
        ("report .", 2, ". cannot be read: it is a folder, not a file"),
        ("report", 2, "Missing argument 'EVENTS...'"),
        ("report events.ndjson --html .", 2, ". is a folder: name a file in it"),
    ],
)
def test_report_command_with_bad_arguments_exits_2_and_prints_the_reason(
    words: str,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved(tmp_path, streams.conforming())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["kafka-conformance", *words.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == code
    assert said in capsys.readouterr().err


def test_report_reads_events_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = b"".join(to_line(event) + b"\n" for event in streams.conforming())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert run(events=[Path("-")], **NOTHING) == 0
    assert "conforms: franz-go" in capsys.readouterr().out
