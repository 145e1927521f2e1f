"""What three brokers and a controller do with one partition in the course of a script.

The model has no time of its own. Followers that run fetch as soon as there is something to fetch. A :class:`Settle` lets the time
pass that it takes until a follower that lags leaves the in-sync replicas and the sessions of brokers that are paused or killed end, in
this order: ``replica.lag.time.max.ms`` is shorter than a session. What a script leaves to chance, such as which of two sessions ends
first, is :class:`UndeterminedHistory`.

Java source mirrored, besides that of the parts: ``kafka.server.ReplicaManager`` and ``DelayedProduce``, 3.6.0 to 4.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kafka_reference.errors import QuestionError
from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.cluster_script import (
    ClusterScript,
    Continue,
    Elect,
    Event,
    Kill,
    Pause,
    Produce,
    SetMinInsyncReplicas,
    SetUncleanElection,
    Settle,
    Start,
)
from kafka_reference.replication.controller import NO_LEADER, Controller, PartitionMetadata, TopicSettings
from kafka_reference.replication.in_sync_replicas import BrokerMetadata
from kafka_reference.replication.kraft_controller import ControllerBehaviour, KraftController
from kafka_reference.replication.partition_leader import MAX_LAG_MS, PartitionLeader
from kafka_reference.replication.produce_acks import ALL, check_completion, error_before_append, is_valid_acks
from kafka_reference.replication.replica_log import ReplicaLog
from kafka_reference.replication.zookeeper_controller import ZooKeeperController

__all__ = ["ClusterHistory", "ClusterMode", "UndeterminedHistory"]

ClusterMode: TypeAlias = Literal["kraft", "zookeeper"]

_NEVER = "REQUEST_TIMED_OUT"


class UndeterminedHistory(QuestionError):
    """The script leaves the outcome to chance: which session ends first, or what a broker fetched before it stopped."""


@dataclass(slots=True)
class Broker:
    """A broker's process and its replica."""

    log: ReplicaLog = field(default_factory=ReplicaLog)
    """The replica's log."""
    process: Literal["running", "paused", "killed"] = "running"
    """What the process does."""
    is_fenced: bool = False
    """Whether its session has ended."""
    epoch: int = 0
    """The broker epoch: the number of restarts."""
    leading: PartitionLeader | None = None
    """The partition, as long as the broker takes itself for its leader."""

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self.process == "running"


@dataclass(slots=True)
class ProduceResult:
    """What became of a produce request."""

    error: str | None = None
    """The name of the error, ``NONE`` without one; None while the request waits, and for ``acks=0``."""
    base_offset: int | None = None
    """The offset of the first record, if it was appended."""
    end_offset: int | None = None
    """The offset behind the last record, if it was appended."""


class ClusterHistory:
    """Three brokers, a controller and one partition, after the events so far."""

    def __init__(self, script: ClusterScript, release: str, mode: ClusterMode = "kraft") -> None:
        self.replicas = script.replicas
        self.brokers = {broker: Broker() for broker in sorted(script.replicas)}
        self.settings = TopicSettings(script.min_insync_replicas, script.unclean_leader_election)
        partition = PartitionMetadata(script.replicas, script.replicas[0], 0, script.replicas)
        self._eligible_leaders = mode == "kraft" and ControllerBehaviour.of(release).elects_eligible_leaders
        self.controller: Controller = (
            ZooKeeperController(partition, self.settings)
            if mode == "zookeeper"
            else KraftController(partition, self.settings, eligible_leaders=self._eligible_leaders)
        )
        self._behaviour = PartitionBehaviour.of(release)
        self._now_ms = 0
        self._is_quiet = True
        self._waiting: list[tuple[ProduceResult, PartitionLeader]] = []
        self._replicate()

    @property
    def leader(self) -> PartitionLeader | None:
        """The partition on its leader; None if there is no leader, or if its process does not run."""
        leader = self.controller.partition.leader
        return None if leader == NO_LEADER else self.brokers[leader].leading

    def happen(self, event: Event) -> ProduceResult | str | None:
        """Let an event happen. Return the result of a request: of a produce request, or an election's error."""
        match event:
            case Produce():
                return self._produce(event)
            case Pause(broker) | Kill(broker):
                self._stop(broker, "paused" if isinstance(event, Pause) else "killed")
            case Continue(broker) | Start(broker):
                self._resume(broker, restarted=isinstance(event, Start))
            case SetMinInsyncReplicas(replicas):
                self.controller.change_min_isr(replicas)
            case SetUncleanElection(enabled):
                self.settings.unclean_election = enabled
            case Elect(election):
                return self._elect(election)
            case Settle():
                self._settle()
        self._replicate()
        return None

    def _produce(self, request: Produce) -> ProduceResult:
        if self.controller.partition.leader == NO_LEADER:
            return ProduceResult("LEADER_NOT_AVAILABLE")
        leader = self._running_leader()
        if not is_valid_acks(request.acks):
            return ProduceResult("INVALID_REQUIRED_ACKS")
        if error := error_before_append(request.acks, len(leader.isr), leader.effective_min_isr):
            return ProduceResult(error)
        base_offset = leader.log.end_offset
        result = ProduceResult(None, base_offset, leader.append(request.records))
        leader.raise_high_watermark(self._metadata(), now_ms=self._now_ms)
        if any(broker.is_running for broker in self.brokers.values() if broker.leading is not leader):
            self._is_quiet = False
        if request.acks == ALL:
            self._waiting.append((result, leader))
        elif request.acks == 1:
            result.error = "NONE"
        self._replicate()
        if request.acks == ALL and request.wait and result.error is None:
            raise UndeterminedHistory(
                "a produce request with wait=True is only answered when a session ends: set wait=False"
            )
        return result

    def _running_leader(self) -> PartitionLeader:
        broker = self.brokers[self.controller.partition.leader]
        if not broker.is_running or broker.leading is None:
            raise UndeterminedHistory("a produce request to a leader that does not run: settle before it")
        return broker.leading

    def _stop(self, number: int, process: Literal["paused", "killed"]) -> None:
        broker = self.brokers[number]
        if broker.is_running and not self._is_quiet:
            raise UndeterminedHistory(f"broker {number} is {process} while followers fetch: settle before it")
        if broker.process == "killed":
            raise UndeterminedHistory(f"broker {number} is {process}, but was killed before")
        broker.process = process
        if any(leader is broker.leading for _, leader in self._waiting):
            raise UndeterminedHistory(f"broker {number} is {process} while a produce request waits for it")
        if process == "killed":
            broker.leading = None

    def _resume(self, number: int, *, restarted: bool) -> None:
        broker = self.brokers[number]
        if broker.process != ("killed" if restarted else "paused"):
            raise UndeterminedHistory(f"broker {number} is {broker.process}: it cannot be started or continued")
        if restarted and not broker.is_fenced:
            raise UndeterminedHistory(f"broker {number} starts before its session has ended: settle before it")
        if restarted:
            broker.log.restart()
            broker.epoch += 1
        broker.process = "running"
        if broker.is_fenced:
            broker.is_fenced = False
            self.controller.register(number, restarted=restarted)

    def _elect(self, election: Literal["preferred", "unclean"]) -> str:
        if any(not broker.is_running and not broker.is_fenced for broker in self.brokers.values()):
            raise UndeterminedHistory("an election before the session of a stopped broker has ended: settle before it")
        error = self.controller.elect(election)
        self._replicate()
        return error

    def _settle(self) -> None:
        """Let followers that lag leave the in-sync replicas, then let sessions end, then elect leaders of leaderless partitions."""
        self._check_sessions()
        self._replicate()
        self._now_ms += MAX_LAG_MS + 1
        self._replicate()
        if (leader := self.leader) is not None and self.brokers[leader.broker].is_running:
            out_of_sync = leader.out_of_sync(now_ms=self._now_ms)
            if out_of_sync:
                self.controller.change_isr(
                    tuple(one for one in self.controller.partition.isr if one not in out_of_sync)
                )
                self._replicate()
        for number, broker in self.brokers.items():
            if not broker.is_running and not broker.is_fenced:
                broker.is_fenced = True
                self.controller.end_session(number)
                self._replicate()
        self.controller.elect_leaderless()
        self._replicate()
        for result, _ in self._waiting:
            result.error = _NEVER
        self._waiting.clear()
        self._is_quiet = True

    def _check_sessions(self) -> None:
        partition = self.controller.partition
        ending = [
            number
            for number, broker in self.brokers.items()
            if number in partition.isr and not broker.is_running and not broker.is_fenced
        ]
        if len(ending) < 2:
            return
        if partition.leader in ending:
            raise UndeterminedHistory(
                "the sessions of the leader and of an in-sync follower end together: settle in between"
            )
        remaining = len(partition.isr) - len(ending)
        if self._eligible_leaders and remaining < self.settings.min_isr < len(partition.isr):
            raise UndeterminedHistory(
                "which of two replicas is still eligible depends on who leaves first: settle in between"
            )

    def _replicate(self) -> None:
        """Let brokers take over the metadata, and followers fetch, until nothing changes."""
        before = None
        while before != (before := self._fingerprint()):
            self._follow_metadata()
            leader = self.leader
            if leader is None or not self.brokers[leader.broker].is_running:
                continue
            for number, broker in self.brokers.items():
                if number != leader.broker and broker.is_running:
                    self._fetch(number, broker.log, leader)
            self._complete_waiting()

    def _fetch(self, number: int, log: ReplicaLog, leader: PartitionLeader) -> None:
        while log.truncate_divergence(leader.log):
            pass
        if leader.take_fetch(number, log.end_offset, self._metadata(), now_ms=self._now_ms):
            self.controller.change_isr(tuple(one for one in self.replicas if one in leader.isr))
        log.copy_from(leader.log)

    def _follow_metadata(self) -> None:
        """Let the brokers that run lead or follow as the controller says. Mirrors ``ReplicaManager.applyDelta``."""
        partition, isr = self.controller.partition, frozenset(self.controller.partition.isr)
        for number, broker in self.brokers.items():
            if not broker.is_running:
                continue
            if number != partition.leader:
                self._resign(broker)
                continue
            if broker.leading is None:
                broker.leading = PartitionLeader(number, -1, broker.log, self.settings.min_isr, self._behaviour)
            leading = broker.leading
            if leading.epoch < partition.leader_epoch:
                leading.begin_epoch(partition.leader_epoch, isr, self.replicas, now_ms=self._now_ms)
                leading.raise_high_watermark(self._metadata(), now_ms=self._now_ms)
            elif leading.isr != isr:
                leading.isr = isr
                leading.raise_high_watermark(self._metadata(), now_ms=self._now_ms)
            leading.min_isr = self.settings.min_isr

    def _resign(self, broker: Broker) -> None:
        """Answer what waits on a former leader. Mirrors ``DelayedProduce.tryComplete``."""
        for result, leader in list(self._waiting):
            if leader is broker.leading:
                result.error = "NOT_LEADER_OR_FOLLOWER"
                self._waiting.remove((result, leader))
        broker.leading = None

    def _complete_waiting(self) -> None:
        for result, leader in list(self._waiting):
            done = check_completion(
                result.end_offset or 0,
                leader.log.high_watermark,
                maximal_in_sync_count=len(leader.isr),
                min_in_sync=leader.effective_min_isr,
            )
            if done.done:
                result.error = done.error
                self._waiting.remove((result, leader))

    def _metadata(self) -> dict[int, BrokerMetadata]:
        return {
            number: BrokerMetadata(broker.epoch, fenced=broker.is_fenced) for number, broker in self.brokers.items()
        }

    def _fingerprint(self) -> object:
        logs = [
            (broker.log.end_offset, broker.log.high_watermark, broker.log.latest_epoch)
            for broker in self.brokers.values()
        ]
        return logs, self.controller.partition, [broker.leading is None for broker in self.brokers.values()]
