"""Who leads a partition, and what its ISR becomes: the elections of a controller on ZooKeeper.

Candidates are looked at in the order of the assignment, and have to be live and in the ISR. Only an offline election may be
unclean.

Java source mirrored: ``kafka.controller.PartitionLeaderElectionAlgorithms``, 1.1.0 to 3.9.2, and
``kafka.controller.Election``, 2.4.0 to 3.9.2, both in Scala,
https://github.com/apache/kafka/blob/3.9.0/core/src/main/scala/kafka/controller/Election.scala
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from kafka_reference.elections.partition_registration import RecoveryState
from kafka_reference.elections.zookeeper_behaviour import ZookeeperElectionBehaviour

__all__ = [
    "ControllerContext", "ElectionResult", "LeaderAndIsr", "ZookeeperElection", "choose_leader", "elect",
    "is_unclean", "next_isr",
]  # fmt: skip

ZookeeperElection: TypeAlias = Literal["offline", "reassign", "preferred", "shutdown"]
"""Elect for a partition without a leader; by a reassignment; the first replica; away from brokers that shut down."""


@dataclass(frozen=True, slots=True)
class LeaderAndIsr:
    """The state of a partition in ZooKeeper."""

    leader: int
    """The leader; -1: none."""
    isr: tuple[int, ...]
    """The replicas in sync."""
    leader_epoch: int = 0
    """The leader epoch."""
    version: int = 0
    """The version of the node in ZooKeeper."""
    recovery: RecoveryState = "recovered"
    """Whether the leader is recovering from an unclean election (since 3.2.0)."""


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """What the controller has of brokers and of the partition's replicas."""

    assignment: tuple[int, ...]
    """The replicas, with those that are removed."""
    removing: tuple[int, ...]
    """The replicas that a reassignment removes."""
    live: frozenset[int]
    """The live brokers, with those that shut down."""
    shutting_down: frozenset[int]
    """The brokers that shut down."""

    def is_online(self, broker: int) -> bool:
        """Return whether ``broker`` is live and does not shut down. Mirrors ``isReplicaOnline``."""
        return broker in self.live and broker not in self.shutting_down


@dataclass(frozen=True, slots=True)
class ElectionResult:
    """The result of an election."""

    state: LeaderAndIsr | None
    """The next state; None without a leader."""
    replicas: tuple[int, ...]
    """The replicas that are notified: the live ones, or all, depending on the kind of election."""


def choose_leader(
    election: ZookeeperElection,
    assignment: tuple[int, ...],
    isr: Collection[int],
    live: Collection[int],
    *,
    shutting_down: Collection[int] = (),
    unclean: bool = False,
) -> int | None:
    """Return the leader, or None. Mirrors ``PartitionLeaderElectionAlgorithms``."""
    candidates = assignment[:1] if election == "preferred" else assignment
    excluded = shutting_down if election == "shutdown" else ()
    leader = _first(candidates, lambda one: one in live and one in isr and one not in excluded)
    if leader is None and election == "offline" and unclean:
        return _first(assignment, lambda one: one in live)
    return leader


def is_unclean(leader: int | None, isr: Collection[int]) -> bool:
    """Return whether ``leader`` is elected without being in sync."""
    return leader is not None and leader not in isr


def elect(
    behaviour: ZookeeperElectionBehaviour,
    election: ZookeeperElection,
    context: ControllerContext,
    state: LeaderAndIsr | None,
    *,
    unclean: bool = False,
    recovery_supported: bool = True,
) -> ElectionResult:
    """Return the next leader and ISR. ``state`` is None for an offline partition without one. Mirrors ``Election``."""
    replicas = context.assignment
    if election == "reassign":
        replicas = tuple(one for one in replicas if one not in context.removing)
    live = tuple(one for one in replicas if one in context.live and (election == "shutdown" or context.is_online(one)))
    told = live if election in ("offline", "shutdown") else replicas
    if state is None:
        return ElectionResult(None, told)
    leader = choose_leader(election, replicas, state.isr, live, shutting_down=context.shutting_down, unclean=unclean)
    if leader is None:
        return ElectionResult(None, told)
    recovers = is_unclean(leader, state.isr) and behaviour.has_recovery_state and recovery_supported
    after = replace(
        state,
        leader=leader,
        isr=next_isr(election, context, state.isr, leader),
        leader_epoch=state.leader_epoch + 1,
        recovery="recovering" if recovers else state.recovery,
    )
    return ElectionResult(after, told)


def next_isr(
    election: ZookeeperElection, context: ControllerContext, isr: tuple[int, ...], leader: int
) -> tuple[int, ...]:
    """Return the ISR of the elected leader.

    An offline election keeps the replicas that are online, a controlled shutdown those that do not shut down, and the other
    elections all of them, live or not.
    """
    if election == "offline":
        return tuple(filter(context.is_online, isr)) if leader in isr else (leader,)
    if election == "shutdown":
        return tuple(one for one in isr if one not in context.shutting_down)
    return isr


def _first(replicas: Iterable[int], is_candidate: Callable[[int], bool]) -> int | None:
    return next(filter(is_candidate, replicas), None)
