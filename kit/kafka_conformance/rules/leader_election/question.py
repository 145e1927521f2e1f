"""The question of ``leader-election``: a partition, the brokers that may lead it, and the requested change."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = ["AskedDirectory", "AskedPartition", "LeaderElectionQuestion"]

Broker: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Brokers: TypeAlias = tuple[Broker, ...]
SomeBrokers: TypeAlias = Annotated[tuple[Broker, ...], msgspec.Meta(min_length=1)]
Directory: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Epoch: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 2)]
Recovery: TypeAlias = Literal["recovered", "recovering"]


class AskedPartition(Question, frozen=True, omit_defaults=True):
    """A partition as the controller has it."""

    replicas: SomeBrokers
    """The assigned replicas; the first is the preferred leader. No replica is there twice."""
    isr: Brokers
    """The replicas in sync."""
    leader: Annotated[int, msgspec.Meta(ge=-1, le=2**31 - 1)]
    """The leader; -1: none."""
    removing: Brokers = ()
    """The replicas that a reassignment removes."""
    adding: Brokers = ()
    """The replicas that a reassignment adds."""
    elr: Brokers = ()
    """The eligible leader replicas, since 3.7.0."""
    last_known_elr: Brokers = ()
    """The last known eligible leader replicas, or the last known leader alone, since 3.7.0."""
    leader_epoch: Epoch = 0
    """The leader epoch."""
    partition_epoch: Epoch = 0
    """The partition epoch."""
    recovery: Recovery = "recovered"
    """Whether the leader is recovering from an unclean election, since 3.2.0."""
    directories: tuple[Directory, ...] | None = None
    """The directory of each replica, since 3.7.0, as a number: 0 migrating, 1 unassigned, 2 lost. Null: 0 for each."""


class AskedDirectory(Question, frozen=True, array_like=True):
    """A directory that is assigned to a broker."""

    broker: Broker
    """The broker."""
    directory: Directory
    """The directory."""


class LeaderElectionQuestion(Question, frozen=True, omit_defaults=True):
    """A change of a partition. A field that is null stays unchanged."""

    partition: AskedPartition
    """The partition."""
    acceptable: Brokers
    """The brokers that may lead: alive, not fenced, and not shutting down."""
    election: Literal["preferred", "online", "unclean"] = "online"
    """The kind of election: the first replica if it may lead; one that may lead; or, without one, any acceptable one."""
    isr: Brokers | None = None
    """The wanted ISR."""
    replicas: SomeBrokers | None = None
    """The wanted replicas."""
    removing: Brokers | None = None
    """The replicas that a reassignment is to remove."""
    adding: Brokers | None = None
    """The replicas that a reassignment is to add."""
    recovery: Recovery | None = None
    """The wanted state of recovery, since 3.2.0."""
    unclean_allowed: bool = False
    """Up to 3.1.x: whether a preferred election may be unclean."""
    metadata_version: Literal["3.1", "3.5", "3.6", "3.7", "newest"] = "newest"
    """The cluster's metadata version, since 3.2.0: the last one of a minor release, or the newest that the release has."""
    zookeeper_migration: bool = False
    """Whether the cluster migrates from ZooKeeper, 3.6.0 to 3.9.x."""
    elr_enabled: bool = False
    """Whether the cluster has eligible leader replicas, since 3.7.0."""
    last_leader_enabled: bool = True
    """Whether the last known leader is noted and may be elected, since 3.7.0."""
    min_isr: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] = 1
    """``min.insync.replicas`` of the topic."""
    unclean_shutdown: Brokers | None = None
    """The brokers that came back after an unclean shutdown, since 3.7.0."""
    directories: tuple[AskedDirectory, ...] = ()
    """The directories that are assigned to brokers with the change, since 3.7.0."""
    default_directory: Directory | None = 1
    """The directory of a broker without one, since 3.7.0; null: the builder was not given any."""
