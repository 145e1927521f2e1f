"""Every written mutant is found by its frozen cases, answers other questions correctly, and never fails to answer."""

from __future__ import annotations

import pytest
from questions import shipped_cases, space_outcomes, space_questions

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.cases.store import Case
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answered, Outcome, Unsupported
from kafka_conformance.core.rule import Area
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import written_mutants
from kafka_reference.releases import parse_release

WRITTEN = [mutant for rule in RULES.values() for mutant in written_mutants(rule)]
BY_SLUG = pytest.mark.parametrize("mutant", WRITTEN, ids=lambda mutant: mutant.slug)
# Rules whose spaces are asked in less than a second. `selftest` asks the questions of all rules.
QUICK = [
    mutant
    for mutant in WRITTEN
    if RULES[mutant.rule].area is Area.PLACEMENT or mutant.rule == "idempotence-config"
]  # fmt: skip


def _outcomes(mutant: Mutant, case: Case) -> list[Outcome]:
    """Answer the case where it counts: in its newest release and in the mutant's, if the case is proven for that."""
    question = case.typed_question(RULES[mutant.rule])
    releases = {case.release, str(mutant.release)} & set(case.releases)
    return [outcome_of(mutant.ask, question, parse_release(release)) for release in sorted(releases)]


@BY_SLUG
def test_mutant_fails_recorded_java_cases_that_name_the_mutant_and_passes_some_other_case(mutant: Mutant) -> None:
    """A mutant that is wrong everywhere would be found by anything; one that fails to answer is not found."""
    cases = shipped_cases(mutant.rule).cases
    named = [(case, _outcomes(mutant, case)) for case in [case for case in cases if mutant.slug in case.kills][:5]]
    others = [
        (case, _outcomes(mutant, case)) for case in [case for case in cases if mutant.slug not in case.kills][:20]
    ]
    assert named, f"no frozen case finds it: kafka-conformance freeze --rules {mutant.rule}"
    for case, outcomes in named:
        assert any(isinstance(each, Answered) and each.answer != case.answer for each in outcomes), case.id
    assert any(Answered(case.answer) in outcomes for case, outcomes in others)
    assert all(isinstance(each, Answered | Unsupported) for _, outcomes in (*named, *others) for each in outcomes)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mutant", QUICK, ids=lambda mutant: mutant.slug)
def test_mutant_answers_every_enumerated_question_some_correctly_and_some_wrongly(mutant: Mutant) -> None:
    right = space_outcomes(mutant.rule, mutant.release)
    wrong = [outcome_of(mutant.ask, question, mutant.release) for question in space_questions(mutant.rule)]
    assert [isinstance(each, Answered) for each in wrong] == [isinstance(each, Answered) for each in right]
    answered = [one == other for one, other in zip(right, wrong, strict=True) if isinstance(one, Answered)]
    assert 0 < sum(answered) < len(answered)
