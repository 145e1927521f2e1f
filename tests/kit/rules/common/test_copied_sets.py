"""Sizes of collections that every JDK copies alike, and that no question has others."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import sources
from kafka_conformance.rules.common.server_assignors.copied_sets import (
    copied_alike,
    copied_sizes,
    resized,
    without_unlike,
)
from kafka_conformance.rules.common.server_assignors.domain import nearest, plain
from kafka_conformance.rules.common.server_assignors.question import AskedMember, AskedTopic, ServerAssignorQuestion
from kafka_conformance.rules.server_range_assignor.rule import RULE as SERVER_RANGE
from kafka_conformance.rules.server_uniform_assignor.rule import RULE as SERVER_UNIFORM
from kafka_reference.java.hash_maps import capacity_for

QUESTION = ServerAssignorQuestion(
    (AskedTopic("t", "AAAAAAAAAAAAAAAAAAAAAg", 9), AskedTopic("u", "AAAAAAAAAAAAAAAAAAAAAw", 3)),
    (AskedMember("a", topics=("t", "u"), assigned=tuple(("t", number) for number in range(9))),),
)


def is_copied_alike(question: ServerAssignorQuestion) -> bool:
    return all(map(copied_alike, copied_sizes(question)))


def test_hash_set_sizes_flagged_as_jdk_dependent_have_another_capacity_before_jdk_19() -> None:
    """Up to JDK 18 the table has ``size / 0.75 + 1`` buckets, since then ``ceil(size / 0.75)``, 16 at least."""
    old = [capacity_for(max(size * 4 // 3 + 1, 16)) for size in range(2000)]
    new = [capacity_for(max(-(-size * 4 // 3), 16)) for size in range(2000)]
    assert [copied_alike(size) for size in range(2000)] == [before == now for before, now in zip(old, new, strict=True)]


def test_server_assignor_question_gets_one_more_partition_if_hash_set_capacity_depends_on_jdk() -> None:
    assert list(copied_sizes(QUESTION)) == [9 + 3, 2, 9]
    assert [topic.partitions for topic in resized(QUESTION).topics] == [10, 3]
    larger = resized(QUESTION)
    assert resized(larger) is larger


def test_server_assignor_question_drops_an_owned_partition_of_topics_whose_set_capacity_depends_on_jdk() -> None:
    owned = [("t", 5), ("u", 1), *(("t", number) for number in range(10, 21))]
    assert without_unlike(owned) == (*owned[2:], ("u", 1))
    member = replace(QUESTION.members[0], assigned=tuple(owned))
    assert not is_copied_alike(replace(QUESTION, members=(member,)))


@pytest.mark.parametrize("rule", [SERVER_RANGE, SERVER_UNIFORM], ids=["range", "uniform"])
def test_server_assignor_questions_avoid_sizes_where_jdk_set_capacity_differs(rule: Rule) -> None:
    for source in sources(rule, 500, 11):
        assert all(is_copied_alike(question) for question in source.questions), source.name
        assert all(is_copied_alike(nearest(question)) for question in source.questions[:1000]), source.name
    assert all(map(is_copied_alike, plain()))
