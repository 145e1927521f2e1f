"""The HTML page of a trace: its timeline, its bounds, and text from clients and brokers that stays text."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from pages import Page, assert_loads_and_runs_nothing, assert_policy, browser, look
from traces import Conversation, batch

pytest.importorskip("kafka")

from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.wire.codec.messages import shipped_codec
from kafka_conformance.wire.recording import trace_page
from kafka_conformance.wire.recording.exchanges import decoded
from kafka_conformance.wire.recording.judge import Judge
from kafka_conformance.wire.recording.trace import FORMAT, ConnectionChange, Frame, Head
from kafka_conformance.wire.recording.trace_page import TraceTimeline

EXAMPLE = Path(__file__).parents[4] / "kit/docs/examples/kafkajs.trace"
EVIL = "</text><script>alert(1)</script>\"'&\x1b[31m\u202e\x00"
HEAD = Head(FORMAT, "0.1.0", "127.0.0.1:9092", "2026-11-29T00:00:00+00:00")


def page_of(said: Conversation, most: int = 1_000, head: Head = HEAD) -> str:
    judge, timeline = Judge(), TraceTimeline(most)
    for event in decoded(said.lines, shipped_codec()):
        before = len(judge.findings)
        judge.take([event])
        timeline.add(event, judge.names, judge.findings[before:])
    return timeline.page(head, "verdict", 1, judge.findings)


def marks(page: str) -> list[tuple[str, str]]:
    """Return the classes and the tooltip of each mark."""
    return re.findall(r'<g class="([^"]+)"><title>(.*?)</title>', page, re.DOTALL)


def trace(*words: str) -> int:
    ran = CliRunner().invoke(app, ["trace", *words], standalone_mode=False, catch_exceptions=False)
    return int(ran.return_value)


def test_trace_page_has_a_lane_per_connection_and_marks_faults_and_findings(tmp_path: Path) -> None:
    path = tmp_path / "new" / "page.html"
    assert trace(str(EXAMPLE), "--html", str(path)) == 1
    page = path.read_text("utf-8")
    assert_loads_and_runs_nothing(page)
    assert_policy(page)
    assert re.findall(r">connection (\d)<", page) == ["1", "2", "3", "4"]
    found = marks(page)
    assert len(found) == 12 + 12 + 4
    lost = [title for classes, title in found if "fault" in classes.split()]
    assert len(lost) == 2
    assert all("by the script: lose-response" in title for title in lost)
    reused = [title for classes, title in found if "finding" in classes.split()]
    assert sum(title.count("sequence-reused: ") for title in reused) == 6
    assert page.count("<td>kjs</td>") == 6
    assert sum("refused" in classes.split() for classes, _ in found) == 2
    assert "Left out" not in page


def test_trace_page_draws_only_chosen_apis_and_connections(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    trace(str(EXAMPLE), "--html", str(path), "--api", "Produce", "--connection", "3")
    page = path.read_text("utf-8")
    assert re.findall(r">connection (\d)<", page) == ["3"]
    assert {title.split()[4] for _, title in marks(page)} == {"Produce"}
    trace(str(EXAMPLE), "--html", str(path), "--connection", "99")
    assert "No message was chosen" in path.read_text("utf-8")


def test_api_and_connection_options_of_trace_without_frames_or_html_are_refused() -> None:
    with pytest.raises(BadInput, match="--frames prints and --html draws"):
        trace(str(EXAMPLE), "--connection", "3")


def test_trace_page_of_hostile_client_broker_topic_and_head_stays_text(tmp_path: Path) -> None:
    def said(text: str) -> Conversation:
        made = Conversation()
        data = [{"index": 0, "records": batch(5)}]
        asked = made.ask("Produce", {"acks": -1, "timeoutMs": 1, "topicData": [{"name": text, "partitionData": data}]})
        made.produced(asked, fate=text)
        made.close()
        made.lines = [
            msgspec.structs.replace(line, client=text, broker=text) if isinstance(line, Frame)
            else msgspec.structs.replace(line, why=text)
            for line in made.lines
        ]  # fmt: skip
        return made

    plain, hostile = (page_of(said(text), head=Head(FORMAT, text, text, text)) for text in ("plain", EVIL))
    assert_loads_and_runs_nothing(hostile)
    assert_policy(hostile)
    assert [tag for tag, _ in Page(hostile).tags] == [tag for tag, _ in Page(plain).tags]
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", hostile)


def test_trace_page_of_many_messages_draws_the_first_and_counts_the_rest() -> None:
    said = Conversation()
    for number in range(30):
        said.produced(said.produce(batch(number, 1, b"%d" % number)))
    page = page_of(said, 10)
    assert len(marks(page)) == 10
    assert "Left out: 50 behind them." in page


@pytest.mark.parametrize("fate", ["", "lose-response"])
def test_trace_page_begins_before_a_late_fault_or_finding_and_counts_both_sides(fate: str) -> None:
    said = Conversation()
    said.give_id()
    for number in range(30):
        is_late = number == 20
        sequence = 99 if is_late and not fate else number
        said.produced(said.produce(batch(sequence, 1, b"%d" % number)), fate=fate if is_late else "")
    page = page_of(said, 10)
    found = marks(page)
    assert len(found) == 10
    assert any({"fault", "finding"} & {*classes.split()} for classes, _ in found[5:6])
    before, after = map(int, re.findall(r"Left out: (\d+) before those that are drawn; (\d+) behind them", page)[0])
    assert before + 10 + after == len(said.lines)


def test_trace_page_of_many_connections_draws_a_limited_number_of_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_page, "MOST_CONNECTIONS", 3)
    said = Conversation()
    for number in range(1, 8):
        said.produce(batch(0), connection=number)
    page = page_of(said)
    assert re.findall(r">connection (\d)<", page) == ["1", "2", "3"]
    assert "Left out: 4 on 4 more connections." in page


def test_trace_page_of_large_recording_has_bounded_size() -> None:
    said = Conversation()
    said.produce(b"".join(batch(number, 1, b"%d" % number) for number in range(200)))
    (line,) = said.lines
    assert isinstance(line, Frame)
    said.lines = [msgspec.structs.replace(line, correlation=at, client="c" * 100_000) for at in range(3_000)]
    page = page_of(said)
    assert len(marks(page)) == trace_page.MOST_MESSAGES
    assert "more findings" in page
    assert len(page) < 4_000_000


def test_trace_page_of_connection_opened_and_closed_without_messages_draws_the_end() -> None:
    said = Conversation()
    said.lines = [ConnectionChange(1.0, 1, "h:1", what, "client: closed") for what in ("opened", "closed")]
    assert [classes for classes, _ in marks(page_of(said))] == ["closed other"]


@browser
def test_trace_page_in_a_browser_shows_the_picture_without_policy_violation(tmp_path: Path) -> None:
    trace(str(EXAMPLE), "--html", str(tmp_path / "trace.html"))
    seen = look((tmp_path / "trace.html").read_text("utf-8"), tmp_path)
    assert seen.title == "Trace of 127.0.0.1:19092"
    assert "<svg" in seen.dom
    assert not seen.complaints
