"""Questions of ``zookeeper-leader-election`` to the reference."""

from __future__ import annotations

from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.zookeeper_leader_election.question import ZookeeperLeaderElectionQuestion
from kafka_reference.elections import zookeeper_leader_election as elections
from kafka_reference.elections.zookeeper_behaviour import ZookeeperElectionBehaviour
from kafka_reference.elections.zookeeper_leader_election import ControllerContext, LeaderAndIsr
from kafka_reference.releases import Release

__all__ = ["ask"]


def ask(question: ZookeeperLeaderElectionQuestion, release: Release) -> Answer:
    """Return the leader that the algorithm chooses, and the result of the election."""
    behaviour = ZookeeperElectionBehaviour.of(release)
    leader = elections.choose_leader(
        question.election,
        question.assignment,
        question.isr,
        question.live,
        shutting_down=question.shutting_down,
        unclean=question.unclean,
    )
    answer: Answer = {"leader": leader}
    if behaviour.counts_unclean_elections:
        answer["counted"] = int(elections.is_unclean(leader, question.isr))
    if behaviour.has_election:
        answer["election"] = _election(question, behaviour)
    return answer


def _election(question: ZookeeperLeaderElectionQuestion, behaviour: ZookeeperElectionBehaviour) -> dict[str, Any]:
    context = ControllerContext(
        question.assignment, question.removing, frozenset(question.live), frozenset(question.shutting_down)
    )
    is_known = question.known or question.election != "offline"
    state = LeaderAndIsr(question.leader, question.isr, question.leader_epoch, question.version, question.recovery)
    result = elections.elect(
        behaviour,
        question.election,
        context,
        state if is_known else None,
        unclean=question.unclean,
        recovery_supported=question.recovery_supported,
    )
    return {
        "state": None if result.state is None else _state(result.state, behaviour),
        "replicas": list(result.replicas),
    }


def _state(state: LeaderAndIsr, behaviour: ZookeeperElectionBehaviour) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "leader": state.leader,
        "isr": list(state.isr),
        "leader_epoch": state.leader_epoch,
        "version": state.version,
    }
    return {**fields, "recovery": state.recovery} if behaviour.has_recovery_state else fields
