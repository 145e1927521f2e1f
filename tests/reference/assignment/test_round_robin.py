from __future__ import annotations

import pytest

from kafka_reference.assignment.members import Assignment, Member, Topic
from kafka_reference.assignment.round_robin import round_robin_assignment
from kafka_reference.errors import IllegalArgumentException

EVERY_KIND = ["0.10.0.0", "2.3.1", "2.4.0", "4.4.0"]


def numbers(assignment: Assignment) -> dict[str, list[str]]:
    return {member: [f"{topic}{number}" for topic, number in owned] for member, owned in assignment.items()}


@pytest.mark.parametrize("release", EVERY_KIND)
def test_round_robin_deals_sorted_partitions_to_sorted_members_in_turn(release: str) -> None:
    members = [Member("b", ("u", "t")), Member("a", ("t", "u"))]
    topics = {"u": Topic(2), "t": Topic(3)}
    assert numbers(round_robin_assignment(topics, members, release)) == {"b": ["t1", "u0"], "a": ["t0", "t2", "u1"]}


@pytest.mark.parametrize("release", EVERY_KIND)
def test_round_robin_with_unequal_subscriptions_gives_last_member_four_of_six_partitions(release: str) -> None:
    """The example of RoundRobinAssignor's documentation: the last member gets four of six partitions."""
    members = [Member("a", ("t",)), Member("b", ("t", "u")), Member("c", ("t", "u", "v"))]
    topics = {"t": Topic(1), "u": Topic(2), "v": Topic(3)}
    assert numbers(round_robin_assignment(topics, members, release)) == {
        "a": ["t0"],
        "b": ["u0"],
        "c": ["u1", "v0", "v1", "v2"],
    }


@pytest.mark.parametrize(("release", "first"), [("2.3.1", "a"), ("2.4.0", "c")])
def test_round_robin_assignor_orders_static_members_first_since_2_4_0(release: str, first: str) -> None:
    members = [Member("a", ("t",)), Member("b", ("t",), instance="y"), Member("c", ("t",), instance="x")]
    assert numbers(round_robin_assignment({"t": Topic(1)}, members, release))[first] == ["t0"]


@pytest.mark.parametrize("release", EVERY_KIND)
def test_round_robin_of_group_without_members_throws_illegal_argument(release: str) -> None:
    with pytest.raises(IllegalArgumentException, match="CircularIterator can only be used on non-empty lists"):
        round_robin_assignment({"t": Topic(1)}, [], release)


def test_round_robin_skips_topics_that_are_missing_or_without_partitions() -> None:
    topics = {"t": Topic(1), "v": Topic(0)}
    assert round_robin_assignment(topics, [Member("a", ("u", "t", "v"))]) == {"a": [("t", 0)]}
