from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.round_robin_assignor.rule import RULE
from kafka_reference.releases import NEWEST, parse_release


def test_round_robin_assignor_example_with_different_subscriptions_has_documented_assignment() -> None:
    members = [{"id": "a", "topics": ["t", "u"]}, {"id": "b", "topics": ["t"]}]
    question = msgspec.convert({"topics": {"t": 3, "u": 1}, "members": members}, RULE.question)
    (outcome,) = ReferenceAnswerer().answer(RULE, NEWEST, [question])
    assert outcome == Answered({"assignment": {"a": [["t", 0], ["t", 2], ["u", 0]], "b": [["t", 1]]}})


def test_round_robin_assignor_without_members_throws_in_0_10() -> None:
    question = msgspec.convert({"topics": {"t": 3}, "members": []}, RULE.question)
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release("0.10.0.0"), [question])
    assert isinstance(outcome, Answered)
    assert outcome.answer["raises"] == "IllegalArgumentException"


def test_round_robin_assignor_question_spaces_and_strategy_together_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, (*space_questions(RULE.slug), *generated(RULE.slug, 300)))


@pytest.mark.parametrize(
    ("topics", "members", "path"),
    [
        ({}, [{"id": "a", "instance": "i"}], "static members"),
        ({"t": 11}, [{"id": "a", "instance": "i"}], "static members, more than 10 partitions"),
        ({}, [{"id": "a", "instance": "i"}, {"id": "b"}], "static and dynamic members"),
        ({"t": 10}, [{"id": "a"}, {"id": "b"}], "same subscriptions"),
        ({"t": 11}, [{"id": "a"}, {"id": "b"}], "same subscriptions, more than 10 partitions"),
        ({}, [{"id": "a"}, {"id": "b", "topics": ["t"]}], "different subscriptions"),
        ({"\U0001f600": 1}, [{"id": "a"}], "names beyond U+FFFF"),
    ],
)
def test_round_robin_assignor_differences_are_grouped_by_members_subscriptions_and_over_10_partitions(
    topics: dict[str, int], members: list[dict[str, Any]], path: str
) -> None:
    assert RULE.path(msgspec.convert({"topics": topics, "members": members}, RULE.question)) == path
