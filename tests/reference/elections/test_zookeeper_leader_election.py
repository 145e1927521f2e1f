"""Elections by a controller on ZooKeeper."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_reference.elections.zookeeper_behaviour import ZookeeperElectionBehaviour
from kafka_reference.elections.zookeeper_leader_election import (
    ControllerContext,
    LeaderAndIsr,
    choose_leader,
    elect,
)

NEWEST = ZookeeperElectionBehaviour.of("3.9.2")
CONTEXT = ControllerContext((1, 2, 3), (), frozenset({2, 3}), frozenset({3}))


@pytest.mark.parametrize(
    ("election", "isr", "unclean", "leader"),
    [
        ("offline", (3, 2), False, 2),
        ("offline", (1,), False, None),
        ("offline", (1,), True, 2),
        ("reassign", (1,), True, None),
        ("preferred", (1, 2), True, None),
        ("shutdown", (3,), True, None),
    ],
)
def test_zookeeper_election_chooses_leader_by_election_kind_isr_and_unclean_setting(
    election: Any, isr: tuple[int, ...], unclean: bool, leader: int | None
) -> None:
    assert choose_leader(election, (1, 2, 3), isr, (2, 3), shutting_down=(3,), unclean=unclean) == leader


def test_uncleanly_elected_leader_is_sole_isr_member_and_recovering_since_3_2() -> None:
    state = LeaderAndIsr(1, (1,), leader_epoch=4, version=9)
    after = elect(NEWEST, "offline", CONTEXT, state, unclean=True).state
    assert after == LeaderAndIsr(2, (2,), 5, 9, "recovering")
    old = elect(ZookeeperElectionBehaviour.of("3.1.2"), "offline", CONTEXT, state, unclean=True).state
    assert old == LeaderAndIsr(2, (2,), 5, 9)


@pytest.mark.parametrize(("election", "isr"), [("offline", (2,)), ("reassign", (1, 2, 3)), ("shutdown", (1, 2))])
def test_isr_after_zookeeper_election_loses_offline_or_stopping_replicas_except_for_reassignment(
    election: Any, isr: tuple[int, ...]
) -> None:
    after = elect(NEWEST, election, CONTEXT, LeaderAndIsr(1, (1, 2, 3))).state
    assert after == LeaderAndIsr(2, isr, 1)


def test_zookeeper_election_of_partition_without_state_elects_no_leader() -> None:
    result = elect(NEWEST, "offline", CONTEXT, None)
    assert (result.state, result.replicas) == (None, (2,))
