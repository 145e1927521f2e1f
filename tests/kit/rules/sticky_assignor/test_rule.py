from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.common.sticky.domain import plain
from kafka_conformance.rules.sticky_assignor.mutants import MUTANTS
from kafka_conformance.rules.sticky_assignor.rule import RULE
from kafka_reference.releases import parse_release

OWNER = {"id": "a", "rack": None, "topics": ["t"], "owned": [["t", 2], ["t", 1], ["t", 0]], "generation": 5}


def asked(*members: dict[str, Any], racks: Any = None) -> Any:
    return msgspec.convert({"topics": {"t": 3}, "members": members, "racks": racks}, RULE.question)


def answered(question: Any, release: str = "4.4.0") -> Any:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(release), [question])
    return outcome


def test_sticky_assignor_moves_one_of_three_partitions_from_sole_owner_to_joining_member() -> None:
    expected = {"a": [["t", 0], ["t", 1]], "b": [["t", 2]]}
    assert answered(asked(OWNER, {"id": "b", "topics": ["t"]})) == Answered({"assignment": expected})


def test_sticky_assignor_question_spaces_and_strategy_together_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, (*space_questions(RULE.slug), *generated(RULE.slug, 300)))


def test_sticky_assignor_question_spaces_have_5000_to_7000_questions() -> None:
    assert 5_000 < len(space_questions(RULE.slug)) < 7_000


def test_everyday_sticky_assignor_questions_are_in_domain_and_answered() -> None:
    questions = list(plain())
    assert not [question for question in questions if RULE.domain(question)]
    assert all(isinstance(answered(question), Answered) for question in questions)


@pytest.mark.parametrize(
    ("question", "path"),
    [
        (asked(OWNER), "equal subscriptions, no conflict"),
        (asked(OWNER, {**OWNER, "id": "b"}), "equal subscriptions, one generation"),
        (
            asked(OWNER, {**OWNER, "id": "b", "topics": [], "generation": None}),
            "different subscriptions, two generations",
        ),
        (asked({**OWNER, "rack": "r"}, racks={"t": [["r"], ["s"], None]}), "equal subscriptions, no conflict, racks"),
    ],
)
def test_sticky_assignor_differences_are_grouped_by_subscriptions_and_generations(question: Any, path: str) -> None:
    assert RULE.path(question) == path


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.slug)
def test_sticky_assignor_mutants_have_rule_release_and_description(mutant: Any) -> None:
    assert mutant.rule == RULE.slug
    assert mutant.release in RULE.releases
    assert len(mutant.description.split()) > 3


def test_subscription_generation_is_in_member_json_only_if_given_then_labelled_and_in_domain() -> None:
    assert b"subscription_generation" not in msgspec.json.encode(asked(OWNER))
    lost = asked({**OWNER, "subscription_generation": -1})
    assert b'"subscription_generation":-1' in msgspec.json.encode(lost)
    assert "a subscription of another generation" in RULE.labels(lost)
    assert not RULE.domain(lost)
