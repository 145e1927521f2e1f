from __future__ import annotations

from typing import Any

import msgspec
import pytest
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered, Failed, Unsupported
from kafka_conformance.rules.server_uniform_assignor.rule import RULE
from kafka_reference.releases import parse_release

TOPIC = {"name": "t", "id": "AAAAAAAAAAAAAAAAAAAAAg", "partitions": 3}


def asked(members: list[dict[str, Any]], *topics: dict[str, Any]) -> Any:
    return msgspec.convert({"topics": topics or [TOPIC], "members": members}, RULE.question)


def answered(question: Any, release: str = "4.4.0") -> Any:
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release(release), [question])
    return outcome


def test_server_uniform_assignor_keeps_owned_partition_and_gives_the_other_two_to_new_member() -> None:
    members = [{"id": "a", "topics": ["t"], "assigned": [["t", 2]]}, {"id": "b", "topics": ["t"]}]
    expected = {"a": [["t", 2]], "b": [["t", 0], ["t", 1]]}
    assert answered(asked(members)) == Answered({"assignment": expected})


@pytest.mark.parametrize(
    "question",
    [
        asked([{"id": "a"}, {"id": "a"}]),
        asked([{"id": "a", "assigned": [["t", 0], ["t", 0]]}]),
        asked([{"id": "a", "assigned": [["u", 0]]}]),
        asked([{"id": "a"}], TOPIC, TOPIC),
        asked([{"id": "a"}], {**TOPIC, "id": "t"}),
    ],
)
def test_server_uniform_assignor_with_duplicates_unknown_topic_or_malformed_topic_id_has_no_answer(
    question: Any,
) -> None:
    assert isinstance(answered(question), Failed | Unsupported)


def test_server_uniform_assignor_throws_for_topic_missing_in_metadata() -> None:
    question = asked([{"id": "a", "topics": ["t"]}], {**TOPIC, "described": False})
    assert answered(question) == Answered({"raises": "PartitionAssignorException"})


def test_server_uniform_assignor_question_spaces_cover_required_labels() -> None:
    assert not missing_labels(RULE.slug, space_questions(RULE.slug))


def test_server_uniform_assignor_hypothesis_strategy_misses_at_most_three_required_labels() -> None:
    assert len(missing_labels(RULE.slug, generated(RULE.slug, 300))) <= 3


def test_server_uniform_assignor_question_spaces_have_4000_to_6000_questions() -> None:
    assert 4_000 < len(space_questions(RULE.slug)) < 6_000


@pytest.mark.parametrize("place", range(0, 5_000, 250))
def test_nearest_server_uniform_assignor_question_is_in_domain(place: int) -> None:
    assert not RULE.domain(RULE.nearest(space_questions(RULE.slug)[place]))


def test_server_uniform_assignor_explanation_has_a_row_per_member() -> None:
    question = asked([{"id": "a", "instance": "i", "topics": ["t"], "assigned": [["t", 2]]}, {"id": "b"}])
    release = parse_release("4.4.0")
    assert RULE.parts is not None
    assert RULE.explain is not None
    assert RULE.parts(question, {"raises": "PartitionAssignorException"}) == ()
    parts = RULE.parts(question, {"assignment": {"a": [["t", 0], ["t", 1]]}})
    first, second = RULE.explain(question, release, parts)
    assert first.step == "member a (instance i) subscribes to t"
    assert dict(first.state) == {"before": "t 2", "after": "t 0, 1", "gained": "t 0, 1", "lost": "t 2"}
    assert second.step == "member b subscribes to nothing"
