"""Which functions a question executes, although answers are cached."""

from __future__ import annotations

import gc

import msgspec
import pytest

from kafka_conformance.core.errors import KitError
from kafka_conformance.generated_mutants.executed_functions import functions_of
from kafka_conformance.generated_mutants.questions import RuleQuestions
from kafka_conformance.rules import RULES

RULE = RULES["sequence-decrement"]


def test_functions_recorded_for_a_question_are_those_the_reference_executes() -> None:
    asked = RuleQuestions(RULE, 1).asked("frozen")[:50]
    found = functions_of(RULE, asked)
    assert len(found) == 50
    executed = {"kafka_reference.idempotence.sequences:decrement", "kafka_reference.java.int32:int32"}
    assert all(executed <= functions for functions in found)
    assert not any("kafka_reference.idempotence.sequences:increment" in functions for functions in found)


@pytest.mark.parametrize("frozen", [False, True])
def test_function_with_a_cached_result_is_recorded_as_executed_for_every_question(*, frozen: bool) -> None:
    rule = RULES["produce-acks"]
    asked = RuleQuestions(rule, 1).asked("frozen")[:50]
    if frozen:
        gc.freeze()  # as a hunt does: the collector's list has no cache then
    try:
        found = functions_of(rule, asked)
    finally:
        gc.unfreeze()
    assert all("kafka_reference.behaviour:_resolve" in functions for functions in found)


def test_question_with_expected_answer_unlike_the_reference_raises_kit_error_with_the_case() -> None:
    asked = RuleQuestions(RULE, 1).asked("frozen")
    wrong = msgspec.structs.replace(asked[3], expected=asked[4].expected + b" ")
    with pytest.raises(
        KitError, match=f"the reference itself gives another answer: sequence-decrement, {wrong.case} in "
    ):
        functions_of(RULE, [*asked[:3], wrong])
