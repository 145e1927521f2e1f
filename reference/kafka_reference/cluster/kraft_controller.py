"""The controller of a KRaft cluster, for one partition.

Its changes of a partition are those of :mod:`kafka_reference.elections.partition_change`.

Java source mirrored: ``org.apache.kafka.controller.ReplicationControlManager``, since 3.6.0 with the newest metadata
version of the release,
https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/controller/ReplicationControlManager.java
"""

from __future__ import annotations

from dataclasses import replace

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.cluster.controller import Election, TopicSettings
from kafka_reference.elections.partition_change import ChangeRequest, change_partition
from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_registration import NO_LEADER, PartitionRegistration, merge
from kafka_reference.releases import since

__all__ = ["ControllerBehaviour", "KraftController"]

_DIRECTORY = 1


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

    def __init__(self, replicas: tuple[int, ...], settings: TopicSettings, release: str) -> None:
        self.partition = PartitionRegistration(
            replicas, replicas, replicas[0], directories=(_DIRECTORY,) * len(replicas)
        )
        self.alive = set(replicas)
        self._settings, self._release = settings, release
        self._has_elr = ControllerBehaviour.of(release).elects_eligible_leaders

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
        if restarted and self._has_elr and broker in (*self.partition.isr, *self.partition.elr):
            self._change(_without(self.partition.isr, broker), unclean_shutdown=(broker,))
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
            self.partition = replace(self.partition, elr=(), last_known_elr=())

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
        if self._change(self.partition.isr, election=election):
            return "NONE"
        return "PREFERRED_LEADER_NOT_AVAILABLE" if election == "preferred" else "ELIGIBLE_LEADERS_NOT_AVAILABLE"

    def _change(
        self, isr: tuple[int, ...], *, election: Election | None = None, unclean_shutdown: tuple[int, ...] = ()
    ) -> bool:
        """Change the in-sync replicas and elect a leader; return whether anything changed."""
        request = ChangeRequest(
            acceptable=frozenset(self.alive.difference(unclean_shutdown)),
            election=election or ("unclean" if self._settings.unclean_election else "online"),
            isr=isr,
            elr_enabled=self._has_elr,
            min_isr=min(self._settings.min_isr, len(self.partition.replicas)),
            unclean_shutdown=unclean_shutdown,
            default_directory=_DIRECTORY,
        )
        record = change_partition(self.partition, request, self._release)
        if record is not None:
            self.partition = merge(self.partition, record[0], PartitionChangeBehaviour.of(self._release))
        return record is not None


def _without(replicas: tuple[int, ...], broker: int) -> tuple[int, ...]:
    return tuple(replica for replica in replicas if replica != broker)
