"""Questions in words, and the steps of a rule that does not explain itself."""

from __future__ import annotations

import msgspec
import pytest
from questions import generated

from kafka_conformance.core.protocol import Question
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.step_text import (
    answer_in_words,
    bytes_in_words,
    cluster_in_words,
    count_of,
    fields_in_words,
    plain_steps,
)
from kafka_reference.errors import JavaException, NotInThisRelease
from kafka_reference.releases import NEWEST, parse_release

CLUSTER = AskedCluster(
    (AskedNode(0, "a"), AskedNode(1), AskedNode(2, "")),
    (AskedPartition(4, 1), AskedPartition(0, None), AskedPartition(1, 1), AskedPartition(2, 0), AskedPartition(3, 9)),
)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "null"),
        ("", "empty"),
        ("666f6f", '"foo" (666f6f)'),
        ("c3a9", '"é" (c3a9)'),
        ("80ff", "80ff"),
        ("1b5b", "1b5b"),
        ("61" * 25, "6161616161616161… (25 bytes)"),
    ],
)
def test_bytes_text_shows_utf8_or_hex_and_shortens_long_values(given: str | None, said: str) -> None:
    assert bytes_in_words(given) == said


def test_cluster_text_has_lines_for_nodes_leaderless_partitions_and_unknown_leaders() -> None:
    assert cluster_in_words(CLUSTER).splitlines() == [
        'node 0 in rack "a" leads 2',
        "node 1 leads 4, 1",
        'node 2 in rack "" leads nothing',
        "no leader for 0",
        "node 9 (not in the cluster) leads 3",
    ]
    assert cluster_in_words(AskedCluster((), ())) == "no nodes, no partitions"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"partition": 3, "drawn": 1}, "partition 3, drawn 1"),
        ({}, "–"),
        ({"raises": "ArithmeticException"}, "raises ArithmeticException"),
        ({"raises": "KafkaException", "message": "no"}, "raises KafkaException: no"),
        (None, "null"),
        ([1, 2], "[1,2]"),
    ],
)
def test_answer_text_shows_fields_an_exception_with_message_or_else_json(answer: object, said: str) -> None:
    assert answer_in_words(answer) == said


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [(1, "record", "1 record"), (0, "batch", "0 batches"), (2, "draw", "2 draws"), (1000, "byte", "1,000 bytes")],
)
def test_count_text_has_singular_plural_and_thousands_separator(count: int, noun: str, said: str) -> None:
    assert count_of(count, noun) == said


@pytest.mark.parametrize("slug", RULES)
def test_question_text_has_every_field_except_steps(slug: str) -> None:
    for question in generated(slug, 60):
        fields = dict(fields_in_words(question))
        assert set(fields) == set(msgspec.to_builtins(question)) - {"steps"}
        assert all(isinstance(said, str) and said for said in fields.values())


# Each explains a sixth of the histories.
EXPLAINED = ["0.10.0.1", "2.3.1", "2.8.2", "3.3.2", "3.9.2", "4.4.0"]


@pytest.mark.parametrize("slug", [slug for slug, rule in RULES.items() if rule.explain])
@pytest.mark.parametrize(
    "version", [EXPLAINED[-1], *(pytest.param(version, marks=pytest.mark.exhaustive) for version in EXPLAINED[:-1])]
)
def test_rule_explanation_has_text_for_every_step_of_generated_questions(slug: str, version: str) -> None:
    rule, at = RULES[slug], parse_release(version)
    if at not in rule.releases:
        return
    for question in generated(slug, 120)[EXPLAINED.index(version) :: len(EXPLAINED)]:
        try:
            answer = rule.ask(question, at)
        except (JavaException, NotInThisRelease):
            continue
        if rule.parts is None and "steps" not in answer:
            continue  # the short form of a question, without steps
        assert rule.explain is not None
        answers = rule.parts(question, answer) if rule.parts else answer["steps"]
        explained = list(rule.explain(question, at, answers))
        assert len(explained) == len(answers if rule.parts else question.steps)
        assert all(one.step and one.answer and one.mark for one in explained)


def test_step_explanations_exist_for_all_rules_with_steps_and_two_with_batches_or_polls() -> None:
    with_steps = {slug for slug, rule in RULES.items() if "steps" in rule.question.__struct_fields__}
    explained = {slug for slug, rule in RULES.items() if rule.explain and not rule.parts}
    assert explained == with_steps | {"consumer-fetch", "record-batch"}, (
        "their batches and polls stand in place of steps"
    )


class _Wait(Question, frozen=True, tag_field="op", tag="advance"):
    ms: int


class _Send(Question, frozen=True, tag_field="op", tag="send_now"):
    key: str
    to: int


class _Script(Question, frozen=True):
    steps: tuple[_Wait | _Send | int, ...]


def test_plain_explanation_shows_step_answer_and_elapsed_time_only_if_a_step_advances_time() -> None:
    script = _Script((_Send("666f6f", 1), _Wait(5), _Wait(2), _Send("", 2), 7))
    explained = list(plain_steps(script, NEWEST, [{"sent": 1}, {}, {}, {"raises": "It"}, "(no answer)"]))
    assert [(one.time_ms, one.step, one.answer) for one in explained] == [
        (0, 'send now key "foo" (666f6f), to 1', "sent 1"),
        (5, "advance ms 5", "–"),
        (7, "advance ms 2", "–"),
        (7, "send now key empty, to 2", "raises It"),
        (7, "7", '"(no answer)"'),
    ]
    timeless = _Script((_Send("", 1),))
    assert [one.time_ms for one in plain_steps(timeless, NEWEST, [{}])] == [None]
