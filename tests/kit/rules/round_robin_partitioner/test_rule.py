from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.round_robin_partitioner.rule import RULE
from kafka_reference.releases import parse_release

UNLED = '{"nodes":[{"id":0}],"partitions":[{"id":7,"leader":null},{"id":8,"leader":null}]}'
QUESTION = """{
  "cluster":{"nodes":[{"id":0},{"id":1}],"partitions":[
    {"id":5,"leader":0},{"id":3,"leader":null},{"id":2,"leader":1},{"id":0,"leader":1}]},
  "steps":[
    {"op":"partition","topic":"t"}, {"op":"new_batch","topic":"t","previous":5}, {"op":"partition","topic":"t"},
    {"op":"new_batch","topic":"t","previous":2}, {"op":"partition","topic":"u","key":"61"},
    {"op":"partition","topic":"t"},
    {"op":"cluster","cluster":UNLED}, {"op":"new_batch","topic":"u","previous":3},
    {"op":"partition","topic":"u"}, {"op":"partition","topic":"u"},
    {"op":"cluster","cluster":{"nodes":[{"id":0}],"partitions":[]}}, {"op":"partition","topic":"u"},
    {"op":"cluster","cluster":UNLED}, {"op":"partition","topic":"u"}]}""".replace("UNLED", UNLED)


def asked(steps: str) -> Any:
    cluster = '{"nodes":[{"id":0}],"partitions":[{"id":0,"leader":0}]}'
    return msgspec.json.decode(f'{{"cluster":{cluster},"steps":[{steps}]}}', type=RULE.question)


# What RoundRobinPartitioner of the release answered.
@pytest.mark.parametrize(
    ("version", "answers"),
    [
        ("2.4.1", [5, None, 2, None, 5, 0, None, None, 1, 0, None, "ArithmeticException", None, 0]),
        ("3.9.1", [5, None, 2, None, 5, 0, None, None, 1, 0, None, "ArithmeticException", None, 0]),
        ("3.9.2", [5, None, 5, None, 5, 2, None, None, 3, 1, None, "ArithmeticException", None, 1]),
        ("4.4.0", [5, None, 2, None, 5, 0, None, None, 1, 0, None, "ArithmeticException", None, 0]),
    ],
)
def test_round_robin_partitioner_reference_gives_recorded_java_answers_in_four_releases(
    version: str, answers: list[Any]
) -> None:
    (outcome,) = ReferenceAnswerer().answer(
        RULE, parse_release(version), [msgspec.json.decode(QUESTION, type=RULE.question)]
    )
    assert isinstance(outcome, Answered)
    assert [step.get("partition", step.get("raises")) for step in outcome.answer["steps"]] == answers


T, U = '{"op":"partition","topic":"t"}', '{"op":"partition","topic":"u"}'
BATCH = '{"op":"new_batch","topic":"t","previous":0}'


@pytest.mark.parametrize(
    ("steps", "labels", "path"),
    [
        (f"{T},{BATCH}", ["asked once"], "asked once"),
        (f"{T},{BATCH},{T}", ["asked once", "asked again"], "asked again"),
        (f"{BATCH},{U},{T}", ["a batch of another topic", "asked once", "several topics"], "asked once"),
        ('{"op":"partition","topic":"t","key":""}', ["asked once", "keyed"], "asked once"),
    ],
)
def test_round_robin_partitioner_labels_and_group_name_first_or_repeated_record(
    steps: str, labels: list[str], path: str
) -> None:
    assert list(RULE.labels(asked(steps))) == ["all led", *labels]
    assert RULE.path(asked(steps)) == path


def test_partition_step_with_null_key_encodes_without_key_field() -> None:
    assert msgspec.json.encode(asked(T).steps[0]).decode() == T


def test_round_robin_partitioner_question_space_and_strategy_cover_required_labels() -> None:
    assert missing_labels(RULE.slug, space_questions(RULE.slug)) == set()
    assert missing_labels(RULE.slug, generated(RULE.slug, 300)) == set()


@pytest.mark.parametrize("version", ["2.4.1", "3.9.2", "4.4.0"])
def test_generated_round_robin_partitioner_scripts_are_answered_in_three_releases(version: str) -> None:
    for question in generated(RULE.slug, 300):
        assert isinstance(outcome_of(RULE.ask, question, parse_release(version)), Answered)
