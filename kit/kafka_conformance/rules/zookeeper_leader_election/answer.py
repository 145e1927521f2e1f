"""The answer of ``zookeeper-leader-election``."""

from __future__ import annotations

import msgspec

from kafka_conformance.core.answer_type import AnswerType

__all__ = ["ANSWER", "ElectedState", "ElectionAnswer", "ZookeeperLeaderElectionAnswer"]


class ElectedState(AnswerType, frozen=True):
    """The next state of the partition."""

    leader: int
    """The leader."""
    isr: tuple[int, ...]
    """The ISR."""
    leader_epoch: int
    """The leader epoch."""
    version: int
    """The version of the node in ZooKeeper that is to be replaced."""
    recovery: str | msgspec.UnsetType = msgspec.UNSET
    """``recovered`` or ``recovering``, since 3.2.0."""


class ElectionAnswer(AnswerType, frozen=True):
    """What ``Election`` returns, for the brokers of the question without those that shut down."""

    state: ElectedState | None
    """The next state; null: no leader."""
    replicas: tuple[int, ...]
    """The replicas that are notified."""


class ZookeeperLeaderElectionAnswer(AnswerType, frozen=True):
    """What the algorithm chooses, and what is made of it."""

    leader: int | None
    """The leader that the algorithm chooses among the live brokers; null: none."""
    counted: int | msgspec.UnsetType = msgspec.UNSET
    """How many unclean elections it counted, since 1.1.1."""
    election: ElectionAnswer | msgspec.UnsetType = msgspec.UNSET
    """The result of the election, since 2.4.0."""


ANSWER = ZookeeperLeaderElectionAnswer
