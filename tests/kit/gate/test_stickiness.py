"""What a sticky assignor promises: which assignments the grade ``admissible`` accepts, and which promise others break."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings

from kafka_conformance.cases.store import frozen
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.grades import check_grade
from kafka_conformance.gate.stickiness import RULES_WITH_PROMISES, broken_promise, first_broken
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.assignors.question import AskedMember, AssignorQuestion
from kafka_conformance.rules.common.sticky.generators import sticky_groups
from kafka_reference.releases import NEWEST

EAGER, COOPERATIVE = RULES["sticky-assignor"], RULES["cooperative-sticky-assignor"]
T = [("t", number) for number in range(6)]


def _group(*members: AskedMember, count: int = 4, **topics: int) -> AssignorQuestion:
    return AssignorQuestion({"t": count, **topics}, members)


def _member(name: str, *numbers: int, topics: Iterable[str] = ("t",), generation: int | None = 3) -> AskedMember:
    owned = tuple(T[number] for number in numbers)
    return AskedMember(name, topics=tuple(topics), owned=owned, generation=generation)


def _assigned(**numbers: Iterable[int]) -> Answer:
    return {"assignment": {each: [["t", number] for number in one] for each, one in numbers.items()}}


def _promise(rule: Any, question: AssignorQuestion, answer: Answer) -> str:
    broken = broken_promise(rule, question, NEWEST, answer)
    return "" if broken is None else broken.promise


FRESH = _group(_member("a"), _member("b"))
GROWN = _group(_member("a", 0, 1, 2, 3), _member("b"))


@pytest.mark.parametrize(
    ("question", "answer", "promise"),
    [
        (FRESH, _assigned(a=[0, 2], b=[1, 3]), ""),
        (FRESH, _assigned(a=[3, 1], b=[2, 0]), ""),
        (FRESH, _assigned(a=[0, 1, 2], b=[3]), "balanced"),
        (FRESH, _assigned(a=[0, 1], b=[3]), "each partition once"),
        (FRESH, _assigned(a=[0, 1, 2], b=[2, 3]), "each partition once"),
        (FRESH, _assigned(a=[0, 1, 1], b=[2, 3]), "each partition once"),
        (FRESH, _assigned(a=[0, 1, 4], b=[2, 3]), "each partition once"),
        (FRESH, _assigned(a=[0, 1, 2, 3]), "assignment"),
        (FRESH, {"raises": "KeyError"}, "assignment"),
        (FRESH, {"assignment": {"a": 1, "b": None}}, "assignment"),
        (GROWN, _assigned(a=[0, 1], b=[2, 3]), ""),
        (GROWN, _assigned(a=[2, 3], b=[0, 1]), ""),
        (_group(_member("a", 0, 1), _member("b", 2, 3)), _assigned(a=[2, 3], b=[0, 1]), "as sticky"),
        (_group(_member("a", 0, 1), _member("b", 2, 3)), _assigned(a=[0, 1], b=[2, 3]), ""),
        (_group(_member("a", 0, 1), _member("b", 0, 1, generation=2)), _assigned(a=[2, 3], b=[0, 1]), "as sticky"),
        (_group(_member("a"), _member("b", topics=())), _assigned(a=[0, 1, 2, 3], b=[]), ""),
        (_group(_member("a"), _member("b", topics=())), _assigned(a=[0, 1, 2], b=[3]), "each partition once"),
    ],
)
def test_eager_sticky_assignment_is_checked_for_form_balance_stickiness_and_single_ownership(
    question: AssignorQuestion, answer: Answer, promise: str
) -> None:
    assert _promise(EAGER, question, answer) == promise


@pytest.mark.parametrize(
    ("question", "answer", "promise"),
    [
        (GROWN, _assigned(a=[0, 1], b=[]), ""),
        (GROWN, _assigned(a=[2, 3], b=[]), ""),
        (GROWN, _assigned(a=[0, 1], b=[2, 3]), "each partition once"),
        (GROWN, _assigned(a=[0, 1, 2], b=[]), "as sticky"),
        (GROWN, _assigned(a=[0], b=[]), "as sticky"),
        (_group(_member("a", 0, 1), _member("b")), _assigned(a=[0, 1], b=[2]), "each partition once"),
        (_group(_member("a", 0, 1), _member("b")), _assigned(a=[0, 1], b=[2, 3]), ""),
    ],
)
def test_cooperative_sticky_assignment_is_checked_for_stickiness_and_withheld_partitions(
    question: AssignorQuestion, answer: Answer, promise: str
) -> None:
    assert _promise(COOPERATIVE, question, answer) == promise


def test_sticky_assignment_is_not_checked_if_java_assigns_to_member_without_subscription() -> None:
    question = _group(_member("a", 0, 1, topics=()), _member("b", 2), count=3)
    assert EAGER.ask(question, NEWEST)["assignment"]["a"]
    assert _promise(EAGER, question, _assigned(a=[], b=[0, 1, 2])) == ""


def test_client_may_raise_but_not_drop_partitions_where_java_assignor_throws() -> None:
    """Java remembers an older claim of a member that no longer subscribes to the topic."""
    members = (
        AskedMember("m0", owned=(("u", 0),), generation=1),
        AskedMember("m1", topics=("u",), generation=1),
        AskedMember("m2", topics=("t", "u"), owned=(("u", 0),), generation=3),
    )
    question = AssignorQuestion({"t": 1, "u": 1}, members)
    rule = EAGER
    assert broken_promise(rule, question, NEWEST, {"raises": "KeyError"}) is None
    lost: Answer = {"assignment": {"m0": [], "m1": [], "m2": [["t", 0]]}}
    broken = broken_promise(rule, question, NEWEST, lost)
    assert broken is not None
    assert broken.as_answer() == {"each partition once": {"raises": "NullPointerException"}}


def test_difference_of_unbalanced_assignment_shows_java_assignment_labelled_balanced() -> None:
    broken = broken_promise(EAGER, FRESH, NEWEST, _assigned(a=[0, 1, 2], b=[3]))
    assert broken is not None
    assert broken.as_answer() == {"balanced": EAGER.ask(FRESH, NEWEST)["assignment"]}


def _is_ordinary(question: AssignorQuestion) -> bool:
    """Whether members claim only what they may have and nobody else claims: of anything else Java makes mistakes."""
    claims = [(member, topic, number) for member in question.members for topic, number in member.owned]
    return (
        len({each[1:] for each in claims}) == len(claims)
        and all(topic in each.topics and number < question.topics.get(topic, 0) for each, topic, number in claims)
        and all(member.topics for member in question.members)
        and not EAGER.domain(question)
    )


@settings(max_examples=150, deadline=None)
@given(sticky_groups().filter(_is_ordinary))
def test_java_sticky_assignors_are_balanced_and_sticky_if_owned_partitions_are_subscribed_and_unique(
    question: AssignorQuestion,
) -> None:
    for slug in RULES_WITH_PROMISES:
        java = RULES[slug].ask(question, NEWEST)
        assert first_broken(RULES[slug], question, java, java) is None


@pytest.mark.parametrize("rule", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])
def test_recorded_java_sticky_assignment_is_accepted_even_if_unbalanced_or_not_sticky(rule: Rule) -> None:
    found = frozen(rule)
    assert found is not None
    asked = [(case.typed_question(rule), case.answer) for case in found.at(str(NEWEST))]
    inside = [(question, answer) for question, answer in asked if not rule.domain(question)]
    assert not any(broken_promise(rule, question, NEWEST, answer) for question, answer in inside)
    assert any(first_broken(rule, question, answer, answer) for question, answer in inside)  # type: ignore[arg-type]


def test_only_sticky_assignor_may_be_admissible_none_statistical_and_wrong_question_type_raises() -> None:
    check_grade(EAGER, "admissible")
    with pytest.raises(BadInput, match="do not depend on chance"):
        check_grade(EAGER, "statistical")
    with pytest.raises(BadInput, match="do not depend on chance"):
        check_grade(RULES["range-assignor"], "admissible")
    with pytest.raises(TypeError):
        broken_promise(EAGER, msgspec.convert({"key": "00"}, RULES["murmur2"].question), NEWEST, {})
