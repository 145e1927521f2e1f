"""Mutants made from eras: each answers as Java did in the older release, where Java's frozen answers differ."""

from __future__ import annotations

import re

import pytest
from questions import shipped_cases

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules import RULES, release_mutants
from kafka_conformance.rules.release_mutants import difference, references_of
from kafka_conformance.verify.mutants.comparison import telling_apart
from kafka_reference.releases import parse_release

MADE = [mutant for rule in RULES.values() for mutant in release_mutants.release_mutants(rule)]


@pytest.mark.parametrize("slug", RULES)
def test_release_mutants_exist_exactly_for_behaviour_changes_that_a_recorded_question_shows(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_mutants, "_NOT_SHOWN", {})
    every = release_mutants._made_of(RULES[slug])
    shown = {mutant.slug for mutant in every for source in telling_apart(RULES[slug], mutant) if source.questions}
    assert shown == {mutant.slug for mutant in MADE if mutant.rule == slug}


@pytest.mark.parametrize("slug", [slug for slug in RULES if any(one.rule == slug for one in MADE)])
def test_release_mutant_gives_recorded_java_answer_of_older_release_and_reference_does_not(slug: str) -> None:
    rule, cases = RULES[slug], shipped_cases(slug).cases
    for mutant in (one for one in MADE if one.rule == slug):
        (source,) = telling_apart(rule, mutant)
        question = source.questions[0]
        asked = [case for case in cases if str(mutant.older) in case.releases and case.typed_question(rule) == question]
        assert outcome_of(mutant.ask, question, mutant.release) == Answered(asked[0].answer), mutant.slug
        assert outcome_of(rule.ask, question, mutant.release) != Answered(asked[0].answer), mutant.slug


def test_over_200_release_mutants_have_unique_slugs_that_name_the_rule_and_both_releases() -> None:
    assert all(one.slug == f"{one.rule}-{one.release}-like-{one.older}" and one.older < one.release for one in MADE)
    assert len({one.slug for one in MADE}) == len(MADE) > 200


def test_github_links_are_of_existing_release_mutants_and_default_partitioner_cites_kafka_go() -> None:
    assert set(release_mutants._REFERENCES) <= {one.slug for one in MADE}
    assert references_of(RULES["default-partitioner"], parse_release("2.0.1")) == (
        "https://github.com/segmentio/kafka-go/issues/584",
    )


def test_release_mutant_description_is_changed_field_text_negated_if_reversed_and_cut_if_long() -> None:
    rule = RULES["round-robin-partitioner"]
    text = difference(rule, parse_release("4.0.0"), parse_release("3.9.2"))
    assert re.match(r"Before a record starts a batch, the producer calls onNewBatch .* \(KAFKA-8601 .*\)$", text)
    assert difference(rule, parse_release("3.9.2"), parse_release("4.0.0")) == f"not so: {text}"
    defaults = RULES["idempotence-config"]
    assert "The default of retries: 0 in place of 2147483647 (KIP-91, KAFKA-5886)" in difference(
        defaults, parse_release("2.1.0"), parse_release("2.0.1")
    )
    everything = difference(RULES["producer-send"], parse_release("4.4.0"), parse_release("0.10.0.1"))
    assert re.search(r"; and \d+ more$", everything)
