"""Who leads a partition: the elections of a KRaft controller.

A candidate is in the ISR, or, if that is empty, among the eligible leader replicas (since 3.7.0), and acceptable: alive, and
not shutting down. Candidates are looked at in the order of the replicas.

Java source mirrored: ``org.apache.kafka.controller.PartitionChangeBuilder``: ``electLeader`` and what it calls,
``shouldTryElection`` and ``BestLeader`` up to 3.1.x,
https://github.com/apache/kafka/blob/4.3.1/metadata/src/main/java/org/apache/kafka/controller/PartitionChangeBuilder.java
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kafka_reference.elections.partition_change_behaviour import PartitionChangeBehaviour
from kafka_reference.elections.partition_registration import NO_LEADER, PartitionRegistration

__all__ = ["Candidates", "Elected", "Election", "elect_leader", "needs_election"]

Election: TypeAlias = Literal["preferred", "online", "unclean"]
"""The first replica if it may lead; a replica that may lead; or, without one, any that is acceptable."""


@dataclass(frozen=True, slots=True)
class Elected:
    """The result of an election."""

    leader: int
    """The elected replica; :data:`NO_LEADER` for none."""
    unclean: bool
    """Whether it may lack committed records."""


_NOBODY = Elected(NO_LEADER, unclean=False)


@dataclass(frozen=True, slots=True)
class Candidates:
    """A partition with its requested state, and the brokers that may lead it."""

    partition: PartitionRegistration
    """The partition before the change."""
    replicas: tuple[int, ...]
    """The wanted replicas."""
    isr: tuple[int, ...]
    """The wanted ISR."""
    elr: tuple[int, ...]
    """The wanted eligible leader replicas."""
    is_acceptable: Callable[[int], bool]
    """Whether a broker may lead at all."""
    last_leader_allowed: bool
    """Whether the last known leader may be elected."""

    def may_lead(self, replica: int) -> bool:
        """Return whether ``replica`` is a candidate. Mirrors ``isValidNewLeader``."""
        in_sync = replica in self.isr or (not self.isr and replica in self.elr)
        return in_sync and self.is_acceptable(replica)

    def first(self, replicas: Iterable[int], *, is_candidate: Callable[[int], bool]) -> int | None:
        """Return the first candidate of ``replicas``."""
        return next((replica for replica in replicas if is_candidate(replica)), None)


def needs_election(
    behaviour: PartitionChangeBehaviour, election: Election, partition: PartitionRegistration, isr: tuple[int, ...]
) -> bool:
    """Return whether an election takes place at all. Mirrors ``shouldTryElection``."""
    if not behaviour.leader_in_isr_stays or partition.leader not in isr:
        return True
    return election == "preferred" and partition.leader != partition.replicas[0]


def elect_leader(
    behaviour: PartitionChangeBehaviour, election: Election, candidates: Candidates, *, unclean_allowed: bool
) -> Elected:
    """Return the elected leader. ``unclean_allowed`` allows an unclean one in a preferred election, up to 3.1.x."""
    leader = _clean_leader(behaviour, election, candidates)
    if leader is not None:
        return Elected(leader, unclean=False)
    if _may_elect_last_leader(behaviour, candidates):
        return Elected(candidates.partition.last_known_elr[0], unclean=True)
    if election == "unclean" or (behaviour.unclean_counts_in_preferred_election and unclean_allowed):
        unclean = candidates.first(candidates.replicas, is_candidate=candidates.is_acceptable)
        if unclean is not None:
            return Elected(unclean, unclean=True)
    return _NOBODY


def _clean_leader(behaviour: PartitionChangeBehaviour, election: Election, candidates: Candidates) -> int | None:
    """Return the preferred replica if it is asked for, else the leader of before, else the first candidate."""
    if not behaviour.current_leader_has_no_precedence:
        preferred = candidates.replicas[0]
        if election == "preferred" and candidates.may_lead(preferred):
            return preferred
        if candidates.may_lead(candidates.partition.leader):
            return candidates.partition.leader
    return candidates.first(candidates.replicas, is_candidate=candidates.may_lead)


def _may_elect_last_leader(behaviour: PartitionChangeBehaviour, candidates: Candidates) -> bool:
    """Return whether the last known leader is elected. Mirrors ``canElectLastKnownLeader``.

    The field holds the last known leader only if it has one entry.
    """
    last_known = candidates.partition.last_known_elr
    if not candidates.last_leader_allowed or candidates.elr or candidates.isr or len(last_known) != 1:
        return False
    return behaviour.elects_fenced_last_leader or candidates.is_acceptable(last_known[0])
