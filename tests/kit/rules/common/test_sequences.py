"""The rules ``sequence-increment`` and ``sequence-decrement``."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.protocol import Answered, Unsupported
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.sequences import SequenceQuestion
from kafka_reference.releases import NEWEST, parse_release

LAST = 2**31 - 1
INCREMENT, DECREMENT = RULES["sequence-increment"], RULES["sequence-decrement"]
BOTH = pytest.mark.parametrize("rule", [INCREMENT, DECREMENT], ids=lambda rule: rule.slug)


def test_sequence_increment_of_int_max_wraps_to_0_and_decrement_of_0_wraps_to_int_max() -> None:
    question = msgspec.json.decode('{"sequence":2147483647,"by":1}', type=INCREMENT.question)
    assert outcome_of(INCREMENT.ask, question, NEWEST) == Answered({"sequence": 0})
    assert outcome_of(DECREMENT.ask, SequenceQuestion(0, 1), NEWEST) == Answered({"sequence": LAST})


@pytest.mark.parametrize(
    ("rule", "first", "before"), [(INCREMENT, "0.11.0.0", "0.10.2.2"), (DECREMENT, "2.1.1", "2.1.0")]
)
def test_sequence_step_is_unsupported_before_first_release_with_java_method(rule: Any, first: str, before: str) -> None:
    assert rule.java_class(parse_release(first))
    assert rule.java_class(parse_release(before)) is None
    (outcome,) = ReferenceAnswerer().answer(rule, parse_release(before), [SequenceQuestion(0, 1)])
    assert isinstance(outcome, Unsupported)


@pytest.mark.parametrize("question", ['{"sequence":2147483648,"by":1}', '{"sequence":0}', '{"sequence":0,"by":"1"}'])
def test_sequence_question_with_missing_non_integer_or_too_large_number_raises_validation_error(question: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(question, type=INCREMENT.question)


@BOTH
def test_sequence_question_spaces_pair_all_numbers_near_zero_int_limits_and_half_int_limits(rule: Any) -> None:
    numbers, ints = (list(space.questions()) for space in rule.spaces)
    near = {*range(101), *range(LAST - 100, LAST + 1)}
    assert {(question.sequence, question.by) for question in numbers} == {(one, by) for one in near for by in near}
    assert len(numbers) == len(near) ** 2
    edges = {
        edge + off
        for edge in (-LAST - 1, -(2**30), 0, 2**30, LAST)
        for off in range(-12, 13)
        if -LAST - 1 <= edge + off <= LAST
    }
    assert {(question.sequence, question.by) for question in ints} == {(one, by) for one in edges for by in edges}


@BOTH
def test_each_sequence_question_space_covers_all_labels_but_below_0_and_strategy_all(rule: Any) -> None:
    for space in rule.spaces:
        labels = {label for question in space.questions() for label in rule.labels(question)}
        assert labels >= rule.required_labels - {"below 0"}
    assert {label for question in generated(rule.slug, 200) for label in rule.labels(question)} == rule.required_labels


@pytest.mark.parametrize(
    ("sequence", "by", "forward", "back"),
    [
        (LAST, 0, "does not wrap", "does not wrap"),
        (LAST, 1, "wraps", "does not wrap"),
        (0, 1, "does not wrap", "wraps"),
        (-1, 1, "below 0", "below 0"),
        (1, -1, "below 0", "below 0"),
    ],
)
def test_sequence_differences_are_grouped_by_wraparound_and_numbers_below_0(
    sequence: int, by: int, forward: str, back: str
) -> None:
    question = SequenceQuestion(sequence, by)
    assert (INCREMENT.path(question), DECREMENT.path(question)) == (forward, back)
