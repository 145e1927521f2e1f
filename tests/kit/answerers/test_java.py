"""What a line of the oracle's says."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.java import outcome_in
from kafka_conformance.core.protocol import Answered, Failed, Unsupported


def test_java_exception_in_an_oracle_line_is_an_answer_not_a_failure() -> None:
    assert outcome_in({"answer": {"raises": "NullPointerException"}}) == Answered({"raises": "NullPointerException"})
    assert outcome_in({"answer": {"steps": [{"raises": "NullPointerException"}, None]}}) == Answered(
        {"steps": [{"raises": "NullPointerException"}, None]}
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"raises": "NoClassDefFoundError", "message": "a/B"},
        {"steps": [{}, {"ended": [], "raises": "NoClassDefFoundError", "message": "a/B"}]},
    ],
)
def test_no_class_def_found_error_in_an_oracle_line_is_a_failure(answer: dict[str, object]) -> None:
    why = "NoClassDefFoundError: a/B; the release's jars do not fit together"
    assert outcome_in({"answer": answer}) == Failed(why)


def test_oracle_line_without_an_answer_becomes_unsupported_or_failed() -> None:
    assert outcome_in({"unsupported": "no such class"}) == Unsupported("no such class")
    assert outcome_in({"failed": "it broke"}) == Failed("it broke")
    assert outcome_in({}) == Failed("no answer")
