"""What each release's elections by a controller on ZooKeeper do, as one record."""

from __future__ import annotations

from typing import Final

from kafka_reference.behaviour import Behaviour, behaviour, holds
from kafka_reference.releases import since

__all__ = ["ZOOKEEPER_ELECTIONS", "ZookeeperElectionBehaviour"]

ZOOKEEPER_ELECTIONS: Final = since("1.1.0", until="3.9.x")
"""The releases that have ``PartitionLeaderElectionAlgorithms``."""


@behaviour("PartitionLeaderElectionAlgorithms", ZOOKEEPER_ELECTIONS)
class ZookeeperElectionBehaviour(Behaviour):
    """What changed in elections by a controller on ZooKeeper, oldest change first."""

    counts_unclean_elections: bool = holds(
        since("1.1.1", until="3.9.x"),
        "An unclean election that finds a leader is counted in ``UncleanLeaderElectionsPerSec``.",
        "KAFKA-6752",
    )
    has_election: bool = holds(
        since("2.4.0", until="3.9.x"),
        "``Election`` takes the leader and the ISR of a partition, and returns the next ones.",
        "KAFKA-9089",
    )
    has_recovery_state: bool = holds(
        since("3.2.0", until="3.9.x"), "The leader of an unclean election is recovering (KIP-704).", "KAFKA-13587"
    )
