"""The handful of questions: every required kind, and for each mutant some that find it, none of them at the first step."""

from __future__ import annotations

import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answered
from kafka_conformance.kit_mistakes import bench as benches
from kafka_conformance.kit_mistakes.bench import MUTANTS, NEIGHBOUR, RELEASE, SLUGS, cases_of, source
from kafka_conformance.rules import RULES
from kafka_jars.pins import load


@pytest.mark.parametrize("slug", SLUGS)
def test_bench_questions_of_a_rule_cover_required_labels_in_under_100(slug: str) -> None:
    asked = source(RULES[slug])
    assert set(asked.labels) >= RULES[slug].required_labels
    assert 5 < len(asked.questions) < 100
    assert all(str(RELEASE) in case.releases for case in cases_of(slug).values())


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_bench_mutant_except_one_bit_differs_only_after_the_first_answer_field_or_step(mutant: Mutant) -> None:
    found = 0
    for question, case in cases_of(mutant.rule).items():
        outcome = outcome_of(mutant.ask, question, RELEASE)
        assert isinstance(outcome, Answered)
        found += outcome.answer != case.answer
        if mutant.slug != "one-bit":
            first = min(case.answer)
            one, other = case.answer[first], outcome.answer.get(first)
            assert (one[:1], other[:1]) == (other[:1], one[:1]) if first == "steps" else one == other
    assert found


def test_neighbour_release_of_the_bench_is_the_previous_pinned_release_with_some_other_answers() -> None:
    pinned = list(load().releases)
    assert pinned.index(str(NEIGHBOUR)) == pinned.index(str(RELEASE)) - 1
    cases = cases_of("round-robin-partitioner").values()
    assert any(str(NEIGHBOUR) not in case.releases for case in cases)


@pytest.mark.parametrize("part", ["kinds", "mutants"])
def test_bench_without_frozen_case_for_a_label_or_mutant_raises_kit_error(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    cases_of.cache_clear()
    if part == "kinds":
        monkeypatch.setattr(benches, "frozen", lambda _: None)
        message = "no frozen case of murmur2 in 3.9.2 is of the kind"
    else:
        monkeypatch.setattr(benches, "MUTANTS", (Mutant("same", "murmur2", "none", RULES["murmur2"].ask, RELEASE),))
        message = "no frozen case finds the mutant same"
    with pytest.raises(KitError, match=message):
        cases_of("murmur2")
    cases_of.cache_clear()
