"""A change of a partition: the leader that is elected, the ISR, eligible replicas, reassignments and epochs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_reference.elections.partition_change import ChangeRequest, change_partition
from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_registration import (
    PartitionChange,
    PartitionRegistration,
    contains,
    merge,
)
from kafka_reference.errors import IllegalArgumentException, IllegalStateException, NotInThisRelease

PARTITION = PartitionRegistration((1, 2, 3), (1, 2, 3), 1, directories=(0, 0, 0))


def changed(release: str, partition: PartitionRegistration = PARTITION, **wanted: Any) -> PartitionChange | None:
    made = change_partition(
        partition, ChangeRequest(**{"acceptable": frozenset({1, 2, 3}), "default_directory": 1, **wanted}), release
    )
    return None if made is None else made[0]


def test_a_fenced_leader_is_replaced_by_the_next_replica() -> None:
    change = changed("4.4.0", acceptable=frozenset({2, 3}), isr=(2, 3))
    assert change == PartitionChange(leader=2, isr=(2, 3))


def test_partition_change_without_effect_returns_no_record() -> None:
    assert changed("4.4.0") is None


def test_fenced_leader_in_the_isr_is_replaced_only_since_3_2() -> None:
    assert changed("3.1.2", acceptable=frozenset({2})) is None
    assert changed("3.2.0", acceptable=frozenset({2})) == PartitionChange(leader=2)


def test_uncleanly_elected_leader_is_recovering_since_3_2_but_with_metadata_3_1_only_since_4_0() -> None:
    wanted: dict[str, Any] = {"acceptable": frozenset({3}), "election": "unclean", "isr": (2,)}
    assert changed("3.1.2", **wanted) == PartitionChange(leader=3, isr=(2,))
    assert changed("3.2.0", **wanted) == PartitionChange(leader=3, isr=(3,), recovery="recovering")
    assert changed("3.2.0", **wanted, metadata_version="3.1") == PartitionChange(leader=3, isr=(3,))
    assert changed("4.0.0", **wanted, metadata_version="3.1") == PartitionChange(
        leader=3, isr=(3,), recovery="recovering"
    )


@pytest.mark.parametrize(
    ("release", "version", "leader"), [("3.5.2", "newest", 1), ("3.6.0", "newest", None), ("4.4.0", "3.5", 1)]
)
def test_isr_shrink_bumps_leader_epoch_up_to_release_or_metadata_version_3_5(
    release: str, version: Any, leader: int | None
) -> None:
    assert changed(release, isr=(1, 2), metadata_version=version) == PartitionChange(leader=leader, isr=(1, 2))


def test_replicas_that_leave_isr_below_min_isr_join_elr_unless_shut_down_uncleanly() -> None:
    change = changed("4.4.0", isr=(1,), elr_enabled=True, min_isr=2)
    assert change == PartitionChange(isr=(1,), elr=(2, 3))
    lost = changed("4.4.0", isr=(), elr_enabled=True, min_isr=2, unclean_shutdown=(1, 3), acceptable=frozenset({2}))
    assert lost == PartitionChange(leader=2, isr=(2,))


def test_eligible_leader_replicas_are_in_java_hash_set_order() -> None:
    partition = replace(PARTITION, replicas=(33, 16, 1), isr=(33, 16, 1), leader=33)
    change = changed("4.4.0", partition, isr=(), elr_enabled=True, acceptable=frozenset())
    assert change is not None
    assert change.elr == (16, 33, 1)


@pytest.mark.parametrize(("release", "leader"), [("4.0.2", 1), ("4.1.0", None)])
def test_last_known_leader_is_elected_only_if_alive_since_4_1(release: str, leader: int | None) -> None:
    partition = replace(PARTITION, isr=(), leader=-1, last_known_elr=(1,))
    change = changed(release, partition, elr_enabled=True, acceptable=frozenset({2}))
    assert (change and change.leader) == leader


@pytest.mark.parametrize(
    ("release", "completes"), [("3.7.2", True), ("3.8.0", False), ("4.2.2", False), ("4.3.0", True)]
)
def test_reassignment_waits_for_every_target_replica_in_isr_in_3_8_to_4_2(release: str, completes: bool) -> None:
    partition = replace(PARTITION, isr=(1,), removing=(1,), adding=(3,))
    change = changed(release, partition, isr=(1, 3))
    assert change is not None
    assert change.replicas == ((2, 3) if completes else None)


def test_change_without_default_directory_throws_if_directories_are_recorded() -> None:
    with pytest.raises(IllegalStateException):
        changed("3.7.0", default_directory=None)
    assert changed("3.7.0", default_directory=None, metadata_version="3.6") is None


def test_merge_leaves_new_directory_unassigned_in_3_7_0_then_migrating_if_others_are_else_throws() -> None:
    change = PartitionChange(replicas=(1, 2, 3, 4))
    assert merge(PARTITION, change, PartitionChangeBehaviour.of("3.7.0")).directories == (0, 0, 0, 1)
    assert merge(PARTITION, change, PartitionChangeBehaviour.of("3.7.1")).directories == (0, 0, 0, 0)
    with pytest.raises(IllegalArgumentException):
        merge(replace(PARTITION, directories=(7, 7, 7)), change, PartitionChangeBehaviour.of("3.7.1"))


def test_replica_list_does_not_contain_list_with_more_repeats_of_a_replica() -> None:
    assert contains((1, 2, 2), (2, 2))
    assert not contains((1, 2), (2, 2))


def test_partition_change_before_3_0_raises_not_in_this_release() -> None:
    with pytest.raises(NotInThisRelease):
        changed("2.8.2")
