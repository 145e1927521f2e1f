"""The controller of a cluster with ZooKeeper, for one partition.

Java source mirrored: ``kafka.controller.KafkaController``, ``PartitionStateMachine``, ``ReplicaStateMachine`` and
``Election``, 2.7.0 to 3.9.2, https://github.com/apache/kafka/blob/3.9.1/core/src/main/scala/kafka/controller/KafkaController.scala
"""

from __future__ import annotations

from dataclasses import replace

from kafka_reference.cluster.controller import Election, TopicSettings
from kafka_reference.elections.partition_registration import NO_LEADER, PartitionRegistration

__all__ = ["ZooKeeperController"]


class ZooKeeperController:
    """The controller of a cluster with ZooKeeper."""

    def __init__(self, replicas: tuple[int, ...], settings: TopicSettings) -> None:
        self.partition, self.alive = PartitionRegistration(replicas, replicas, replicas[0]), set(replicas)
        self._settings = settings

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
        preferred = now.replicas[0]
        if now.leader == preferred:
            return "ELECTION_NOT_NEEDED"
        if preferred not in self.alive or preferred not in now.isr:
            return "PREFERRED_LEADER_NOT_AVAILABLE"
        self.partition = replace(now, leader=preferred, leader_epoch=now.leader_epoch + 1)
        return "NONE"

    def _elect_offline(self, *, unclean: bool) -> bool:
        """Elect a leader of a partition whose leader is not alive; return whether one was. Mirrors ``leaderForOffline``."""
        now = self.partition
        if now.leader in self.alive:
            return False
        live = [replica for replica in now.replicas if replica in self.alive]
        in_sync = [replica for replica in live if replica in now.isr]
        candidates = in_sync or (live if unclean else [])
        if not candidates:
            return False
        leader = candidates[0]
        isr = tuple(replica for replica in now.isr if replica in self.alive) if in_sync else (leader,)
        self.partition = replace(now, leader=leader, leader_epoch=now.leader_epoch + 1, isr=isr)
        return True
