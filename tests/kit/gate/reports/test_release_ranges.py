"""Where something was found, in words; and every report of a gate over eras names them."""

from __future__ import annotations

import io
import json

import pytest
import streams
from rich.console import Console

from kafka_conformance.gate.reports import badge, github, junit, markdown, page, terminal
from kafka_conformance.gate.reports.outline import findings, outline, verdict
from kafka_conformance.gate.reports.release_ranges import Places, since_until


def test_finding_is_located_by_release_eras_with_first_and_last_release() -> None:
    places = Places(outline(streams.eras()).rows)
    assert places("default-partitioner", ["2.3.1"]) == "era 0.11.0.3 to 2.3.1"
    assert places("default-partitioner", ["0.10.0.1", "2.3.1"]) == "2 eras, 0.10.0.1 to 2.3.1"
    assert places("default-partitioner", ["0.10.0.1", "3.9.2"]) == "2 eras, 0.10.0.1, 2.4.1 to 3.9.2"
    assert places("murmur2", ["3.9.2"]) == "era 0.10.0.1 to 3.9.2"


def test_finding_of_a_gate_without_eras_is_located_by_the_list_of_tested_releases() -> None:
    places = Places(outline(streams.conforming()).rows)
    assert places("murmur2", ["3.2.3", "4.4.0"]) == "3.2.3 and 4.4.0"


def test_verdict_line_counts_release_eras_and_finding_names_the_failing_era() -> None:
    seen = outline(streams.eras())
    assert verdict(seen) == "differs: franz-go 1.22.2, Kafka 0.10.0.1 to 3.9.2 in 4 eras: an answer differs"
    assert [one.where for one in findings(seen.rows)] == ["era 0.11.0.3 to 2.3.1"]


def test_terminal_report_merges_eras_of_a_rule_with_equal_verdict() -> None:
    out = io.StringIO()
    terminal.show(Console(file=out, width=140, highlight=False), streams.eras())
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert lines[1:5] == [
        "default-partitioner era 0.10.0.1 agrees 9 9 0 1.2",
        "default-partitioner era 0.11.0.3 to 2.3.1 differs 10 9 1 1.2",
        "default-partitioner era 2.4.1 to 3.9.2 agrees 9 9 0 1.2",
        "murmur2 era 0.10.0.1 to 3.9.2 agrees 10 10 0 1.2",
    ]
    out, agree = io.StringIO(), [event for event in streams.eras() if getattr(event, "release", "") != "2.3.1"]
    terminal.show(Console(file=out, width=140, highlight=False), agree)
    assert "2 eras, 0.10.0.1 to 3.9.2  agrees      18      18" in out.getvalue()


def test_markdown_report_lists_release_eras_with_the_tested_release() -> None:
    text = markdown.write(streams.eras())
    assert "| default-partitioner | era 0.11.0.3 to 2.3.1 | differs |" in text
    line = "default-partitioner: 0.10.0.1; 0.11.0.3 to 2.3.1 (asked in 2.3.1); 2.4.1 to 3.9.2 (asked in 3.9.2)"
    assert line in text.replace("&#59;", ";")
    assert "## Eras" not in markdown.write(streams.conforming())


def test_html_junit_github_and_badge_reports_name_release_eras() -> None:
    html = page.write(streams.eras())
    assert 'title="default-partitioner in era 0.11.0.3 to 2.3.1: differs"' in html
    assert "<td>2.3.1</td><td>era 0.11.0.3 to 2.3.1</td>" in html
    assert "stands for" not in page.write(streams.conforming())
    assert 'name="era" value="0.11.0.3 1.1.1 2.3.1"' in junit.write(streams.eras())
    assert "default-partitioner in era 0.11.0.3 to 2.3.1" in github.write(streams.eras())
    assert json.loads(badge.write(streams.eras()))["label"] == "Kafka 3.2.3 to 3.9.2, eras"


@pytest.mark.parametrize(
    ("releases", "among", "words"),
    [
        ("", "", "of no release"),
        ("1", "1 2 3", "1"),
        ("1 3", "1 2 3", "1 and 3"),
        ("1 1", "", "1"),
        ("1 2 3", "", "1 to 3 (3 releases)"),
        ("1 2 3 5", "1 2 3 4 5", "1 to 3, 5 (4 releases)"),
        ("1 2 4 5", "1 2 3 4 5", "1, 2, 4, 5 (4 releases)"),
        ("2 3 4", "1 2 3 4 5", "2 to 4 (3 releases)"),
    ],
)
def test_release_list_is_joined_into_ranges_only_over_three_or_more_consecutive_releases(
    releases: str, among: str, words: str
) -> None:
    assert since_until(releases.split(), among.split()) == words
