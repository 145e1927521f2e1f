from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered
from kafka_conformance.core.sources import shrink
from kafka_conformance.rules.default_partitioner.rule import RULE
from kafka_reference.releases import parse_release

C = """{"nodes":[{"id":0,"rack":"a"},{"id":1,"rack":"b"}],"partitions":[
    {"id":5,"leader":0},{"id":3,"leader":null},{"id":2,"leader":1},{"id":0,"leader":1}]}"""
UNLED = '{"nodes":[{"id":0}],"partitions":[{"id":7,"leader":null},{"id":8,"leader":null}]}'
EMPTY = '{"nodes":[{"id":0}],"partitions":[]}'
STEPS = """
    {"op":"partition","topic":"t","key":null}, {"op":"partition","topic":"t","key":null},
    {"op":"partition","topic":"u","key":null},
    {"op":"new_batch","topic":"t","previous":0}, {"op":"partition","topic":"t","key":null},
    {"op":"new_batch","topic":"t","previous":5}, {"op":"partition","topic":"t","key":null},
    {"op":"partition","topic":"t","key":"666f6f"}, {"op":"partition","topic":"t","key":""},
    {"op":"cluster","cluster":%s}, {"op":"new_batch","topic":"u","previous":0}, {"op":"partition","topic":"u"},
    {"op":"cluster","cluster":%s}, {"op":"partition","topic":"t"}, {"op":"partition","topic":"v"},
    {"op":"partition","topic":"v","key":"61"}, {"op":"cluster","cluster":%s}, {"op":"partition","topic":"v"}
"""
QUESTION = '{"seed":7,"cluster":%s,"steps":[%s]}'


def asked(cluster: str, steps: str) -> Any:
    return msgspec.json.decode(QUESTION % (cluster, steps), type=RULE.question)


def said(question: Any, version: str) -> list[Any]:
    """Each step's answer: a partition, None for ``{}``, or what it raises."""
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(version), [question])
    assert isinstance(outcome, Answered), outcome
    return [step.get("partition", step.get("raises")) for step in outcome.answer["steps"]]


# What DefaultPartitioner of the release answered.
@pytest.mark.parametrize(
    ("version", "answers"),
    [
        ("0.10.0.1", [0, 5, 2, None, 0, None, 5, 0, 1, None, None, 0, None, *["NullPointerException"] * 3, None, 0]),
        ("2.3.1", [0, 5, 2, None, 2, None, 0, 0, 1, None, None, 0, None, *["ArithmeticException"] * 3, None, 5]),
        ("2.8.2", [0, 0, 2, None, 5, None, 2, 0, 1, None, None, 2, None, 2, *["ArithmeticException"] * 2, None, 5]),
    ],
)  # fmt: skip
def test_default_partitioner_reference_gives_recorded_java_answers_in_three_releases(
    version: str, answers: list[Any]
) -> None:
    assert said(asked(C, STEPS % (UNLED, EMPTY, C)), version) == answers


@pytest.mark.parametrize(
    ("cluster", "steps", "path"),
    [
        (C, '{"op":"partition","topic":"t"}', "no key"),
        (C, '{"op":"partition","topic":"t","key":""},{"op":"new_batch","topic":"t","previous":1}', "keys only"),
        (EMPTY, '{"op":"partition","topic":"t","key":""}', "a topic without partitions"),
        (EMPTY, '{"op":"new_batch","topic":"t","previous":1}', "a topic without partitions"),
        (C, f'{{"op":"partition","topic":"t"}},{{"op":"cluster","cluster":{EMPTY}}}', "no key"),
    ],
)  # fmt: skip
def test_default_partitioner_differences_are_grouped_by_keys_and_missing_partitions(
    cluster: str, steps: str, path: str
) -> None:
    assert RULE.path(asked(cluster, steps)) == path


def test_default_partitioner_question_space_and_strategy_cover_required_labels() -> None:
    assert missing_labels(RULE.slug, space_questions(RULE.slug)) == set()
    assert missing_labels(RULE.slug, generated(RULE.slug, 300)) == set()


@pytest.mark.parametrize("version", ["0.10.0.1", "0.10.2.2", "2.3.1", "2.4.1", "3.9.2"])
def test_generated_default_partitioner_questions_are_answered_and_round_trip_as_json(version: str) -> None:
    for question in generated(RULE.slug, 300):
        assert isinstance(outcome_of(RULE.ask, question, parse_release(version)), Answered)
        assert msgspec.json.decode(msgspec.json.encode(question), type=RULE.question) == question


@pytest.mark.parametrize("seed", range(3))
def test_mutant_repeating_a_sticky_partition_is_found_and_shrunk_to_6_steps_3_partitions(seed: int) -> None:
    wrong = mutant_answerer("default-may-repeat")
    at = parse_release("2.8.2")

    def differs(question: Any) -> bool:
        return wrong.answer(RULE, at, [question]) != ReferenceAnswerer().answer(RULE, at, [question])

    smallest: Any = shrink(RULE, differs, 2000, seed)
    assert smallest is not None
    assert len(smallest.steps) <= 6
    assert len(smallest.cluster.partitions) <= 3
