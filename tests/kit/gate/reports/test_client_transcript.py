"""The transcript of a client beside Java's: Markdown, HTML and the short form, whatever the client sends."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from pages import Page, assert_loads_and_runs_nothing, assert_policy
from traces import Conversation, batch

pytest.importorskip("kafka")

from kafka_conformance.core.errors import BadInput
from kafka_conformance.gate.reports import client_transcript
from kafka_conformance.gate.reports.client_transcript import (
    ScriptTranscript,
    check_ending,
    script_transcript,
    short_lines,
    write_transcripts,
)
from kafka_conformance.wire.client_gate.promises import PromiseDifference
from kafka_conformance.wire.client_gate.runner import ScriptOutcome, ScriptVerdict
from kafka_conformance.wire.client_gate.script import Script, shipped
from kafka_conformance.wire.client_gate.transcript import java_transcripts
from kafka_conformance.wire.recording.trace import Frame

EVIL = "<script>alert(1)</script>|`\x1b[31m\n# @all [x](javascript:x) \u202e"
REFUSED = next(script for script in shipped() if script.id == "refused/not-leader")


def gives_up(folder: Path, script: Script = REFUSED, client: str = "app") -> ScriptTranscript:
    """A client that goes on behind a refused batch, with the next sequence."""
    said = Conversation()
    for sequence, code in ((0, 0), (1, 6), (2, 0)):
        said.produced(said.produce(batch(sequence, 1, b"%d" % sequence)), code)
    said.lines = [
        msgspec.structs.replace(line, client=client) if isinstance(line, Frame) and line.client else line
        for line in said.lines
    ]
    said.write(folder / "trace")
    findings = (PromiseDifference("lost", f"record 3: {client}"),)
    outcome = ScriptOutcome(script, ScriptVerdict.DIFFERS, "", findings)
    return script_transcript(outcome, folder, java_transcripts())


def written(ending: str, found: list[ScriptTranscript], target: str = "client ./app") -> str:
    return write_transcripts(Path(f"t{ending}"), found, "4.4.0", target)


def test_transcript_marks_the_line_where_java_repeats_a_refused_batch(tmp_path: Path) -> None:
    found = gives_up(tmp_path)
    page = written(".md", [found])
    row = next(line for line in page.splitlines() if line.startswith("| **differs** |"))
    assert re.search(r"\*\*Produce 9: partition 0, next.*\| \*\*Produce 13: partition \d, again", row)
    assert "`lost: record 3: app`" in page
    short = list(short_lines([found], "4.4.0"))
    assert short[0].startswith("refused/not-leader, Produce, partition 0")
    assert short[1].startswith("  client      Produce 9: partition 0, next: sequence 2")
    assert short[2].startswith("  Java 4.4.0  Produce 13: partition ")


def test_html_transcript_has_a_marked_row_and_runs_nothing(tmp_path: Path) -> None:
    page = written(".html", [gives_up(tmp_path)])
    assert_loads_and_runs_nothing(page)
    assert_policy(page)
    assert '<tr class="differs"><td><strong>differs</strong></td><td>Produce 9: partition 0, next' in page


@pytest.mark.parametrize("ending", [".md", ".html"])
def test_transcript_of_hostile_client_id_finding_title_and_command_stays_text(ending: str, tmp_path: Path) -> None:
    plain, hostile = (
        written(ending, [gives_up(tmp_path, msgspec.structs.replace(REFUSED, title=text, id=text), text)], text)
        for text in ("plain", EVIL)
    )
    assert "\x1b" not in hostile
    assert "\u202e" not in hostile
    if ending == ".html":
        assert_loads_and_runs_nothing(hostile)
        assert [tag for tag, _ in Page(hostile).tags] == [tag for tag, _ in Page(plain).tags]
        return
    assert hostile.count("\n") == plain.count("\n")
    outside = re.sub(r"(`+).*?[^`]\1(?!`)", "", hostile)
    assert not re.search(r"<script|@all|\]\(", outside)
    tables = [line for line in hostile.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in tables} == {4}


def test_short_lines_of_hostile_script_id_print_no_control_character(tmp_path: Path) -> None:
    found = [gives_up(tmp_path, msgspec.structs.replace(REFUSED, id=EVIL)), ScriptTranscript(EVIL, "", (), why="none")]
    assert all(line.isprintable() for line in short_lines(found, "4.4.0"))


def test_script_without_transcript_of_java_is_reported_in_one_line(tmp_path: Path) -> None:
    found = gives_up(tmp_path, msgspec.structs.replace(REFUSED, rounds=1))
    (line,) = short_lines([found], "4.4.0")
    assert line == (
        "refused/not-leader: Java's client 4.4.0 has no transcript of this script: only the kit's own scripts have one."
    )
    assert "has no transcript of this script" in written(".html", [found])


def test_transcript_of_long_runs_and_many_scripts_is_bounded_and_counts_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_transcript, "_ROWS", 2)
    monkeypatch.setattr(client_transcript, "_BEFORE", 1)
    monkeypatch.setattr(client_transcript, "_LANES", 1)
    monkeypatch.setattr(client_transcript, "_SCRIPTS", 3)
    found = [gives_up(tmp_path)] * 5
    page = written(".md", found)
    assert page.count("| **differs** |") == 3
    assert re.search(r"\(\d+ rows? before\)", page)
    assert re.search(r"\(\d+ more rows\)", page)
    assert "more lanes" in page
    assert "Left out: 2 more scripts." in page
    assert len(list(short_lines(found * 10, "4.4.0"))) == 61


def test_transcript_without_differing_scripts_states_that_none_differs_in_markdown_and_html() -> None:
    for ending in (".md", ".html"):
        assert "No script that was run differs." in written(ending, [])


@pytest.mark.parametrize("name", ["t.txt", "t", "t.json"])
def test_transcript_file_of_another_ending_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=r"ends in \.md or \.html"):
        check_ending(Path(name))
    for ending in (".md", ".HTML"):
        check_ending(Path(f"t{ending}"))
