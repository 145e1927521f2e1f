from __future__ import annotations

import pytest

from kafka_reference.assignment.members import Assignment, Member, Topic
from kafka_reference.assignment.range import range_assignment


def numbers(assignment: Assignment) -> dict[str, list[str]]:
    """Partitions as texts: t0 for partition 0 of topic t."""
    return {member: [f"{topic}{number}" for topic, number in owned] for member, owned in assignment.items()}


def group(*ids: str, topics: str = "tu") -> list[Member]:
    return [Member(each, tuple(topics)) for each in ids]


# What RangeAssignor answered, in every release.
@pytest.mark.parametrize("release", ["0.10.0.0", "2.3.1", "2.4.0", "3.4.1", "3.5.0", "4.4.0"])
@pytest.mark.parametrize(
    ("partitions", "members", "assignment"),
    [
        (3, "ab", {"a": ["t0", "t1", "u0", "u1"], "b": ["t2", "u2"]}),
        (4, "ab", {"a": ["t0", "t1", "u0", "u1"], "b": ["t2", "t3", "u2", "u3"]}),
        (1, "abc", {"a": ["t0", "u0"], "b": [], "c": []}),
        (5, "cab", {"a": ["t0", "t1", "u0", "u1"], "b": ["t2", "t3", "u2", "u3"], "c": ["t4", "u4"]}),
        (0, "ab", {"a": [], "b": []}),
        (2, "", {}),
    ],
)
def test_range_assignor_gives_contiguous_ranges_of_each_topic_in_every_release(
    release: str, partitions: int, members: str, assignment: dict[str, list[str]]
) -> None:
    topics = {"t": Topic(partitions), "u": Topic(partitions)}
    assert numbers(range_assignment(topics, group(*members), release)) == assignment


def test_range_assignor_skips_subscribed_topic_missing_from_the_cluster() -> None:
    assert numbers(range_assignment({"t": Topic(1)}, group("a"))) == {"a": ["t0"]}


@pytest.mark.parametrize(("release", "first"), [("2.3.1", "a"), ("2.4.0", "c")])
def test_range_assignor_orders_static_members_first_since_2_4_0(release: str, first: str) -> None:
    members = [Member("a", ("t",)), Member("b", ("t",), instance="y"), Member("c", ("t",), instance="x")]
    assert numbers(range_assignment({"t": Topic(1)}, members, release))[first] == ["t0"]


@pytest.mark.parametrize(
    ("release", "assignment"),
    [("3.4.1", {"a": ["t0", "t1", "t2", "t3"], "b": ["t4"]}), ("3.5.0", {"a": ["t0", "t1", "t2"], "b": ["t3", "t4"]})],
)
def test_range_assignor_gives_member_subscribed_twice_to_a_topic_two_shares_up_to_3_4(
    release: str, assignment: dict[str, list[str]]
) -> None:
    members = [Member("a", ("t", "t")), Member("b", ("t",))]
    assert numbers(range_assignment({"t": Topic(5)}, members, release)) == assignment


@pytest.mark.parametrize(
    ("release", "order"),
    [("2.0.1", "AaAa BBBB"), ("2.1.0", "BBBB AaAa"), ("3.4.1", "BBBB AaAa"), ("3.5.0", "AaAa BBBB")],
)
def test_range_assignor_reverses_topics_with_equal_hash_codes_in_2_1_to_3_4(release: str, order: str) -> None:
    assigned = range_assignment({"AaAa": Topic(1), "BBBB": Topic(1)}, [Member("a", ("AaAa", "BBBB"))], release)
    assert " ".join(topic for topic, _ in assigned["a"]) == order


def in_racks(*racks: str | None, topics: str = "t") -> list[Member]:
    return [Member("abc"[place], tuple(topics), rack=rack) for place, rack in enumerate(racks)]


ONE_OTHER = Topic(2, (("r2",), ("r1",)))


def test_range_assignor_matches_racks_of_members_since_3_5_0() -> None:
    members = in_racks("r1", "r2")
    assert numbers(range_assignment({"t": ONE_OTHER}, members, "3.4.1")) == {"a": ["t0"], "b": ["t1"]}
    assert numbers(range_assignment({"t": ONE_OTHER}, members, "3.5.0")) == {"a": ["t1"], "b": ["t0"]}


@pytest.mark.parametrize(
    ("topic", "members"),
    [
        (Topic(2, (("r1", "r2"), ("r2", "r1"))), in_racks("r1", "r2")),  # every partition is in both racks
        (Topic(2, (("r3",), ("r4",))), in_racks("r1", "r2")),  # no member is in one of the racks
        (ONE_OTHER, in_racks("", None)),  # an empty rack is none
    ],
)
def test_range_assignor_ignores_racks_common_to_all_partitions_or_matching_no_member(
    topic: Topic, members: list[Member]
) -> None:
    assert numbers(range_assignment({"t": topic}, members)) == {"a": ["t0"], "b": ["t1"]}


def test_range_assignor_prefers_equal_shares_over_rack_match() -> None:
    topic = Topic(4, (("r2",), ("r2",), ("r2",), ("r1",)))
    assert numbers(range_assignment({"t": topic}, in_racks("r1", "r2"))) == {"a": ["t2", "t3"], "b": ["t0", "t1"]}


def test_rack_aware_range_co_partitions_topics_of_equal_partition_count() -> None:
    topics = {"t": ONE_OTHER, "u": Topic(2, (("r1",), ("r2",)))}
    assert numbers(range_assignment(topics, in_racks("r1", "r2", topics="tu"))) == {
        "a": ["t0", "u0"],
        "b": ["t1", "u1"],
    }


def test_range_member_without_rack_takes_partition_in_the_rack_of_a_later_member() -> None:
    assert numbers(range_assignment({"t": ONE_OTHER}, in_racks(None, "r2"))) == {"a": ["t0"], "b": ["t1"]}


def test_replica_racks_of_one_topic_change_range_assignment_of_other_topics() -> None:
    """Topics t and u, whose racks no member has, go to members without a rack first, as soon as v needs racks."""
    far = Topic(1, (("r9",),))
    members = in_racks("r1", None, topics="tuv")
    apart = {"t": far, "u": far, "v": Topic(2, (("r1",), ("r1",)))}
    assert numbers(range_assignment(apart, members))["a"] == ["t0", "u0", "v0"]
    near = {**apart, "v": Topic(2, (("r1",), ("r2",)))}
    assert numbers(range_assignment(near, members))["a"] == ["v0"]
