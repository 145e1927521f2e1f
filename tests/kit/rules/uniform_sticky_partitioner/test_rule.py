from __future__ import annotations

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered, Unsupported
from kafka_conformance.rules.uniform_sticky_partitioner.rule import RULE
from kafka_reference.releases import parse_release

QUESTION = """{"seed":7,
  "cluster":{"nodes":[{"id":0},{"id":1}],"partitions":[
    {"id":5,"leader":0},{"id":3,"leader":null},{"id":2,"leader":1},{"id":0,"leader":1}]},
  "steps":[
    {"op":"partition","topic":"t","key":null}, {"op":"partition","topic":"t","key":"666f6f"},
    {"op":"partition","topic":"u","key":""},
    {"op":"new_batch","topic":"t","previous":0}, {"op":"partition","topic":"t"},
    {"op":"new_batch","topic":"t","previous":0}, {"op":"partition","topic":"t"},
    {"op":"new_batch","topic":"t","previous":5}, {"op":"partition","topic":"t"},
    {"op":"cluster","cluster":{"nodes":[{"id":0}],"partitions":[]}},
    {"op":"partition","topic":"t"}, {"op":"partition","topic":"v"}, {"op":"new_batch","topic":"t","previous":2}]}"""


@pytest.mark.parametrize("version", ["2.4.1", "3.2.3", "3.9.2"])
def test_uniform_sticky_partitioner_reference_gives_recorded_java_answers_in_three_releases(version: str) -> None:
    question = msgspec.json.decode(QUESTION, type=RULE.question)
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(version), [question])
    assert isinstance(outcome, Answered)
    steps = [step.get("partition", step.get("raises")) for step in outcome.answer["steps"]]
    error = "ArithmeticException"
    assert steps == [0, 0, 2, None, 5, None, 5, None, 2, None, 2, error, error]


@pytest.mark.parametrize("version", ["2.3.1", "4.0.2"])
def test_uniform_sticky_rule_is_unsupported_in_releases_without_the_class(version: str) -> None:
    question = msgspec.json.decode(QUESTION, type=RULE.question)
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(version), [question])
    assert isinstance(outcome, Unsupported)


def test_uniform_sticky_question_space_and_strategy_cover_required_labels() -> None:
    assert missing_labels(RULE.slug, space_questions(RULE.slug)) == set()
    assert missing_labels(RULE.slug, generated(RULE.slug, 300)) == set()


def test_generated_uniform_sticky_partitioner_scripts_are_answered_in_3_9_2() -> None:
    for question in generated(RULE.slug, 300):
        assert isinstance(outcome_of(RULE.ask, question, parse_release("3.9.2")), Answered)
