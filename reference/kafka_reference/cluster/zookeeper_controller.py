"""The controller of a cluster with ZooKeeper, for one partition.

Its elections are those of :mod:`kafka_reference.elections.zookeeper_leader_election`.

Java source mirrored: ``kafka.controller.KafkaController``, ``PartitionStateMachine``, ``ReplicaStateMachine``, 2.7.0 to
3.9.2, https://github.com/apache/kafka/blob/3.9.1/core/src/main/scala/kafka/controller/KafkaController.scala
"""

from __future__ import annotations

from dataclasses import replace

from kafka_reference.cluster.controller import Election, TopicSettings
from kafka_reference.elections.partition_registration import NO_LEADER, PartitionRegistration
from kafka_reference.elections.zookeeper_behaviour import ZookeeperElectionBehaviour
from kafka_reference.elections.zookeeper_leader_election import (
    ControllerContext,
    LeaderAndIsr,
    ZookeeperElection,
    elect,
)

__all__ = ["ZooKeeperController"]


class ZooKeeperController:
    """The controller of a cluster with ZooKeeper."""

    def __init__(self, replicas: tuple[int, ...], settings: TopicSettings, release: str) -> None:
        self.partition, self.alive = PartitionRegistration(replicas, replicas, replicas[0]), set(replicas)
        self._settings, self._behaviour = settings, ZookeeperElectionBehaviour.of(release)

    def end_session(self, broker: int) -> None:
        """Elect another leader if it led, and remove the broker from the in-sync replicas. Mirrors ``onBrokerFailure``.

        The removal raises the leader epoch, even if the leader stays; the last in-sync replica stays.
        """
        self.alive.discard(broker)
        self._elect_offline(unclean=self._settings.unclean_election)
        now = self.partition
        if broker not in now.isr:
            return
        self.partition = replace(
            now,
            leader=NO_LEADER if now.leader == broker else now.leader,
            leader_epoch=now.leader_epoch + 1,
            isr=now.isr if len(now.isr) == 1 else tuple(replica for replica in now.isr if replica != broker),
        )

    def register(self, broker: int, *, restarted: bool) -> None:
        """A broker came back; a partition without a leader may get one. Mirrors ``onBrokerStartup``."""
        del restarted
        self.alive.add(broker)
        self._elect_offline(unclean=self._settings.unclean_election)

    def change_isr(self, isr: tuple[int, ...]) -> None:
        """Take over the leader's in-sync replicas; the leader epoch stays. Mirrors ``processAlterPartition``."""
        self.partition = replace(self.partition, isr=isr)

    def change_min_isr(self, replicas: int) -> None:
        """The minimum is the brokers' business alone."""
        self._settings.min_isr = replicas

    def elect_leaderless(self) -> None:
        """Elect an unclean leader at once if the topic allows it. Mirrors ``processTopicUncleanLeaderElectionEnable``."""
        if self._settings.unclean_election:
            self._elect_offline(unclean=True)

    def elect(self, election: Election) -> str:
        """Elect a leader; return the error. Mirrors ``processReplicaLeaderElection``."""
        now = self.partition
        if election == "unclean":
            if now.leader in self.alive:
                return "ELECTION_NOT_NEEDED"
            return "NONE" if self._elect_offline(unclean=True) else "ELIGIBLE_LEADERS_NOT_AVAILABLE"
        if now.leader == now.replicas[0]:
            return "ELECTION_NOT_NEEDED"
        return "NONE" if self._elect("preferred") else "PREFERRED_LEADER_NOT_AVAILABLE"

    def _elect_offline(self, *, unclean: bool) -> bool:
        """Elect a leader of a partition whose leader is not alive; return whether one was."""
        return self.partition.leader not in self.alive and self._elect("offline", unclean=unclean)

    def _elect(self, election: ZookeeperElection, *, unclean: bool = False) -> bool:
        now = self.partition
        context = ControllerContext(now.replicas, (), frozenset(self.alive), frozenset())
        state = LeaderAndIsr(now.leader, now.isr, now.leader_epoch)
        after = elect(self._behaviour, election, context, state, unclean=unclean).state
        if after is not None:
            self.partition = replace(now, leader=after.leader, leader_epoch=after.leader_epoch, isr=after.isr)
        return after is not None
