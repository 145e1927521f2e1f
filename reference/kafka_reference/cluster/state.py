"""Three brokers, a controller and one partition: who takes over which metadata, and who fetches what.

Java source mirrored, besides that of the parts: ``kafka.server.ReplicaManager``, ``AbstractFetcherThread`` and
``DelayedProduce``, since 3.6.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from kafka_reference.cluster.controller import Controller, TopicSettings
from kafka_reference.cluster.partition_leader import MAX_LAG_MS, PartitionLeader
from kafka_reference.cluster.replica_log import ReplicaLog
from kafka_reference.cluster.undetermined import UndeterminedHistory
from kafka_reference.elections.partition_registration import NO_LEADER
from kafka_reference.replication.behaviour import PartitionBehaviour
from kafka_reference.replication.in_sync_replicas import BrokerMetadata
from kafka_reference.replication.produce_acks import check_completion

__all__ = ["Broker", "ClusterState", "PendingProduce"]


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
    missed_minimum: bool = False
    """Whether ``min.insync.replicas`` changed while the process was paused."""

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self.process == "running"


@dataclass(slots=True)
class PendingProduce:
    """A produce request with ``acks=all`` that has been appended."""

    leader: PartitionLeader
    """The leader that appended it."""
    base_offset: int
    """The offset of the first record."""
    end_offset: int
    """The offset behind the last record."""
    error: str | None = None
    """The name of the error, ``NONE`` without one; None while it waits."""


class ClusterState:
    """Brokers and controller, with their metadata and logs."""

    def __init__(
        self, replicas: tuple[int, ...], settings: TopicSettings, controller: Controller, behaviour: PartitionBehaviour
    ) -> None:
        self.replicas, self.settings, self.controller = replicas, settings, controller
        self.brokers = {broker: Broker() for broker in sorted(replicas)}
        self.pending: list[PendingProduce] = []
        self._behaviour = behaviour
        self._now_ms = 0

    @property
    def leader(self) -> PartitionLeader | None:
        """The partition on its leader; None if there is no leader, or if its process does not run."""
        leader = self.controller.partition.leader
        broker = None if leader == NO_LEADER else self.brokers[leader]
        return broker.leading if broker is not None and broker.is_running else None

    @property
    def missed(self) -> list[int]:
        """The brokers that do not run and whose sessions have not ended."""
        return [number for number, broker in self.brokers.items() if not broker.is_running and not broker.is_fenced]

    def append(self, leader: PartitionLeader, records: int) -> PendingProduce:
        """Append a batch to the leader's log. Mirrors ``Partition.appendRecordsToLeader``."""
        pending = PendingProduce(leader, leader.log.end_offset, leader.append(records))
        leader.raise_high_watermark(self._metadata(), now_ms=self._now_ms)
        return pending

    def replicate(self) -> None:
        """Let brokers take over the metadata, and followers fetch, until nothing changes."""
        before: object = None
        while before != (before := self._fingerprint()):
            self._follow_metadata()
            if (leader := self.leader) is None:
                continue
            for number, broker in self.brokers.items():
                if number != leader.broker and broker.is_running:
                    self._fetch(number, broker.log, leader)
            self._complete_pending(leader)

    def lag(self) -> None:
        """Let ``replica.lag.time.max.ms`` pass: the leader removes followers that lag.

        Mirrors ``Partition.maybeShrinkIsr``.
        """
        self._now_ms += MAX_LAG_MS + 1
        self.replicate()
        if self.leader is not None and (out_of_sync := self.leader.out_of_sync(now_ms=self._now_ms)):
            self.controller.change_isr(tuple(one for one in self.controller.partition.isr if one not in out_of_sync))
            self.replicate()

    def change_minimum(self, replicas: int) -> None:
        """Change ``min.insync.replicas``; a paused broker applies it when it continues."""
        self.controller.change_min_isr(replicas)
        for broker in self.brokers.values():
            broker.missed_minimum |= broker.process == "paused"

    def learn_minimum(self) -> None:
        """Apply the current settings to the brokers that run."""
        for broker in self.brokers.values():
            broker.missed_minimum &= not broker.is_running

    def end_sessions(self) -> None:
        """Let the sessions of brokers that do not run end."""
        for number in self.missed:
            self.brokers[number].is_fenced = True
            self.controller.end_session(number)
            self.replicate()

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
                if broker.missed_minimum:
                    raise UndeterminedHistory(
                        f"broker {number} continues, and leads before or after it learns the new minimum: settle first"
                    )
                leading.begin_epoch(partition.leader_epoch, isr, self.replicas, now_ms=self._now_ms)
                leading.raise_high_watermark(self._metadata(), now_ms=self._now_ms)
            elif leading.isr != isr:
                leading.isr = isr
                leading.raise_high_watermark(self._metadata(), now_ms=self._now_ms)
            leading.min_isr = self.settings.min_isr  # a new minimum moves no high watermark

    def _fetch(self, number: int, log: ReplicaLog, leader: PartitionLeader) -> None:
        """Let a follower fetch: truncate what diverges, send its end to the leader, append new records."""
        while log.truncate_divergence(leader.log):
            pass
        if leader.take_fetch(number, log.end_offset, self._metadata(), now_ms=self._now_ms):
            self.controller.change_isr(tuple(one for one in self.replicas if one in leader.isr))
        log.copy_from(leader.log)

    def _resign(self, broker: Broker) -> None:
        """Answer what waits at a former leader. Mirrors ``DelayedProduce.tryComplete``."""
        for one in self.pending:
            if one.leader is broker.leading:  # unreached: no generated history elects while a request waits
                one.error = "NOT_LEADER_OR_FOLLOWER"
        self.pending = [one for one in self.pending if one.error is None]
        broker.leading = None

    def _complete_pending(self, leader: PartitionLeader) -> None:
        for one in self.pending:
            completion = check_completion(
                one.end_offset,
                leader.log.high_watermark,
                maximal_in_sync_count=len(leader.isr),
                min_in_sync=leader.effective_min_isr,
            )
            if completion.done:
                one.error = completion.error
        self.pending = [one for one in self.pending if one.error is None]

    def _metadata(self) -> dict[int, BrokerMetadata]:
        return {
            number: BrokerMetadata(broker.epoch, fenced=broker.is_fenced) for number, broker in self.brokers.items()
        }

    def _fingerprint(self) -> object:
        return self.controller.partition, [
            (broker.log.end_offset, broker.log.high_watermark, broker.log.latest_epoch, broker.leading is None)
            for broker in self.brokers.values()
        ]
