"""What the controller does with a partition when brokers come and go, on KRaft and with ZooKeeper.

Both controllers have the same five events: a broker's session ends, a broker registers, the leader asks for other in-sync
replicas, the topic's settings change, and an administrator asks for an election.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from kafka_reference.elections.partition_registration import PartitionRegistration

__all__ = ["Controller", "Election", "TopicSettings"]

Election: TypeAlias = Literal["preferred", "unclean"]


@dataclass(slots=True)
class TopicSettings:
    """The settings of the topic that replication depends on."""

    min_isr: int
    """``min.insync.replicas``."""
    unclean_election: bool
    """``unclean.leader.election.enable``."""


class Controller(Protocol):
    """A controller: it changes ``partition`` and tracks which brokers are alive."""

    partition: PartitionRegistration
    alive: set[int]

    def end_session(self, broker: int) -> None:
        """Fence a broker that sent no heartbeat during its session timeout."""

    def register(self, broker: int, *, restarted: bool) -> None:
        """A broker came back, after a restart or within the same process."""

    def change_isr(self, isr: tuple[int, ...]) -> None:
        """The leader asks for other in-sync replicas."""

    def change_min_isr(self, replicas: int) -> None:
        """The topic's ``min.insync.replicas`` changes."""

    def elect_leaderless(self) -> None:
        """Look for a leader of a partition without one, if the topic allows unclean elections."""

    def elect(self, election: Election) -> str:
        """Elect a leader on request; return the error."""
