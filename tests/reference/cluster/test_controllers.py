"""The controllers of one partition: sessions, restarts, settings and elections."""

from __future__ import annotations

import pytest

from kafka_reference.cluster.controller import TopicSettings
from kafka_reference.cluster.kraft_controller import ControllerBehaviour, KraftController
from kafka_reference.cluster.zookeeper_controller import ZooKeeperController
from kafka_reference.elections.partition_registration import NO_LEADER


def kraft(*, min_isr: int = 1, unclean: bool = False, elr: bool = True) -> KraftController:
    return KraftController((1, 2, 3), TopicSettings(min_isr, unclean), "4.4.0" if elr else "3.9.2")


def zookeeper(*, unclean: bool = False) -> ZooKeeperController:
    return ZooKeeperController((1, 2, 3), TopicSettings(1, unclean), "3.9.2")


def shape(controller: KraftController | ZooKeeperController) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
    now = controller.partition
    return now.leader, now.leader_epoch, now.isr, now.elr


def test_new_kraft_clusters_use_eligible_leader_replicas_since_4_1() -> None:
    assert [ControllerBehaviour.of(one).elects_eligible_leaders for one in ("3.9.2", "4.0.2", "4.1.0")] == [
        False,
        False,
        True,
    ]


def test_ended_follower_session_raises_leader_epoch_on_zookeeper_and_not_on_kraft() -> None:
    for controller, epoch in ((kraft(), 0), (zookeeper(), 1)):
        controller.end_session(3)
        assert shape(controller) == (1, epoch, (1, 2), ())


def test_ended_leader_session_elects_first_in_sync_replica_in_assignment_order() -> None:
    for controller in (kraft(), zookeeper()):
        controller.end_session(1)
        assert shape(controller) == (2, 1, (2, 3), ())


def test_last_in_sync_replica_stays_in_isr_and_is_elected_without_elr() -> None:
    for controller, epochs in ((kraft(elr=False), 3), (zookeeper(), 3)):
        for broker in (1, 2, 3):
            controller.end_session(broker)
        assert shape(controller) == (NO_LEADER, epochs, (3,), ())
        controller.register(1, restarted=True)
        assert controller.partition.leader == NO_LEADER
        controller.register(3, restarted=True)
        assert shape(controller) == (3, epochs + 1, (3,), ())


def test_replicas_that_leave_isr_below_min_isr_are_eligible_leaders() -> None:
    controller = kraft(min_isr=2)
    for broker in (3, 2, 1):
        controller.end_session(broker)
    assert shape(controller) == (NO_LEADER, 1, (), (1, 2))
    controller.register(3, restarted=False)
    assert controller.partition.leader == NO_LEADER
    controller.register(2, restarted=False)
    assert shape(controller) == (2, 2, (2,), (1,))


def test_unclean_restart_removes_replica_from_elr_and_last_known_leader_is_elected() -> None:
    controller = kraft(min_isr=2)
    for broker in (3, 2, 1):
        controller.end_session(broker)
    controller.register(2, restarted=True)
    assert shape(controller) == (NO_LEADER, 1, (), (1,))
    controller.register(1, restarted=True)
    assert shape(controller) == (1, 2, (1,), ())


def test_changed_min_isr_clears_elr_and_last_known_leader() -> None:
    controller = kraft(min_isr=2)
    for broker in (3, 2, 1):
        controller.end_session(broker)
    controller.change_min_isr(2)
    assert controller.partition.elr == (1, 2), "the same minimum is not a change"
    controller.change_min_isr(1)
    controller.register(1, restarted=True)
    assert shape(controller) == (NO_LEADER, 1, (), ())
    assert controller.elect("unclean") == "NONE"
    assert shape(controller) == (1, 2, (1,), ())


@pytest.mark.parametrize("controller", [kraft(), zookeeper()], ids=["kraft", "zookeeper"])
def test_requested_election_returns_kafka_error_for_unneeded_or_unavailable_leader(
    controller: KraftController | ZooKeeperController,
) -> None:
    assert controller.elect("preferred") == "ELECTION_NOT_NEEDED"
    assert controller.elect("unclean") == "ELECTION_NOT_NEEDED"
    controller.end_session(1)
    assert controller.elect("preferred") == "PREFERRED_LEADER_NOT_AVAILABLE"
    controller.register(1, restarted=True)
    assert controller.elect("preferred") == "PREFERRED_LEADER_NOT_AVAILABLE"
    controller.change_isr((1, 2, 3))
    assert controller.elect("preferred") == "NONE"
    assert controller.partition.leader == 1
    for broker in (1, 2, 3):
        controller.end_session(broker)
    assert controller.elect("unclean") == "ELIGIBLE_LEADERS_NOT_AVAILABLE"


@pytest.mark.parametrize("controller", [kraft(unclean=True), zookeeper(unclean=True)], ids=["kraft", "zookeeper"])
def test_unclean_election_elects_any_live_replica(controller: KraftController | ZooKeeperController) -> None:
    controller.end_session(3)
    controller.register(3, restarted=True)
    for broker in (2, 1):
        controller.end_session(broker)
    assert controller.partition.leader == 3
    assert controller.partition.isr == (3,)


@pytest.mark.parametrize("controller", [kraft(), zookeeper()], ids=["kraft", "zookeeper"])
def test_enabling_unclean_election_elects_leader_of_leaderless_partition(
    controller: KraftController | ZooKeeperController,
) -> None:
    for broker in (3, 2, 1):
        controller.end_session(broker)
    controller.register(2, restarted=True)
    controller.elect_leaderless()
    assert controller.partition.leader == NO_LEADER
    controller._settings.unclean_election = True
    controller.elect_leaderless()
    assert controller.partition.leader == 2
