from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered, Failed, Unsupported
from kafka_conformance.rules.range_assignor.rule import RULE
from kafka_reference.releases import NEWEST, parse_release


def asked(members: list[dict[str, Any]], topics: dict[str, int] | None = None, racks: Any = None) -> Any:
    return msgspec.convert({"topics": topics or {"t": 3}, "members": members, "racks": racks}, RULE.question)


def answered(question: Any, release: str = "4.4.0") -> Any:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(release), [question])
    return outcome


def test_rack_aware_range_assignor_example_of_documentation_has_documented_assignment() -> None:
    members = [{"id": "a", "rack": "r1", "topics": ["t", "u"]}, {"id": "b", "rack": "r2", "topics": ["t"]}]
    question = asked(members, {"t": 3, "u": 3}, {"t": [["r1", "r2"], ["r2"], None]})
    expected = {"a": [["t", 0], ["t", 2], ["u", 0], ["u", 1], ["u", 2]], "b": [["t", 1]]}
    assert answered(question) == Answered({"assignment": expected})


def test_range_assignor_with_duplicate_member_id_has_no_answer() -> None:
    assert isinstance(answered(asked([{"id": "a"}, {"id": "a"}])), Failed | Unsupported)


def test_range_assignor_with_racks_for_fewer_partitions_has_no_answer() -> None:
    assert isinstance(answered(asked([{"id": "a"}], {"t": 3}, {"t": [["r1"]]})), Failed | Unsupported)


def test_range_assignor_question_spaces_and_strategy_together_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, (*space_questions(RULE.slug), *generated(RULE.slug, 300)))


def test_range_assignor_hypothesis_strategy_misses_at_most_two_required_labels() -> None:
    assert len(missing_labels(RULE.slug, generated(RULE.slug, 600))) <= 2


@pytest.mark.parametrize(
    ("question", "path"),
    [
        (asked([{"id": "a", "rack": "r1", "topics": ["t"]}], None, {"t": [None] * 3}), "racks"),
        (asked([{"id": "a", "instance": "i"}]), "static members"),
        (asked([{"id": "a", "topics": ["t", "t"]}]), "a topic twice"),
        (asked([{"id": "a"}]), "same subscriptions"),
        (asked([{"id": "a"}, {"id": "b", "topics": ["t"]}]), "different subscriptions"),
        (asked([{"id": "a"}, {"id": "b", "instance": "i"}]), "static and dynamic members"),
        (asked([{"id": "\U0001f600", "instance": "i"}]), "names beyond U+FFFF"),
    ],
)
def test_range_assignor_differences_are_grouped_by_racks_members_and_subscriptions(question: Any, path: str) -> None:
    assert RULE.path(question) == path


def test_range_assignor_has_9000_to_20000_enumerated_questions_and_answers_the_last_200() -> None:
    assert 9_000 < len(space_questions(RULE.slug)) < 20_000
    assert all(isinstance(answered(question, str(NEWEST)), Answered) for question in space_questions(RULE.slug)[-200:])
