"""Assignments are compared by what each member gets, in any order."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Agrees, Answered, Differs
from kafka_conformance.gate.assignments import in_any_order
from kafka_conformance.gate.diagnosis.candidate import line_of
from kafka_conformance.gate.grades import GradedComparison
from kafka_conformance.gate.questions import EXPECTED
from kafka_conformance.gate.severity import harm_of
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.assignors.question import AskedMember, AssignorQuestion
from kafka_reference.releases import NEWEST

RANGE = RULES["range-assignor"]
QUESTION = AssignorQuestion({"t": 2, "u": 1}, (AskedMember("a", topics=("t", "u")), AskedMember("b", topics=("t",))))
RIGHT = {"assignment": {"a": [["t", 0], ["u", 0]], "b": [["t", 1]]}}


@pytest.mark.parametrize(
    ("answer", "agrees", "severity"),
    [
        (RIGHT, True, ""),
        ({"assignment": {"b": [["t", 1]], "a": [["u", 0], ["t", 0]]}}, True, ""),
        ({"assignment": {"a": [["t", 1], ["u", 0]], "b": [["t", 0]]}}, False, "medium"),
        ({"assignment": {"a": [["u", 0], ["t", 0], ["t", 0]], "b": [["t", 1]]}}, False, "high"),
        ({"assignment": {"a": [["u", 0]], "b": [["t", 1]]}}, False, "high"),
        ({"assignment": {"a": [["t", 0], ["u", 0]]}}, False, "high"),
        ({"assignment": {"a": None, "b": [[]]}}, False, "high"),
        ({"assignment": []}, False, "high"),
        ({"raises": "KeyError"}, False, "high"),
    ],
)
def test_assignment_comparison_ignores_order_and_rates_severity_of_differences(
    answer: dict[str, Any], agrees: bool, severity: str
) -> None:
    comparison = GradedComparison(EXPECTED, EXPECTED, NEWEST)
    verdict = comparison.verdict(RANGE, QUESTION, Answered(RIGHT), Answered(answer))
    assert isinstance(verdict, Agrees if agrees else Differs)
    assert (line_of(answer) == line_of(RIGHT)) == agrees
    if severity:
        assert harm_of(RANGE, [Difference(QUESTION, RIGHT, answer)]).severity == severity


def test_order_normalization_returns_answers_other_than_assignments_unchanged() -> None:
    for answer in ({"hash": 1}, {"assignment": {"a": [2, 1]}, "more": 1}, {"assignment": [2, 1]}):
        assert in_any_order(answer) is answer
