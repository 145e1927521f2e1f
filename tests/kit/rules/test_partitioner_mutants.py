"""The mutants of the rules that are asked by scripts: each is found, by answering wrongly and not by breaking down."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS

PARTITIONERS = {
    "default-partitioner", "uniform-sticky-partitioner", "round-robin-partitioner", "builtin-partitioner",
}  # fmt: skip


@pytest.mark.parametrize(
    "mutant", [mutant for mutant in MUTANTS if mutant.rule in PARTITIONERS], ids=lambda mutant: mutant.slug
)
def test_the_questions_of_its_rule_find_it_and_some_do_not(mutant: Mutant) -> None:
    """By the reference, in Java's place. A mutant that is wrong everywhere would be found by anything."""
    rule = RULES[mutant.rule]
    questions = [question for space in rule.spaces for question in space.questions()]
    right = ReferenceAnswerer().answer(rule, mutant.at, questions)
    wrong = [outcome_of(mutant.ask, question, mutant.at) for question in questions]
    assert all(isinstance(outcome, Answered) for outcome in wrong), (
        "a mutant that breaks down is not found by comparing"
    )
    alike = sum(a == b for a, b in zip(right, wrong, strict=True))
    assert 0 < alike < len(questions)
