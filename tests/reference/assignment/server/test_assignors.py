"""What the coordinator's assignors promise: each partition of a subscribed topic has one owner, who subscribes to it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_reference.assignment.server.balancer import Balancer
from kafka_reference.assignment.server.behaviour import (
    ServerRangeAssignorBehaviour,
    TargetAssignmentBuilderBehaviour,
    UniformAssignorBehaviour,
)
from kafka_reference.assignment.server.errors import NoSuchElementException, PartitionAssignorException
from kafka_reference.assignment.server.group import Group, SubscribedTopic, Subscriber, Targets, Uuid, group_of
from kafka_reference.assignment.server.range import assign_ranges, divide, keep_and_fill
from kafka_reference.assignment.server.uniform import assign_evenly
from kafka_reference.errors import ArrayIndexOutOfBoundsException, NullPointerException

T, U = Uuid(0, 2), Uuid(0, 3)
RELEASES = ("3.7.2", "3.8.1", "3.9.2", "4.0.0", "4.4.0")


def group(
    release: str, counts: tuple[int, int], members: Sequence[tuple[str, str, Sequence[tuple[Uuid, int]]]]
) -> Group:
    topics = [SubscribedTopic(name, each, n) for name, each, n in zip("tu", (T, U), counts, strict=True)]
    subscribers = [Subscriber(each, None, None, tuple(names), tuple(old)) for each, names, old in members]
    return group_of(TargetAssignmentBuilderBehaviour.of(release), topics, subscribers)


def evenly(release: str, *asked: object) -> Targets:
    return assign_evenly(UniformAssignorBehaviour.of(release), group(release, *asked))  # type: ignore[arg-type]


def sizes(targets: Targets) -> list[int]:
    return sorted(sum(map(len, each.values())) for each in targets.values())


def test_server_range_division_gives_each_member_a_contiguous_range() -> None:
    assert divide(5, ["a", "b"]) == {"a": {0, 1, 2}, "b": {3, 4}}
    assert divide(1, ["a", "b"]) == {"a": {0}, "b": set()}


def test_server_range_up_to_3_8_keeps_lowest_owned_partitions_within_share_and_fills_rest() -> None:
    assert keep_and_fill(4, {"a": [3, 1, 2], "b": []}) == {"a": {1, 2}, "b": {0, 3}}
    assert keep_and_fill(5, {"a": [3, 1, 2], "b": [0]}) == {"a": {1, 2, 3}, "b": {0, 4}}
    assert keep_and_fill(3, {"a": [], "b": [0, 1, 2]}) == {"a": {2}, "b": {0, 1}}


def test_server_range_assignor_ignores_previous_assignment_since_3_9_0() -> None:
    asked = (4, 1), [("a", "t", [(T, 3)]), ("b", "t", [(T, 0)])]
    old, new = (
        assign_ranges(ServerRangeAssignorBehaviour.of(release), group(release, *asked))
        for release in ("3.8.1", "3.9.0")
    )
    assert old == {"a": {T: {1, 3}}, "b": {T: {0, 2}}}
    assert new == {"a": {T: {0, 1}}, "b": {T: {2, 3}}}


def test_server_assignors_give_group_without_members_no_assignment_and_range_throws_in_3_8() -> None:
    for release in ("3.6.0", "3.9.0"):
        assert assign_ranges(ServerRangeAssignorBehaviour.of(release), group(release, (1, 1), [])) == {}
    with pytest.raises(NoSuchElementException):
        assign_ranges(ServerRangeAssignorBehaviour.of("3.8.0"), group("3.8.0", (1, 1), []))
    assert evenly("4.4.0", (1, 1), []) == {}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("counts", [(1, 1), (3, 2), (7, 4)])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_uniform_assignor_balances_homogeneous_group_and_assigns_every_partition(
    release: str, counts: tuple[int, int], size: int
) -> None:
    old = [(T, number) for number in range(counts[0])]
    members = [(f"m{place}", "tu", old if place == 0 else []) for place in range(size)]
    targets = evenly(release, counts, members)
    assert max(sizes(targets)) - min(sizes(targets)) <= 1
    given = sorted((topic, n) for each in targets.values() for topic, numbers in each.items() for n in numbers)
    assert given == [*old, *((U, number) for number in range(counts[1]))]


@pytest.mark.parametrize("release", RELEASES)
def test_uniform_assignor_balances_heterogeneous_group(release: str) -> None:
    old = [(T, number) for number in range(5)]
    targets = evenly(release, (5, 4), [("a", "t", old), ("b", "tu", []), ("c", "tu", [])])
    assert sizes(targets) == [3, 3, 3]
    assert U not in targets["a"]


def test_uniform_assignor_keeps_a_balanced_assignment_since_4_0_1() -> None:
    members = [("a", "t", [(T, 0)]), ("b", "t", [(T, 1), (T, 2)])]
    assert evenly("4.0.0", (3, 1), members)["a"] != {T: {0}}
    assert evenly("4.0.1", (3, 1), members) == {"a": {T: {0}}, "b": {T: {1, 2}}}


def test_uniform_assignor_throws_npe_for_member_without_topics_in_3_7() -> None:
    members = [("a", "t", []), ("b", "", [])]
    with pytest.raises(NullPointerException):
        evenly("3.7.2", (3, 1), members)
    assert evenly("3.8.0", (3, 1), members) == {"a": {T: {0, 1, 2}}, "b": {}}


def test_uniform_assignor_throws_for_partition_moved_twice_in_3_9() -> None:
    members = [
        ("m0", "ut", [(T, 0), (T, 1), (U, 2), (U, 3)]), ("m1", "t", []), ("m2", "ut", [(U, 0)]), ("m3", "t", []),
    ]  # fmt: skip
    with pytest.raises(PartitionAssignorException, match="Mismatch"):
        evenly("3.9.2", (2, 4), members)
    assert sizes(evenly("4.0.0", (2, 4), members)) == [1, 1, 2, 2]


def test_uniform_assignor_throws_for_owned_partition_beyond_partition_count_in_4_0_0() -> None:
    with pytest.raises(ArrayIndexOutOfBoundsException):
        evenly("4.0.0", (1, 1), [("a", "t", [(T, 5)]), ("b", "tu", [])])


def test_balancer_names_the_next_most_loaded_member_after_each_exclusion_of_the_most_loaded() -> None:
    loads = [0, 2, 5]
    balancer = Balancer(loads, (0, 1, 2))
    assert balancer.imbalance == 5
    assert not balancer.is_balanced()
    assert [balancer.least_loaded(), balancer.most_loaded()] == [0, 2]
    balancer.exclude_most_loaded()
    assert balancer.most_loaded() == 1
    balancer.exclude_most_loaded()
    assert balancer.most_loaded() == 0
    balancer.exclude_most_loaded()
    assert balancer.most_loaded() is None
