"""The severity of a finding, what it means for users, and the order of findings in every report."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, get_args

import msgspec
import pytest
import streams
from rich.console import Console

from kafka_conformance.core.events import Differed, Event, RuleBegan, Severity
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.sources import collect
from kafka_conformance.gate.reports import github, junit, markdown, page, terminal
from kafka_conformance.gate.severity import harm_of, rank
from kafka_conformance.rules import RULES

RAISES = {"raises": "ArithmeticException"}
CLUSTER = {"nodes": [{"id": 0}], "partitions": [{"id": 0, "leader": 0}, {"id": 1, "leader": 0}]}


def _difference(slug: str, question: dict[str, Any], expected: Answer, actual: Answer) -> Difference:
    return Difference(msgspec.convert(question, type=RULES[slug].question), expected, actual)


def _produced(**record: Any) -> dict[str, Any]:
    return {"record": record, "config": {}, "cluster": CLUSTER}


@pytest.mark.parametrize(
    ("slug", "question", "expected", "actual", "severity", "words"),
    [
        ("partition-for-key", {"key": "00", "partitions": 3}, {"partition": 1}, {"partition": 2}, "critical",
         "joins, compaction and order by key break"),
        ("partition-for-key", {"key": "00", "partitions": 3}, {"partition": 1}, RAISES, "high", "refuses"),
        ("partition-for-key", {"key": "00", "partitions": 0}, RAISES, {"partition": 0}, "low", ""),
        ("producer-partition", _produced(key="00"), {"partition": 1}, {"partition": 0}, "critical", "Java producers"),
        ("producer-partition", _produced(), {"partition": -1}, {"partition": 0}, "medium", "without a key"),
        ("producer-partition", _produced(partition=1, key="00"), {"partition": 1}, {"partition": 0}, "high",
         "name a partition"),
        ("murmur2", {"key": "00"}, {"hash": 1}, {"hash": 2}, "critical", "keys"),
        ("murmur2", {"key": None}, {"raises": "NullPointerException"}, {"raises": "TypeError"}, "low", ""),
        ("consumer-fetch", {"records": ""}, {"delivered": [1], "position": 2}, {"delivered": [], "position": 2}, "high",
         "skips records"),
        ("consumer-fetch", {"records": ""}, {**RAISES, "delivered": [1], "position": 2},
         {**RAISES, "delivered": [], "position": 2}, "medium", "other records are returned before the error"),
        ("consumer-fetch", {"records": ""}, {**RAISES, "delivered": [], "position": 2}, {"delivered": [], "position": 2},
         "medium", "taken for a valid one"),
        ("consumer-fetch", {"records": ""}, {**RAISES, "delivered": [], "position": 2},
         {"raises": "CRCError", "delivered": [], "position": 2}, "low", "Only the error"),
        ("sequence-increment", {"sequence": 2147483647, "by": 1}, {"sequence": 0}, {"sequence": 1}, "high", "refuses"),
    ],
)  # fmt: skip
def test_severity_and_effect_of_a_difference_follow_from_rule_and_answers(
    slug: str, question: dict[str, Any], expected: Answer, actual: Answer, severity: str, words: str
) -> None:
    harm = harm_of(RULES[slug], [_difference(slug, question, expected, actual)])
    assert harm.severity == severity
    assert words in harm.effect


def test_every_rule_describes_severity_and_effect_of_a_difference() -> None:
    for rule in RULES.values():
        for question in collect(rule, 3, 1):
            harm = harm_of(rule, [Difference(question, {"steps": [{"a": 1}]}, {"steps": [{"a": 2}]})])
            assert harm.effect.endswith(".")
            assert harm.severity in get_args(Severity)


def test_differences_of_one_key_at_several_partition_counts_are_reported_as_one_key() -> None:
    asked = [{"key": key, "partitions": count} for key in ("00", "01") for count in (3, 5)]
    found = [_difference("partition-for-key", one, {"partition": 1}, {"partition": 2}) for one in asked]
    assert harm_of(RULES["partition-for-key"], found).keys == 2


def test_key_whose_partition_changes_between_sends_has_critical_severity() -> None:
    one = _difference("partition-for-key", {"key": "00", "partitions": 3}, {"partition": 1}, {"partition": 2})
    harm = harm_of(RULES["partition-for-key"], [one], changing=True)
    assert harm.severity == "critical"
    assert "from one send to the next" in harm.effect


def _differed(rule: str, kind: str, severity: Severity, keys: int, times: int) -> Differed:
    return Differed(
        rule, "4.4.0", kind.replace(" ", "-"), "fresh", kind, times, {"key": "00"}, {"a": 1}, {"a": 2}, "Java.method", "",
        severity=severity, effect=f"Effect of {kind}.", keys=keys,
    )  # fmt: skip


EVENTS: tuple[Event, ...] = (
    RuleBegan("builtin-partitioner", "4.4.0", "exact", 0),
    _differed("builtin-partitioner", "spread kind", "medium", 0, 9000),
    RuleBegan("partition-for-key", "4.4.0", "exact", 0),
    _differed("partition-for-key", "odd kind", "low", 0, 12),
    _differed("partition-for-key", "misplaced kind", "critical", 2969, 2969),
    _differed("partition-for-key", "few misplaced kind", "critical", 3, 5000),
)
ORDER = ["misplaced kind", "few misplaced kind", "spread kind", "odd kind"]


def _terminal(events: Sequence[Event]) -> str:
    out = Console(file=io.StringIO(), width=200)
    terminal.show(out, events)
    return out.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("write", [_terminal, markdown.write, github.write], ids=["terminal", "markdown", "github"])
def test_terminal_markdown_and_github_reports_list_findings_in_order_of_severity(write: Any) -> None:
    text = write(EVENTS)
    places = [text.index(f"Effect of {kind}.") for kind in ORDER]
    assert places == sorted(places)
    assert "critical, 2,969 keys" in text
    assert "no known mistake explains this" in text


def test_html_report_begins_with_rule_of_the_most_severe_finding() -> None:
    text = page.write(EVENTS)
    kinds = ["misplaced kind", "few misplaced kind", "odd kind", "spread kind"]
    places = [text.index(f"Effect of {kind}.") for kind in kinds]
    assert places == sorted(places)
    assert "What this means for users" in text
    assert "2,969 keys" in text


def test_junit_failure_states_severity_and_effect_for_users() -> None:
    text = junit.write(EVENTS)
    assert "severity: critical, 2,969 keys" in text
    assert "for users: Effect of misplaced kind." in text


def test_terminal_report_of_finding_without_effect_omits_the_effect_line() -> None:
    text = _terminal([RuleBegan("murmur2", "4.4.0", "exact", 0), streams.differed()])
    assert "murmur2 in 4.4.0" in text
    assert "for users" not in text
    assert "no known mistake" not in text


def test_findings_are_ranked_by_severity_then_number_of_keys() -> None:
    ranks = [rank(_differed("r", severity, severity, 0, 1)) for severity in get_args(Severity)]
    assert ranks == sorted(ranks)
    assert rank(_differed("r", "k", "high", 5, 1)) < rank(_differed("r", "k", "high", 4, 9))
