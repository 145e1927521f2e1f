from __future__ import annotations

import msgspec
from questions import generated, missing_labels, space_questions

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules.round_robin_assignor.rule import RULE
from kafka_reference.releases import NEWEST, parse_release


def test_the_question_and_the_answer_of_its_page() -> None:
    members = [{"id": "a", "topics": ["t", "u"]}, {"id": "b", "topics": ["t"]}]
    question = msgspec.convert({"topics": {"t": 3, "u": 1}, "members": members}, RULE.question)
    (outcome,) = ReferenceAnswerer().answer(RULE, NEWEST, [question])
    assert outcome == Answered({"assignment": {"a": [["t", 0], ["t", 2], ["u", 0]], "b": [["t", 1]]}})


def test_nobody_is_an_exception() -> None:
    question = msgspec.convert({"topics": {"t": 3}, "members": []}, RULE.question)
    (outcome,) = ReferenceAnswerer().answer(RULE, parse_release("0.10.0.0"), [question])
    assert isinstance(outcome, Answered)
    assert outcome.answer["raises"] == "IllegalArgumentException"


def test_every_required_kind_is_asked() -> None:
    assert not missing_labels(RULE.slug, (*space_questions(RULE.slug), *generated(RULE.slug, 300)))


def test_paths() -> None:
    static = msgspec.convert({"topics": {}, "members": [{"id": "a", "instance": "i"}]}, RULE.question)
    dynamic = msgspec.convert({"topics": {}, "members": [{"id": "a"}]}, RULE.question)
    assert (RULE.path(static), RULE.path(dynamic)) == ("static members", "dynamic members")
