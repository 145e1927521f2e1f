"""What happens to one partition on three brokers in the course of a script.

There is no time but in a :class:`Settle`. Followers that run fetch as soon as there is something to fetch. When the cluster
settles, followers that lag leave the in-sync replicas first; then the sessions of brokers that are paused or killed end,
and leaders are elected: ``replica.lag.time.max.ms`` is shorter than a session. What a script leaves to chance, such as
which of two sessions ends first, is an ``UndeterminedHistory``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from kafka_reference.arguments import checked
from kafka_reference.cluster.controller import Controller, TopicSettings
from kafka_reference.cluster.kraft_controller import ControllerBehaviour, KraftController
from kafka_reference.cluster.observation import Answer, Elected, Produced, ReplicaState, Settled, Unanswered
from kafka_reference.cluster.partition_leader import PartitionLeader
from kafka_reference.cluster.script import (
    ClusterScript,
    Continue,
    Elect,
    Event,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    Settle,
    SetUncleanElection,
    Start,
)
from kafka_reference.cluster.state import ClusterState, PendingProduce
from kafka_reference.cluster.undetermined import UndeterminedHistory
from kafka_reference.cluster.zookeeper_controller import ZooKeeperController
from kafka_reference.elections.partition_registration import NO_LEADER
from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.produce_acks import error_before_append, is_valid_acks, waits

__all__ = ["ClusterHistory", "ClusterMode", "simulate"]

ClusterMode: TypeAlias = Literal["kraft", "zookeeper"]
"""Which controller the cluster has."""


@checked
def simulate(script: ClusterScript, release: str, mode: ClusterMode = "kraft") -> tuple[Answer, ...]:
    """Return what is seen of each event of a script in a release. Raises UndeterminedHistory."""
    history = ClusterHistory(script, release, mode)
    answers = [history.happen(event) for event in script.events]
    return tuple(_final(answer) for answer in answers)


def _final(answer: Answer | PendingProduce) -> Answer:
    """Return the response of a request that waited; its offset comes without an error alone."""
    if not isinstance(answer, PendingProduce):
        return answer
    return Produced(answer.error, answer.base_offset if answer.error == "NONE" else None)


class ClusterHistory:
    """A partition after the events so far."""

    def __init__(self, script: ClusterScript, release: str, mode: ClusterMode = "kraft") -> None:
        settings = TopicSettings(script.min_insync_replicas, script.unclean_leader_election)
        self._has_elr = mode == "kraft" and ControllerBehaviour.of(release).elects_eligible_leaders
        controller: Controller = (
            ZooKeeperController(script.replicas, settings, release)
            if mode == "zookeeper"
            else KraftController(script.replicas, settings, release)
        )
        self.state = ClusterState(script.replicas, settings, controller, PartitionBehaviour.of(release))
        self._is_quiet, self._is_moving = True, False
        self.state.replicate()

    def happen(self, event: Event) -> Answer | PendingProduce:
        """Let an event happen and return what is seen of it; of a request that waits, what will be."""
        if self._is_moving and isinstance(event, Produce | Elect | SetMinInsyncReplicas | SetUncleanElection):
            raise UndeterminedHistory("a request while a broker comes back or a leader is elected: settle before it")
        match event:
            case Produce():
                return self._produce(event)
            case Elect(election):
                return Elected(self._elect(election))
            case Settle():
                return self._settle()
            case Pause(broker) | Kill(broker):
                self._stop(broker, "paused" if isinstance(event, Pause) else "killed")
            case Continue(broker) | Start(broker):
                self._resume(broker, restarted=isinstance(event, Start))
            case SetMinInsyncReplicas(replicas):
                self.state.change_minimum(replicas)
            case SetUncleanElection(enabled):  # unreached: no other event is left
                self._set_unclean_election(enabled=enabled)
        self.state.replicate()
        return Unanswered()

    def _produce(self, request: Produce) -> Produced | PendingProduce:
        """Mirrors ``ReplicaManager.appendRecords``."""
        if self.state.controller.partition.leader == NO_LEADER:
            return Produced("LEADER_NOT_AVAILABLE", None)
        leader = self.state.leader
        if leader is None:
            raise UndeterminedHistory("a produce request to a leader that does not run: settle before it")
        if not is_valid_acks(request.acks):
            return Produced("INVALID_REQUIRED_ACKS", None)
        if error := error_before_append(request.acks, len(leader.isr), leader.effective_min_isr):
            return Produced(error, None)
        return self._append(request, leader)

    def _append(self, request: Produce, leader: PartitionLeader) -> Produced | PendingProduce:
        pending = self.state.append(leader, request.records)
        self._is_quiet = self._is_quiet and not self._runs_beside(leader.broker)
        if waits(request.acks):
            self.state.pending.append(pending)
        self.state.replicate()
        if not waits(request.acks):
            return Produced("NONE", pending.base_offset) if request.acks else Produced(None, None)
        if request.wait and pending.error is None:
            raise UndeterminedHistory("a produce request waits until a session ends: set wait=False")
        return pending

    def _stop(self, number: int, process: Literal["paused", "killed"]) -> None:
        broker = self.state.brokers[number]
        if broker.process == "killed" or broker.process == process:
            raise UndeterminedHistory(f"broker {number} is {process}, but was {broker.process} before")
        if broker.is_running and not self._is_quiet:
            raise UndeterminedHistory(f"broker {number} is {process} while others fetch: settle before it")
        if any(one.leader is broker.leading for one in self.state.pending):
            raise UndeterminedHistory(f"broker {number} is {process} while a produce request waits for it")
        broker.process = process
        if process == "killed":
            broker.leading = None

    def _resume(self, number: int, *, restarted: bool) -> None:
        broker = self.state.brokers[number]
        if broker.process != ("killed" if restarted else "paused"):
            raise UndeterminedHistory(f"broker {number} is {broker.process}: it cannot start or continue")
        if restarted and not broker.is_fenced:
            raise UndeterminedHistory(f"broker {number} starts before its session has ended: settle before it")
        if restarted:
            broker.log.restart()
            broker.epoch += 1
        broker.process = "running"
        self._is_quiet, self._is_moving = False, True
        if broker.is_fenced:
            broker.is_fenced = False
            self.state.controller.register(number, restarted=restarted)

    def _set_unclean_election(self, *, enabled: bool) -> None:
        """Change the setting; the controller elects some time later on KRaft, and at once with ZooKeeper."""
        self.state.settings.unclean_election = enabled
        controller = self.state.controller
        if enabled and controller.alive and controller.partition.leader not in controller.alive:
            self._is_quiet, self._is_moving = False, True

    def _elect(self, election: Literal["preferred", "unclean"]) -> str:
        if self.state.missed:
            raise UndeterminedHistory("an election before the session of a stopped broker has ended: settle before it")
        error = self.state.controller.elect(election)
        self._is_moving = error == "NONE"
        self._is_quiet = self._is_quiet and not self._is_moving
        self.state.replicate()
        return error

    def _settle(self) -> Settled:
        self._check_sessions()
        self.state.replicate()
        self.state.lag()
        self.state.end_sessions()
        self.state.controller.elect_leaderless()
        self.state.replicate()
        self.state.learn_minimum()
        for one in self.state.pending:
            one.error = "REQUEST_TIMED_OUT"
        self.state.pending.clear()
        self._is_quiet, self._is_moving = True, False
        return self._observe()

    def _check_sessions(self) -> None:
        """Raise UndeterminedHistory if it matters which of several in-sync replicas is missed first."""
        partition = self.state.controller.partition
        missed = [number for number in self.state.missed if number in partition.isr]
        if len(missed) > 1 and partition.leader in missed:
            raise UndeterminedHistory("the leader and an in-sync follower are missed together: settle in between")
        if (
            self._has_elr
            and len(partition.isr) - len(missed) < self.state.settings.min_isr < len(partition.isr)
            and len(missed) > 1
        ):
            raise UndeterminedHistory(
                "two replicas are missed together, and the first is not eligible: settle in between"
            )

    def _runs_beside(self, leader: int) -> bool:
        return any(broker.is_running for number, broker in self.state.brokers.items() if number != leader)

    def _observe(self) -> Settled:
        partition, leader = self.state.controller.partition, self.state.leader
        return Settled(
            leader=partition.leader,
            leader_epoch=partition.leader_epoch,
            isr=frozenset(partition.isr),
            elr=frozenset(partition.elr),
            replicas={
                number: ReplicaState(
                    tuple((batch.base_offset, batch.records, batch.leader_epoch) for batch in broker.log.batches),
                    broker.log.end_offset,
                    broker.log.high_watermark if leader is not None and broker.is_running else None,
                )
                for number, broker in self.state.brokers.items()
            },
            readable=0 if leader is None else leader.log.high_watermark,
        )
