"""Mutants of the effective producer settings: each differs in its release, on some questions of the rule."""

from __future__ import annotations

from typing import Any

import pytest
from questions import space_questions

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.idempotence_config.mutants import MUTANTS
from kafka_conformance.rules.idempotence_config.question import combination
from kafka_conformance.rules.idempotence_config.rule import RULE
from kafka_conformance.rules.release_mutants import release_mutants

BY_SLUG = {mutant.slug: mutant for mutant in (*MUTANTS, *release_mutants(RULE))}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_config_mutant_leaves_the_reference_unchanged(mutant: Any) -> None:
    questions = space_questions(RULE.slug)[::37]
    before = [outcome_of(RULE.ask, question, mutant.release) for question in questions]
    for question in questions:
        outcome_of(mutant.ask, question, mutant.release)
    assert [outcome_of(RULE.ask, question, mutant.release) for question in questions] == before


def answer(slug: str, **settings: str | None) -> Any:
    outcome = outcome_of(BY_SLUG[slug].ask, combination(**settings), BY_SLUG[slug].release)
    assert isinstance(outcome, Answered)
    return outcome.answer


def message(slug: str, **settings: str | None) -> str:
    return str(answer(slug, **settings)["message"])


def test_config_mutants_give_documented_wrong_settings_or_messages() -> None:
    assert answer("off-in-newest")["idempotent"] is answer("idempotence-config-3.0.1-like-3.0.0")["idempotent"] is False
    assert "acks" in message("minus-1-is-not-all", idempotence="true", acks="-1")
    assert answer("retries-0-is-fine", idempotence="true", retries="0")["idempotent"] is True
    assert "at most 5" in message("five-is-too-many", idempotence="true", in_flight="5")
    assert "retries" in message("default-retries-count", idempotence="true")
    assert answer("idempotence-config-4.0.0-like-3.9.2", in_flight="6")["idempotent"] is False
    assert answer("idempotence-config-1.0.0-like-0.11.0.3", idempotence="true")["max_in_flight"] == 1
    assert answer("two-phases-unchecked", two_phase="true", timeout="1")["idempotent"] is True
    assert answer("acks-1-by-default", idempotence="false")["acks"] == 1
    assert answer("idempotence-is-order")["guarantee_order"] is True
    assert answer("never-transactional", transactional_id="id")["transactional"] is False
    assert answer("null-is-absent", idempotence=None)["idempotent"] is True
    assert "retries" in message("mistakes-in-order", acks="2", retries="-1")
    both = {"idempotence": "true", "retries": "0", "in_flight": "6"}
    assert "at most 5" in message("in-flight-first", **both)
    assert "retries" in message("in-flight-last", **both)
    assert "acks" in message("acks-before-retries", idempotence="true", retries="0", acks="1")
    null = {"idempotence": "true", "timeout": None}
    assert "retries" in message("timeout-last", **null, retries="0")
    assert "at most 5" in message("timeout-after-all", **null, in_flight="6")
    assert answer("timeout-first", **null, retries="0") == {"raises": "NullPointerException"}
