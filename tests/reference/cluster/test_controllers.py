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


def test_new_clusters_have_eligible_leaders_since_4_1() -> None:
    assert [ControllerBehaviour.of(one).elects_eligible_leaders for one in ("3.9.2", "4.0.2", "4.1.0")] == [
        False,
        False,
        True,
    ]


def test_a_follower_leaves_without_a_new_epoch_on_kraft_and_with_one_on_zookeeper() -> None:
    for controller, epoch in ((kraft(), 0), (zookeeper(), 1)):
        controller.end_session(3)
        assert shape(controller) == (1, epoch, (1, 2), ())


def test_the_first_in_sync_replica_in_order_leads_next() -> None:
    for controller in (kraft(), zookeeper()):
        controller.end_session(1)
        assert shape(controller) == (2, 1, (2, 3), ())


def test_the_last_replica_stays_in_sync_without_eligible_leaders() -> None:
    for controller, epochs in ((kraft(elr=False), 3), (zookeeper(), 3)):
        for broker in (1, 2, 3):
            controller.end_session(broker)
        assert shape(controller) == (NO_LEADER, epochs, (3,), ())
        controller.register(1, restarted=True)
        assert controller.partition.leader == NO_LEADER
        controller.register(3, restarted=True)
        assert shape(controller) == (3, epochs + 1, (3,), ())


def test_eligible_leaders_are_those_that_left_below_the_minimum() -> None:
    controller = kraft(min_isr=2)
    for broker in (3, 2, 1):
        controller.end_session(broker)
    assert shape(controller) == (NO_LEADER, 1, (), (1, 2))
    controller.register(3, restarted=False)
    assert controller.partition.leader == NO_LEADER
    controller.register(2, restarted=False)
    assert shape(controller) == (2, 2, (2,), (1,))


def test_a_killed_broker_is_not_eligible_but_the_last_leader_is_elected() -> None:
    controller = kraft(min_isr=2)
    for broker in (3, 2, 1):
        controller.end_session(broker)
    controller.register(2, restarted=True)
    assert shape(controller) == (NO_LEADER, 1, (), (1,))
    controller.register(1, restarted=True)
    assert shape(controller) == (1, 2, (1,), ())


def test_a_new_minimum_forgets_eligible_and_last_leaders() -> None:
    controller = kraft(min_isr=2)
    for broker in (3, 2, 1):
        controller.end_session(broker)
    controller.change_min_isr(2)
    assert controller.partition.elr == (1, 2), "the same minimum is no change"
    controller.change_min_isr(1)
    controller.register(1, restarted=True)
    assert shape(controller) == (NO_LEADER, 1, (), ())
    assert controller.elect("unclean") == "NONE"
    assert shape(controller) == (1, 2, (1,), ())


@pytest.mark.parametrize("controller", [kraft(), zookeeper()], ids=["kraft", "zookeeper"])
def test_requested_elections_answer_with_javas_errors(controller: KraftController | ZooKeeperController) -> None:
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
def test_unclean_elections_take_any_replica_that_is_alive(controller: KraftController | ZooKeeperController) -> None:
    controller.end_session(3)
    controller.register(3, restarted=True)
    for broker in (2, 1):
        controller.end_session(broker)
    assert controller.partition.leader == 3
    assert controller.partition.isr == (3,)


@pytest.mark.parametrize("controller", [kraft(), zookeeper()], ids=["kraft", "zookeeper"])
def test_unclean_elections_switched_on_later(controller: KraftController | ZooKeeperController) -> None:
    for broker in (3, 2, 1):
        controller.end_session(broker)
    controller.register(2, restarted=True)
    controller.elect_leaderless()
    assert controller.partition.leader == NO_LEADER
    controller._settings.unclean_election = True
    controller.elect_leaderless()
    assert controller.partition.leader == 2
