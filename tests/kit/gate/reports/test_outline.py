"""A stream put in order: what belongs together, what is alike in several releases, and what a cut stream proves."""

from __future__ import annotations

from typing import Any

import pytest
import streams

from kafka_conformance.core.events import Ended, Known, RuleBegan, Stale
from kafka_conformance.core.sanitize import clipped
from kafka_conformance.gate.reports.outline import (
    address,
    as_json,
    compared,
    counted,
    diagnosed,
    explanations,
    findings,
    folded,
    outline,
    protocol_errors,
    verdict,
)


def test_outline_has_a_row_per_rule_and_release() -> None:
    seen = outline(streams.everything())
    assert [(row.rule, row.release, row.verdict) for row in seen.rows[:3]] == [
        ("murmur2", "3.2.3", "differs"),
        ("partition-for-key", "3.2.3", "agrees"),
        ("round-robin-partitioner", "3.2.3", "differs"),
    ]
    assert {row.verdict for row in seen.rows} == {"agrees", "differs", "known", "unsupported", "errored", "crashed"}
    assert {row.grade for row in seen.rows} == {"exact", "admissible", "statistical"}
    assert [len(row.differed) for row in seen.rows[:3]] == [1, 0, 1]
    assert seen.releases == ["3.2.3", "4.4.0"]
    assert (seen.target, seen.exit_code, len(seen.stale)) == ("franz-go 1.22.2", 1, 1)


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "could not be judged: the target: there are no events, so nothing is claimed"),
        (
            streams.cut(),
            "could not be judged: franz-go 1.22.2: the event stream ends before the gate did, so nothing is claimed",
        ),
        (streams.conforming(), "conforms: franz-go 1.22.2, Kafka 3.2.3 and 4.4.0: every answer matches Java's"),
        (
            streams.only_stale(),
            "differs: franz-go 1.22.2, Kafka 3.2.3 and 4.4.0: an entry of the known failures is stale",
        ),
    ],
)
def test_verdict_line_reads_conforms_differs_or_could_not_be_judged_for_truncated_events(
    events: list[Any], said: str
) -> None:
    assert verdict(outline(events)) == said


def test_outline_of_events_without_end_has_exit_code_2_and_marks_the_last_rule_unfinished() -> None:
    assert (
        outline([]).exit_code == outline(streams.cut()).exit_code == outline(streams.conforming()[:-1]).exit_code == 2
    )
    assert outline(streams.cut()).rows[-1].verdict == "unfinished"


def test_equal_findings_of_several_releases_are_merged() -> None:
    rows = outline(streams.everything()).rows
    found = findings(rows)
    assert [(one.first.rule, one.where, one.times) for one in found] == [
        ("murmur2", "3.2.3 and 4.4.0", 824),
        ("round-robin-partitioner", "3.2.3 and 4.4.0", 6),
        ("record-sizes", "3.2.3 and 4.4.0", 4),
    ]
    assert [(one.first.error, one.where, one.times) for one in protocol_errors(rows)] == [
        ("failed", "3.2.3 and 4.4.0", 8),
        ("noise", "3.2.3 and 4.4.0", 2),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"actual": {"hash": -2}},
        {"actual": {"hash": -1.0}},
        {"question": {"key": ""}},
        {"expected": {"hash": 1}},
        {"kind": "another"},
        {"diagnosis": streams.SIGN_ABS},
        {"known": Known("they round down")},
        {"known": Known("")},
    ],
)
def test_different_findings_of_two_releases_stay_separate(other: dict[str, Any]) -> None:
    events = [streams.differed(release="3.2.3"), streams.differed(release="4.4.0", **other)]
    assert [one.where for one in findings(outline(events).rows)] == ["3.2.3", "4.4.0"]


def test_rule_diagnosis_is_listed_once_for_all_releases_and_only_if_no_finding_shows_the_same() -> None:
    assert explanations(outline(streams.everything()).rows) == []
    events = [
        streams.ended_rule("murmur2", at, "differs", differed=1, diagnoses=(streams.SIGN_ABS,)) for at in ("1", "2")
    ]
    (one,) = explanations(outline(events).rows)
    assert (one.rule, one.where, one.diagnosis) == ("murmur2", "1 and 2", streams.SIGN_ABS)


def test_consecutive_releases_of_a_rule_with_equal_verdict_are_grouped() -> None:
    verdicts = ["agrees", "agrees", "differs", "agrees"]
    events: list[Any] = [
        streams.ended_rule(rule, str(at), said) for at, said in enumerate(verdicts) for rule in ("murmur2", "delivery")
    ]
    assert [[row.rule + row.release for row in group] for group in folded(outline(events).rows)] == [
        ["murmur20", "murmur21"], ["murmur22"], ["murmur23"], ["delivery0", "delivery1"], ["delivery2"], ["delivery3"],
    ]  # fmt: skip
    assert list(folded([])) == []


def test_diagnosis_is_one_line_with_reference_links() -> None:
    assert diagnosed(streams.SIGN_ABS) == (
        "412 of 412 wrong answers equal `sign-abs`: the sign is dropped by abs; so do 588 of 588 right ones "
        f"(see {streams.THREAD})"
    )
    assert streams.THREAD not in diagnosed(streams.SIGN_ABS, references=False)


def test_answer_comparison_lists_every_field_and_distinguishes_1_from_true() -> None:
    one = streams.differed(expected={"a": 1, "b": [2]}, actual={"b": [2], "a": True, "c": None})
    assert [(part.name, part.expected, part.actual, part.same) for part in compared(one)] == [
        ("a", "1", "true", False),
        ("b", "[2]", "[2]", True),
        ("c", None, "null", False),
    ]


def test_multi_step_answers_are_compared_by_step_and_missing_step_differs() -> None:
    parts = compared(streams.script())
    assert [(part.name, part.same) for part in parts] == [("0", True), ("1", False), ("2", False)]
    assert parts[1].asked == '{"op": "new_batch", "previous": 2, "topic": "t"}'
    assert parts[2].actual is None
    assert len(compared(streams.script(), limit=2)) == 2


@pytest.mark.parametrize("actual", [{}, {"steps": None}, {"steps": {"0": 1}}, {"steps": []}, {"raises": "KeyError"}])
def test_malformed_answer_to_multi_step_question_is_shown_as_different(actual: dict[str, Any]) -> None:
    parts = compared(streams.script(actual=actual))
    assert parts
    assert any(not part.same for part in parts)


def test_deeply_nested_or_unserializable_value_is_shown_as_one_line() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert as_json(deep) == "(it cannot be shown as JSON)"
    while deep:  # by hand, or ending it would nest as deep
        deep = deep.pop()
    assert as_json({"b": object, "a": "\n"}) == '{"a": "\\n", "b": "<class \'object\'>"}'


def test_text_more_than_40_characters_over_the_limit_is_clipped_with_the_omitted_count() -> None:
    assert clipped("a" * 100_000, 10) == "aaaaaaaaaa… (99,990 more characters)"
    assert clipped("a" * 50, 10) == "a" * 50


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("https://github.com/a/b/issues/1#issuecomment-2", True),
        ("http://localhost:8080/a?b=c", True),
        ("https://cwiki.apache.org/confluence/display/KAFKA/KIP-794%3A+Strictly+Uniform", True),
        ("javascript:alert(1)", False),
        ("https://a.example/\njavascript:alert(1)", False),
        ("https://a.example/>x", False),
        ('https://a.example/"onload', False),
        ("https://user@a.example@b", False),
        ("https://a.example/\u202e", False),
        ("data:text/html,x", False),
        ("//a.example", False),
        ("", False),
    ],
)
def test_only_plain_http_or_https_address_is_accepted_as_link(text: str, plain: bool) -> None:
    assert address(text) == (text if plain else None)


def test_summary_of_counts_omits_zero_counts() -> None:
    ended = Ended(1, "", 1000, 588, 412, 0, 0, 0, 1.0)
    assert counted(ended) == "1,000 questions, 588 agreed, 412 differed"


def test_events_without_began_event_are_outlined_as_unfinished_rules() -> None:
    seen = outline([streams.differed(), Stale("a", "b", "c"), RuleBegan("delivery", "1.0.2", "exact", 1)])
    assert [(row.rule, row.verdict) for row in seen.rows] == [("murmur2", "unfinished"), ("delivery", "unfinished")]
    assert seen.releases == ["4.4.0", "1.0.2"]
