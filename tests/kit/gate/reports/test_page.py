"""The HTML page: by a parser whatever a target said, and in a real browser, where hostile text must do nothing."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import streams
from pages import Page, assert_loads_and_runs_nothing, assert_policy, browser, look, shape, solid

from kafka_conformance.core.events import Event
from kafka_conformance.core.sanitize import harmless
from kafka_conformance.gate.reports.page import write


@pytest.mark.parametrize("name", streams.ALL)
def test_html_report_loads_and_runs_nothing_external(name: str) -> None:
    assert_loads_and_runs_nothing(write(streams.ALL[name]))


@pytest.mark.parametrize("name", streams.ALL)
def test_html_content_security_policy_allows_only_the_inline_style_sheet(name: str) -> None:
    assert_policy(write(streams.ALL[name]))


@cache
def _plain_shape() -> object:
    return shape(Page(write(streams.hostile("x"))))


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_text_does_not_change_html_structure(name: str) -> None:
    text = streams.HOSTILE[name]
    written = write(streams.hostile(text))
    page = Page(written)
    assert shape(page) == _plain_shape()
    assert all(character.isprintable() or character == "\n" for character in written)
    assert solid(page.text).count(solid(harmless(text[:100], keep="\n"))) >= 10
    assert len(written) < 500_000


def test_html_report_contains_every_verdict_and_finding() -> None:
    page = Page(write(streams.everything()))
    for said in (
        "franz-go 1.22.2 differs",
        "differs: franz-go 1.22.2, Kafka 3.2.3 and 4.4.0: 832 answers differ",
        "3,100 questions, 2,244 agreed, 832 differed, 4 known to differ, 20 failed, 80 unsupported , in 9.8 s.",
        "✗ differs 412",
        "– unsupported",
        "‼ crashed",
        "another hash · 824 questions in 3.2.3 and 4.4.0",
        "412 of 412 wrong answers equal",
        "the sign is dropped by abs; so do 588 of 588 right ones (see",
        '{"key": "666f6f"}',
        "597841616",
        '{"op": "new_batch", "previous": 2, "topic": "t"}',
        "kafka-conformance replay .kafka-conformance/failures/90043993ceb72c63.json",
        streams.JAVA,
        "it printed: starting up",
        "print to standard error only",
        "Known: they round down",
        ", until 2027-01-01",
        "murmur2 0123456789abcdef",
        "remove it: the target agrees by now",
        "three partitions, one of them slow, in 4.4.0: actual (bars) and expected (lines)",
        "p = 2.5e-09",
    ):
        assert solid(said) in solid(page.text), said
    links = {attributes.get("href") for _, attributes in page.tags}
    assert {streams.THREAD, streams.LINK, "https://github.com/twmb/franz-go/issues/1", "#r0"} <= links


def test_html_report_marks_the_steps_that_differ() -> None:
    text = write([streams.script()])
    rows = re.findall(r'<tr( class="differs")?><td>(\d)[ <]', text)
    assert rows == [("", "0"), (' class="differs"', "1"), (' class="differs"', "2")]
    assert text.count("<mark>") == 3  # of the two steps, one has no answer


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "there are no events, so nothing is claimed"),
        (streams.cut(), "the event stream ends before the gate did"),
    ],
)
def test_html_report_of_empty_or_truncated_event_stream_shows_exit_2(events: list[Event], said: str) -> None:
    text = write(events)
    assert said in Page(text).text
    assert '<header class="verdict exit-2">' in text


def test_html_matrix_of_eight_releases_uses_dense_layout() -> None:
    events = [streams.ended_rule("murmur2", f"1.0.{number}", "agrees", agreed=1) for number in range(8)]
    assert '<table class="matrix dense">' in write(events)
    assert '<table class="matrix">' in write(events[:7])


def test_html_report_shows_200_findings_and_states_the_number_of_omitted_ones() -> None:
    text = write([streams.differed(kind=f"kind {number}") for number in range(203)])
    assert text.count("<article>") == 200
    assert "And 3 findings more." in text


def test_html_report_written_twice_from_equal_events_is_identical() -> None:
    assert write(streams.everything()) == write(streams.everything())


ALL_AT_ONCE = "\n".join(text for name, text in streams.HOSTILE.items() if name not in ("long", "jinja"))
INJECTED = "<script>document.title='owned'</script></body>"


@browser
def test_browser_shows_hostile_text_of_html_report_without_running_scripts(tmp_path: Path) -> None:
    text = write(streams.hostile(ALL_AT_ONCE))
    seen = look(text, tmp_path)
    assert seen.title.startswith("&lt;script&gt;document.title='owned'&lt;/script&gt;&lt;img")
    assert seen.title.endswith("differs")
    assert not seen.complaints  # its own style sheet is allowed, and nothing else was tried
    assert shape(Page(seen.dom)) == shape(Page(text))
    assert "\\x1b[2J" in seen.dom
    assert "left \\u202e right" in seen.dom


@browser
def test_content_security_policy_blocks_script_injected_into_html_report_in_browser(tmp_path: Path) -> None:
    seen = look(write(streams.conforming()).replace("</body>", INJECTED), tmp_path)
    assert seen.title == "franz-go 1.22.2 conforms"
    assert seen.complaints


@browser
def test_injected_script_runs_in_browser_once_content_security_policy_is_removed(tmp_path: Path) -> None:
    text = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", write(streams.conforming()))
    assert look(text.replace("</body>", INJECTED), tmp_path).title == "owned"
