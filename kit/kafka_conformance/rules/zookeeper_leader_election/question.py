"""The question of ``zookeeper-leader-election``: a partition, the brokers, and the kind of election."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = ["ZookeeperLeaderElectionQuestion"]

Broker: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Brokers: TypeAlias = tuple[Broker, ...]
Epoch: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 2)]


class ZookeeperLeaderElectionQuestion(Question, frozen=True, omit_defaults=True):
    """An election of a partition's leader."""

    election: Literal["offline", "reassign", "preferred", "shutdown"]
    """Elect for a partition without a leader; by a reassignment; the first replica; away from brokers that shut down."""
    assignment: Brokers
    """The replicas; the first is the preferred leader."""
    isr: Brokers
    """The replicas in sync."""
    live: Brokers
    """The live brokers, with those that shut down."""
    shutting_down: Brokers = ()
    """The brokers that shut down."""
    unclean: bool = False
    """``unclean.leader.election.enable`` of the topic."""
    removing: Brokers = ()
    """The replicas that a reassignment removes, since 2.4.0."""
    leader: Annotated[int, msgspec.Meta(ge=-1, le=2**31 - 1)] = -1
    """The leader before, since 2.4.0; -1: none."""
    leader_epoch: Epoch = 0
    """The leader epoch before, since 2.4.0."""
    version: Epoch = 0
    """The version of the partition's node in ZooKeeper, since 2.4.0."""
    recovery: Literal["recovered", "recovering"] = "recovered"
    """Whether the leader is recovering from an unclean election, since 3.2.0."""
    recovery_supported: bool = True
    """Whether the cluster's version has a state of recovery, since 3.2.0."""
    known: bool = True
    """Whether the partition has a state in ZooKeeper, since 2.4.0; only an offline election meets one without."""
