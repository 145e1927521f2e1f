"""What the assignors share: questions, domain, everyday questions, and rows of who owns what."""

from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec
import pytest
from questions import generated

from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.assignors.domain import domain, nearest, plain
from kafka_conformance.rules.common.assignors.explain import explain, partitions_in_words, parts
from kafka_conformance.rules.common.assignors.question import AssignorQuestion
from kafka_conformance.rules.common.assignors.spaces import EVERY_GROUP, every_edge_of_groups, every_group, some_groups
from kafka_reference.releases import NEWEST

A = {"id": "a", "topics": ["t"]}


def asked(*members: dict[str, Any], topics: dict[str, int] | None = None, racks: Any = None) -> AssignorQuestion:
    fields = {"topics": {"t": 3} if topics is None else topics, "members": members, "racks": racks}
    return msgspec.convert(fields, AssignorQuestion)


def test_assignor_question_decodes_from_the_published_json_and_is_hashable() -> None:
    text = """{"topics": {"t": 3}, "members": [{"id": "a", "instance": null, "rack": null, "topics": ["t"],
        "owned": [["t", 0]], "generation": null}], "racks": {"t": [["r1", "r2"], ["r2"], []]}}"""
    question = msgspec.json.decode(text, type=AssignorQuestion)
    assert question.members[0].owned == (("t", 0),)
    assert hash(question) == hash(msgspec.json.decode(text, type=AssignorQuestion))


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (asked(), "a leader assigns: a group has at least one member"),
        (asked(A, topics={"t": 0}), "a topic has at least one partition"),
        (asked(A, topics={"～": 1}), "the name of a topic has ASCII letters, digits, dots, underscores and hyphens"),
        (asked({"id": "a", "topics": ["t", "t"]}), "a consumer subscribes to a topic once"),
        (
            asked({"id": "a", "instance": "i"}, {"id": "b", "instance": "i"}),
            "static members have different instance ids, which are not empty",
        ),
        (asked({"id": ""}), "a member id is not empty"),
        (asked({"id": "a", "owned": [["t", 0], ["t", 0]]}), "a member owns a partition once"),
        (asked({"id": "a", "owned": [["t", -1]]}), "the number of a partition is 0 or more"),
        (asked({"id": "a", "generation": -1}), "a generation is 0 or more"),
        (asked(A), ""),
        (asked({"id": "\U0001f600", "topics": ["t", "gone"]}), ""),
    ],
)
def test_impossible_assignor_question_has_a_reason_and_the_nearest_question_is_in_domain(
    question: AssignorQuestion, reason: str
) -> None:
    assert domain(question) == reason
    assert domain(nearest(question)) == ""


def test_nearest_assignor_question_is_in_domain_answered_and_unchanged_if_already_inside() -> None:
    for question in (*generated("range-assignor", 300), *every_edge_of_groups()):
        close = nearest(question)
        assert domain(close) == ""
        assert RULES["range-assignor"].ask(close, NEWEST)
        if domain(question) == "":
            assert close == question


def test_everyday_assignor_questions_are_in_domain() -> None:
    assert not [question for question in plain() if domain(question)]


def test_sampled_assignor_question_space_has_every_97th_group_beginning_with_the_first() -> None:
    some = list(some_groups())
    assert len(some) == -(-EVERY_GROUP // 97)
    assert some[:3] == list(islice(every_group(), 0, 3 * 97, 97))


def rows(question: AssignorQuestion, slug: str = "round-robin-assignor") -> list[Explained]:
    answer = RULES[slug].ask(question, NEWEST)
    return list(explain(question, NEWEST, parts(question, answer)))


def test_assignor_explanation_has_a_row_per_member_and_for_unassigned_partitions() -> None:
    owner = {"id": "b", "instance": "i", "topics": ["t"], "owned": [["t", 1], ["t", 2]], "generation": 4}
    first, second, nobody = rows(asked(A, owner, topics={"t": 3, "u": 2}))
    assert (first.step, first.answer) == ("member a subscribes to t", "1 partition: t 1")
    assert second.step == "member b (instance i, generation 4) subscribes to t"
    assert second.reasons == ("owned before: t 1, 2", "owns after: t 0, 2", "gained: t 0", "lost: t 1")
    assert (nobody.answer, nobody.reasons) == ("2 partitions: u 0, 1", ("no member subscribes to u",))


def test_explanation_of_withheld_partitions_names_the_member_that_must_revoke_first() -> None:
    owner = {"id": "b", "topics": ["t"], "owned": [["t", 0], ["t", 1], ["t", 2], ["t", 3]], "generation": 4}
    *_, nobody = rows(asked(A, owner, topics={"t": 4}), "cooperative-sticky-assignor")
    assert nobody.answer.startswith("2 partitions: t ")
    (reason,) = nobody.reasons
    given = nobody.answer.partition(": ")[2]
    assert reason == f"b has to revoke {given} first; the next rebalance assigns them"


def test_assignor_exception_is_explained_without_any_row() -> None:
    assert parts(asked(), {"raises": "IllegalArgumentException"}) == ()


def test_partition_list_text_keeps_order_of_interleaved_topics_and_shows_a_dash_if_empty() -> None:
    assert partitions_in_words([]) == "–"
    assert partitions_in_words([("t", 0), ("u", 1), ("t", 1)]) == "t 0; u 1; t 1"
