"""The mutants of ``sticky-distribution``: each has the partitioners of its release."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Unsupported
from kafka_conformance.rules import RULES
from kafka_conformance.rules.sticky_distribution.mutants import MUTANTS
from kafka_reference.releases import parse_release


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_mutant_of_sticky_distribution_is_unsupported_for_builtin_partitioner_before_3_3(mutant: Mutant) -> None:
    rule = RULES[mutant.rule]
    builtin = [question for question in rule.spaces[0].questions() if question.partitioner == "builtin"]  # type: ignore[attr-defined]
    assert builtin
    for question in builtin:
        assert isinstance(outcome_of(mutant.ask, question, parse_release("2.8.2")), Unsupported)
