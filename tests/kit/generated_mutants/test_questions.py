"""The questions of mutants: the reference answers each as expected, frozen cases come in rounds."""

from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.protocol import Unsupported
from kafka_conformance.generated_mutants import questions as module
from kafka_conformance.generated_mutants.questions import Asked, RuleQuestions, outcome_bytes
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

SLUGS = ["sequence-decrement", "round-robin-partitioner", "produce-acks"]


def is_as_expected(slug: str, one: Asked) -> bool:
    rule = RULES[slug]
    question = msgspec.json.decode(one.question, type=rule.question)
    return outcome_bytes(outcome_of(rule.ask, question, parse_release(one.release))) == one.expected


@pytest.mark.parametrize("slug", SLUGS)
def test_reference_gives_expected_answer_to_frozen_and_fresh_mutant_questions(slug: str) -> None:
    questions = RuleQuestions(RULES[slug], 3)
    for stage in ("frozen", "fresh"):
        asked = questions.asked(stage)  # type: ignore[arg-type]
        assert asked
        assert all(bool(one.case) == (stage == "frozen") for one in asked)
        assert all(is_as_expected(slug, one) for one in asked[:300])


def test_frozen_cases_are_all_asked_once_before_any_repeats_in_another_release() -> None:
    asked = RuleQuestions(RULES["produce-acks"], 3).asked("frozen")
    cases = len({one.case for one in asked})
    assert len({one.case for one in asked[:cases]}) == cases < len(asked)
    assert len({(one.case, one.release) for one in asked}) == len(asked)


def test_questions_for_one_release_contain_no_other_release() -> None:
    questions = RuleQuestions(RULES["sequence-decrement"], 3)
    assert {one.release for one in questions.asked_at(parse_release("2.1.1"), "frozen")} == {"2.1.1"}
    assert {one.release for one in questions.asked_at(parse_release("2.1.1"), "fresh")} == {"2.1.1"}
    assert not list(questions.asked_at(parse_release("2.1.0"), "frozen"))  # the rule is not there yet


def test_order_of_mutant_questions_depends_on_the_seed_only() -> None:
    first, again, other = (RuleQuestions(RULES["sequence-decrement"], seed).asked("frozen") for seed in (3, 3, 4))
    assert [one.name for one in first] == [one.name for one in again] != [one.name for one in other]


def test_fresh_question_unsupported_in_a_release_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "outcome_of", lambda *_: Unsupported("not in this release"))
    made = RuleQuestions(RULES["sequence-increment"], 1)
    assert made.asked("fresh") == ()
    assert made.asked("frozen")
