"""What holds for every assignment; that Java's are the same is what verify shows."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice

import pytest
from questions import generated

from kafka_conformance.rules.common.assignors.adapter import Assignor
from kafka_conformance.rules.common.assignors.question import AssignorQuestion, members_of, topics_of
from kafka_conformance.rules.common.assignors.spaces import every_group, every_kind_of_rack
from kafka_reference.assignment.members import Assignment, Member
from kafka_reference.assignment.range import range_assignment
from kafka_reference.assignment.round_robin import round_robin_assignment
from kafka_reference.releases import parse_release

RELEASES = ["0.10.0.0", "2.3.1", "3.4.1", "4.4.0"]
BOTH = pytest.mark.parametrize("assignor", [range_assignment, round_robin_assignment])


@cache
def questions() -> list[AssignorQuestion]:
    """The groups that all properties are tried with; every 997th is a walk through all of them."""
    asked = (*islice(every_group(), 0, None, 997), *every_kind_of_rack(), *generated("range-assignor", 300))
    return [question for question in asked if question.members]


def assigned(assignor: Assignor, question: AssignorQuestion, release: str) -> Assignment:
    return assignor(topics_of(question), members_of(question), parse_release(release))


@BOTH
@pytest.mark.parametrize("release", RELEASES)
def test_range_and_round_robin_give_every_partition_one_owner_that_subscribes_to_the_topic(
    assignor: Assignor, release: str
) -> None:
    for question in questions():
        subscribed = {member.id: set(member.topics) for member in question.members}
        owned = assigned(assignor, question, release)
        assert owned.keys() == subscribed.keys()
        assert all(topic in subscribed[member] for member, mine in owned.items() for topic, _ in mine)
        every = {
            (topic, number)
            for topic in set().union(*subscribed.values()) & question.topics.keys()
            for number in range(question.topics[topic])
        }
        assert Counter(one for mine in owned.values() for one in mine) == Counter(every)


def balance(shares: list[int]) -> int:
    return max(shares) - min(shares)


@pytest.mark.parametrize("release", RELEASES)
def test_round_robin_with_identical_subscriptions_is_balanced_within_one(release: str) -> None:
    for question in questions():
        if len({frozenset(member.topics) for member in question.members}) == 1:
            owned = assigned(round_robin_assignment, question, release)
            assert balance([len(mine) for mine in owned.values()]) <= 1


@pytest.mark.parametrize("release", RELEASES)
def test_range_shares_of_a_topic_differ_by_at_most_one_without_duplicate_subscriptions(release: str) -> None:
    for question in questions():
        if any(len(set(member.topics)) < len(member.topics) for member in question.members):
            continue  # up to 3.4.x a member has one share for each time that it names a topic
        owned = assigned(range_assignment, question, release)
        for topic in question.topics:
            subscribers = [member.id for member in question.members if topic in member.topics]
            shares = [sum(name == topic for name, _ in owned[member]) for member in subscribers]
            assert not shares or balance(shares) <= 1


@BOTH
def test_range_and_round_robin_ignore_previously_owned_partitions(assignor: Assignor) -> None:
    for question in generated("range-assignor", 200):
        if question.members:
            forgotten = [Member(one.id, one.topics, one.instance, one.rack) for one in members_of(question)]
            release = parse_release("4.4.0")
            assert assignor(topics_of(question), forgotten, release) == assigned(assignor, question, "4.4.0")
