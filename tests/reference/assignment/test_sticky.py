"""The sticky assignors: how each release keeps, moves and withholds partitions. Java answered these questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kafka_reference.assignment.members import Assignment, Member, Topic, TopicPartition
from kafka_reference.assignment.sticky import cooperative_sticky_assignment, sticky_assignment
from kafka_reference.assignment.sticky_errors import NoSuchElementException
from kafka_reference.errors import ArithmeticException, IllegalStateException, NotInThisRelease, NullPointerException

RELEASES = ("0.11.0.0", "2.3.1", "2.4.1", "2.5.1", "2.8.2", "3.0.0", "3.4.1", "3.5.1", "3.7.1", "4.4.0")


def member(name: str, topics: str, owned: str = "", generation: int | None = None, rack: str | None = None) -> Member:
    return Member(name, tuple(topics), None, rack, partitions(owned), generation)


def partitions(text: str) -> tuple[TopicPartition, ...]:
    return tuple((one[0], int(one[1:])) for one in text.split())


def topics(**counts: int) -> dict[str, Topic]:
    return {name: Topic(count) for name, count in counts.items()}


def words(assignment: Assignment) -> dict[str, str]:
    return {name: " ".join(f"{topic}{number}" for topic, number in owned) for name, owned in assignment.items()}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("subscriptions", ["tu tu tu", "tu t u"])
def test_sticky_assigns_each_partition_once_and_rebalance_of_an_unchanged_group_keeps_owners(
    release: str, subscriptions: str
) -> None:
    cluster = topics(t=4, u=4)
    names = ("a", "b", "c")
    group = [member(name, read) for name, read in zip(names, subscriptions.split(), strict=True)]
    first = sticky_assignment(cluster, group, release)
    assert sorted(one for owned in first.values() for one in owned) == sorted((t, n) for t in "tu" for n in range(4))
    again = [Member(one.id, one.topics, owned=tuple(first[one.id]), generation=1) for one in group]
    second = sticky_assignment(cluster, again, release)
    assert {name: set(owned) for name, owned in second.items()} == {name: set(owned) for name, owned in first.items()}


JOINED = [member("a", "tu", "t0 t1 u0 u1", 3), member("b", "tu")]


@pytest.mark.parametrize(
    ("release", "kept", "moved"),
    [
        ("0.11.0.0", "u0 u1", "t0 t1"), ("2.3.1", "u1 u0", "t1 t0"), ("2.5.1", "t0 t1", "u0 u1"),
        ("3.7.0", "t0 t1", "u0 u1"), ("3.7.1", "t0 u0", "t1 u1"), ("4.4.0", "t0 u0", "t1 u1"),
    ],
)  # fmt: skip
def test_sticky_gives_joining_member_half_of_each_topic_since_3_7_1_and_one_topic_before(
    release: str, kept: str, moved: str
) -> None:
    assert words(sticky_assignment(topics(t=2, u=2), JOINED, release)) == {"a": kept, "b": moved}


@pytest.mark.parametrize("release", ["2.5.1", "2.8.2", "3.0.0", "4.4.0"])
def test_cooperative_sticky_withholds_partitions_that_change_owner(release: str) -> None:
    kept = words(sticky_assignment(topics(t=2, u=2), JOINED, release))["a"]
    assert words(cooperative_sticky_assignment(topics(t=2, u=2), JOINED, release)) == {"a": kept, "b": ""}


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("2.4.1", {"a": "t1", "b": "t0"}), ("2.8.0", {"a": "t0", "b": "t0"}), ("2.8.1", {"a": "t0", "b": ""}),
        ("4.4.0", {"a": "t0", "b": ""}),
    ],
)  # fmt: skip
def test_cooperative_sticky_gives_twice_claimed_partition_to_newest_generation_since_2_8_1(
    release: str, expected: Mapping[str, str]
) -> None:
    group = [member("a", "t", "t0 t1", 2), member("b", "t", "t0", 1)]
    assert words(cooperative_sticky_assignment(topics(t=2), group, release)) == expected


@pytest.mark.parametrize(("release", "kept"), [("3.4.0", "t2"), ("3.4.1", "t3"), ("4.4.0", "t3")])
def test_sticky_honours_undisputed_claim_of_older_generation_since_3_4_1(release: str, kept: str) -> None:
    group = [member("a", "t", "t0 t1", 2), member("b", "t", "t3", 1), member("c", "t")]
    assert words(sticky_assignment(topics(t=4), group, release))["b"] == kept


def test_third_claim_on_a_partition_throws_in_cooperative_sticky_up_to_3_5_1() -> None:
    group = [member("a", "t", "t0", 3), member("b", "t", "t0", 1), member("c", "t", "t0", 2)]
    assert words(cooperative_sticky_assignment(topics(t=2), group, "3.5.2")) == {"a": "t0", "b": "t1", "c": ""}
    with pytest.raises(IllegalStateException, match="No more unfilled consumers"):
        cooperative_sticky_assignment(topics(t=2), group, "3.5.1")


RACKS = {"t": Topic(4, (("b",), ("a",), ("b",), ("a",)))}
IN_RACKS = [member("a", "t", rack="a"), member("b", "t", "t1 t3", 1, "a"), member("c", "t", rack="b")]


def test_sticky_ignores_racks_in_3_4_1_throws_in_3_7_0_and_matches_racks_in_newest_release() -> None:
    assert words(sticky_assignment(RACKS, IN_RACKS, "3.4.1")) == {"a": "t0", "b": "t1 t3", "c": "t2"}
    assert words(sticky_assignment(RACKS, IN_RACKS)) == {"a": "t2", "b": "t1 t3", "c": "t0"}
    with pytest.raises(IllegalStateException, match=r"Consumer: \[a\] doesn't reach minQuota"):
        sticky_assignment(RACKS, IN_RACKS, "3.7.0")


def test_sticky_throws_in_newest_release_for_owned_partition_of_a_shrunk_topic() -> None:
    group = [member("a", "tu", "t0 u0", 1), member("b", "tu", "t1 u1", 1)]
    assert set(sticky_assignment(topics(t=1, u=3), group, "2.4.1")["b"]) == {("u", 1), ("u", 2)}
    assert words(sticky_assignment(topics(t=1, u=3), group, "2.8.2")) == {"a": "t0 u0 u2", "b": "t1 u1"}
    with pytest.raises(IllegalStateException):
        sticky_assignment(topics(t=1, u=3), group)


def test_sticky_throws_npe_in_newest_release_if_older_of_two_claimants_unsubscribed_from_topic() -> None:
    group = [member("a", "u", "t0", 1), member("b", "t", "t0 t1 t2 t3 t4", 2), member("c", "t")]
    with pytest.raises(NullPointerException):
        sticky_assignment(topics(t=5, u=1), group)
    assert words(sticky_assignment(topics(t=5, u=1), group, "2.8.2"))["c"] == "t0 t1"


def test_sticky_with_unequal_subscriptions_loses_owned_partitions_in_2_8_2() -> None:
    group = [member("a", "t", "t0 t1", 1), member("b", "t", "t2 t3", 1), member("c", "u", "u0 u1", 1)]
    assert words(sticky_assignment(topics(t=4, u=2), group, "2.8.2"))["a"] == "t0 t2"
    assert words(sticky_assignment(topics(t=4, u=2), group, "3.0.0"))["a"] == "t0 t1"


@pytest.mark.parametrize("release", RELEASES)
def test_sticky_assigns_partitions_to_member_without_topics_since_2_5(release: str) -> None:
    shares = release not in {"0.11.0.0", "2.3.1", "2.4.1"}
    group = [member("a", ""), member("b", "t")]
    assert bool(sticky_assignment(topics(t=2), group, release)["a"]) is shares


def test_sticky_without_members_throws_but_not_in_2_8_and_without_subscriptions_up_to_2_2() -> None:
    assert sticky_assignment(topics(t=2), [], "2.8.2") == {}
    with pytest.raises(ArithmeticException):
        sticky_assignment(topics(t=2), [])
    for release in ("0.11.0.0", "2.4.1"):
        with pytest.raises(NoSuchElementException):
            sticky_assignment(topics(t=2), [], release)
    past = [member("a", "", "t0", 1)]
    with pytest.raises(NoSuchElementException):
        sticky_assignment({}, past, "2.2.2")
    assert sticky_assignment({}, past, "2.3.1") == {"a": []}


def test_sticky_throws_npe_for_subscribed_topic_without_metadata_up_to_2_2() -> None:
    with pytest.raises(NullPointerException):
        sticky_assignment({}, [member("a", "t")], "2.2.2")
    assert sticky_assignment({}, [member("a", "t")], "2.3.0") == {"a": []}


def test_sticky_assignors_before_first_release_raise_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease):
        sticky_assignment({}, [], "0.10.2.2")
    with pytest.raises(NotInThisRelease):
        cooperative_sticky_assignment({}, [], "2.3.1")


@pytest.mark.parametrize("release", ["2.4.1", "2.5.0"])
@pytest.mark.parametrize("assign", [sticky_assignment, cooperative_sticky_assignment])
def test_sticky_orders_topics_of_one_bucket_as_subscribed_by_first_member_in_hash_map(
    assign: Any, release: str
) -> None:
    # "b" and "r" share a bucket; "d" comes before "z" in the HashMap, however the members are listed.
    group = [member("z", "rb"), member("d", "br", "x0", 3)]
    for listed in (group, group[::-1]):
        assert words(assign(topics(b=1, r=1), listed, release)) == {"d": "b0", "z": "r0"}


LOST = [Member("a", ("t",), None, None, (("t", 0),), 5, -1), member("b", "t", "t0", 4)]


@pytest.mark.parametrize("release", ["3.4.1", "3.6.2", "4.4.0"])
@pytest.mark.parametrize("assign", [sticky_assignment, cooperative_sticky_assignment])
def test_sticky_member_with_subscription_generation_minus_1_loses_twice_claimed_partition_since_3_4_1(
    assign: Any, release: str
) -> None:
    assert words(assign(topics(t=2), LOST, release)) == {"a": "t1", "b": "t0"}
    kept = [replace(LOST[0], subscription_generation=None), LOST[1]]
    assert words(assign(topics(t=2), kept, release)) == {"a": "t0", "b": "t1"}


@pytest.mark.parametrize("assign", [sticky_assignment, cooperative_sticky_assignment])
def test_sticky_assignors_use_generation_of_user_data_for_claimed_partitions_up_to_3_4_0(assign: Any) -> None:
    assert words(assign(topics(t=2), LOST, "3.4.0")) == {"a": "t0", "b": "t1"}
