"""The mutants of ``sticky-distribution``: each is found, by answering wrongly and not by breaking down."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer, outcome_of
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answered, Unsupported
from kafka_conformance.rules import RULES
from kafka_conformance.rules.sticky_distribution.mutants import MUTANTS
from kafka_reference.releases import parse_release


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_the_questions_of_its_rule_find_it_and_some_do_not(mutant: Mutant) -> None:
    """By the reference, in Java's place. A mutant that is wrong everywhere would be found by anything."""
    rule = RULES[mutant.rule]
    questions = [question for space in rule.spaces for question in space.questions()]
    right = ReferenceAnswerer().answer(rule, mutant.at, questions)
    wrong = [outcome_of(mutant.ask, question, mutant.at) for question in questions]
    assert [isinstance(outcome, Answered) for outcome in right] == [isinstance(outcome, Answered) for outcome in wrong]
    answered = [(a, b) for a, b in zip(right, wrong, strict=True) if isinstance(a, Answered)]
    assert 0 < sum(a == b for a, b in answered) < len(answered)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_where_its_rule_has_no_such_partitioner_it_has_none_either(mutant: Mutant) -> None:
    rule = RULES[mutant.rule]
    for question in rule.spaces[0].questions():
        if question.partitioner == "builtin" and not mutant.slug.startswith("spread-as"):  # type: ignore[attr-defined]
            assert isinstance(outcome_of(mutant.ask, question, parse_release("2.8.2")), Unsupported)
