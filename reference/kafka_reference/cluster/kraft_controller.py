"""The controller of a KRaft cluster, for one partition.

Java source mirrored: ``org.apache.kafka.controller.ReplicationControlManager`` and ``PartitionChangeBuilder``, 3.6.0 to
4.4.0 with the newest metadata version of the release,
https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.cluster.controller import NO_LEADER, Election, PartitionMetadata, TopicSettings
from kafka_reference.releases import since

__all__ = ["ControllerBehaviour", "KraftController"]


@behaviour("ReplicationControlManager", since("3.6.0"))
class ControllerBehaviour(Behaviour):
    """What the controller of a newly formatted cluster does."""

    elects_eligible_leaders: bool = holds(
        since("4.1.0"),
        "A new cluster has eligible leader replicas: the ISR may become empty, and who left it below its minimum may lead.",
        "KIP-966",
    )


class KraftController:
    """The controller of a KRaft cluster."""

    def __init__(self, partition: PartitionMetadata, settings: TopicSettings, *, eligible_leaders: bool) -> None:
        self.partition, self.alive = partition, set(partition.replicas)
        self._settings, self._eligible_leaders = settings, eligible_leaders

    @property
    def _min_isr(self) -> int:
        return min(self._settings.min_isr, len(self.partition.replicas))

    def end_session(self, broker: int) -> None:
        """Fence a broker: it leaves the in-sync replicas, and cannot lead. Mirrors ``handleBrokerFenced``."""
        self.alive.discard(broker)
        if broker in self.partition.isr:
            self._change(_without(self.partition.isr, broker))

    def register(self, broker: int, *, restarted: bool) -> None:
        """Unfence a broker; a leaderless partition may get a leader. Mirrors ``handleBrokerUnfenced``.

        A killed broker that starts again was not shut down cleanly: where there are eligible leader replicas, it is no
        longer one of them (``handleBrokerShutdown``).
        """
        if restarted and self._eligible_leaders and broker in (*self.partition.isr, *self.partition.elr):
            self._change(_without(self.partition.isr, broker), unclean_shutdown=broker)
        self.alive.add(broker)
        if self.partition.leader == NO_LEADER:
            self._change(self.partition.isr)

    def change_isr(self, isr: tuple[int, ...]) -> None:
        """Take over the leader's in-sync replicas. Mirrors ``alterPartition``."""
        self._change(isr)

    def change_min_isr(self, replicas: int) -> None:
        """Change the minimum; that clears the eligible leader replicas. Mirrors ``createClearElrRecordsAsNeeded``."""
        if self._settings.min_isr != replicas:
            self._settings.min_isr = replicas
            self.partition = replace(self.partition, elr=(), last_known_leader=None)

    def elect_leaderless(self) -> None:
        """Elect a leader of a leaderless partition, an unclean one if need be.

        Mirrors ``maybeElectUncleanLeaders``, which runs every ``unclean.leader.election.interval.ms``.
        """
        if self.partition.leader == NO_LEADER and self._settings.unclean_election:
            self._change(self.partition.isr, election="unclean")

    def elect(self, election: Election) -> str:
        """Elect a leader; return the error. Mirrors ``electLeader``."""
        leader = self.partition.leader
        if leader == self.partition.replicas[0] if election == "preferred" else leader != NO_LEADER:
            return "ELECTION_NOT_NEEDED"
        before = self.partition
        self._change(before.isr, election=election)
        if self.partition != before:
            return "NONE"
        return "PREFERRED_LEADER_NOT_AVAILABLE" if election == "preferred" else "ELIGIBLE_LEADERS_NOT_AVAILABLE"

    def _change(
        self,
        isr: tuple[int, ...],
        *,
        election: Literal["preferred", "online", "unclean"] | None = None,
        unclean_shutdown: int | None = None,
    ) -> None:
        """Apply a change of the in-sync replicas, and elect a leader. Mirrors ``PartitionChangeBuilder.build``."""
        if election is None:
            election = "unclean" if self._settings.unclean_election else "online"
        elr = self._eligible(isr, unclean_shutdown)
        leader, unclean = self._elect(election, isr, elr, unclean_shutdown)
        now = self.partition
        if leader in elr and leader != now.leader:
            isr, elr = (leader,), _without(elr, leader)
        if unclean:
            isr, elr = (leader,), ()
        if not isr and not self._eligible_leaders:
            isr = now.isr  # the last in-sync replica stays
        self.partition = replace(
            now,
            leader=leader,
            leader_epoch=now.leader_epoch + (leader != now.leader),
            isr=isr,
            elr=elr,
            last_known_leader=self._last_known(leader),
        )

    def _eligible(self, isr: tuple[int, ...], unclean_shutdown: int | None) -> tuple[int, ...]:
        """Return the eligible leader replicas: who left the in-sync replicas while they were below the minimum."""
        if not self._eligible_leaders or len(isr) >= self._min_isr:
            return ()
        candidates = {*self.partition.elr, *self.partition.isr}
        return tuple(sorted(one for one in candidates if one not in isr and one != unclean_shutdown))

    def _elect(
        self,
        election: Literal["preferred", "online", "unclean"],
        isr: tuple[int, ...],
        elr: tuple[int, ...],
        excluded: int | None,
    ) -> tuple[int, bool]:
        """Return the leader, and whether it is elected uncleanly. Mirrors ``PartitionChangeBuilder.electLeader``."""
        now = self.partition
        acceptable = [replica for replica in now.replicas if replica in self.alive and replica != excluded]
        valid = [replica for replica in acceptable if replica in (isr or elr)]
        if election == "preferred" and now.replicas[0] in valid:
            return now.replicas[0], False
        if now.leader in valid:
            return now.leader, False
        if valid:
            return valid[0], False
        if not isr and not elr and now.last_known_leader in acceptable:
            return now.last_known_leader, True
        if election == "unclean" and acceptable:
            return acceptable[0], True
        return NO_LEADER, False

    def _last_known(self, leader: int) -> int | None:
        if not self._eligible_leaders or leader != NO_LEADER:
            return None
        now = self.partition
        return now.last_known_leader if now.leader == NO_LEADER else now.leader


def _without(replicas: tuple[int, ...], broker: int) -> tuple[int, ...]:
    return tuple(replica for replica in replicas if replica != broker)
