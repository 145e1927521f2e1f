"""Which questions of ``leader-election`` a user can bring about.

Brokers fail and return, users reassign replicas and elect leaders, topics have settings: the controller then asks for such a
change. No user brings about a state that the controller itself never leaves behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.domains import first_reason
from kafka_conformance.rules.leader_election.question import AskedPartition, LeaderElectionQuestion
from kafka_conformance.rules.leader_election.spaces import LOST_LEADER

__all__ = ["OPTIONAL_LABELS", "domain", "plain"]

_ELR = "eligible leader replicas (KIP-966)"
_DIRECTORIES = "log directories of replicas (KIP-858)"
_OLD = "releases before 3.2.0, or metadata versions of them"
OPTIONAL_LABELS = {
    "ELR enabled": _ELR,
    "ELR disabled with members": _ELR,
    "ELR member acceptable": _ELR,
    "unclean shutdown": _ELR,
    "several last known": _ELR,
    "last known leader acceptable": _ELR,
    "last known leader not acceptable": _ELR,
    "last known leader disabled": _ELR,
    "directories": _DIRECTORIES,
    "directories assigned": _DIRECTORIES,
    "no default directory": _DIRECTORIES,
    "migration from ZooKeeper": "the migration from ZooKeeper",
    "metadata version 3.1": _OLD,
    "unclean allowed in a preferred election": _OLD,
}


def domain(question: LeaderElectionQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason((*_partition_reasons(question.partition), *_change_reasons(question)))


def plain() -> Iterator[LeaderElectionQuestion]:
    """Yield an everyday question: a broker fails."""
    yield LOST_LEADER


def _partition_reasons(partition: AskedPartition) -> Iterator[str]:
    replicas = set(partition.replicas)
    lists = (partition.isr, partition.elr, partition.last_known_elr, partition.removing, partition.adding)
    if any(len(set(one)) < len(one) for one in lists):
        yield "no list of a partition names a broker twice"
    if not replicas >= {*partition.isr, *partition.elr, *partition.removing, *partition.adding}:
        yield "the ISR, the eligible leader replicas and those of a reassignment are replicas"
    if set(partition.isr) & set(partition.elr):
        yield "an eligible leader replica is not in the ISR"
    if set(partition.removing) & set(partition.adding):
        yield "a replica is removed or added, not both"
    if partition.removing and not replicas - set(partition.removing):
        yield "a reassignment leaves a replica"
    if partition.leader != -1 and partition.leader not in partition.isr:
        yield "the leader is in the ISR"


def _change_reasons(question: LeaderElectionQuestion) -> Iterator[str]:
    replicas = question.replicas or question.partition.replicas
    lists = (question.isr or (), replicas, question.removing or (), question.adding or ())
    if any(len(set(one)) < len(one) for one in lists):
        yield "no change names a broker twice"
    if not set(replicas) >= {*(question.isr or ()), *(question.removing or ()), *(question.adding or ())}:
        yield "the wanted ISR and the replicas of a reassignment are replicas"
    if question.removing and not set(replicas) - set(question.removing):
        yield "a reassignment leaves a replica"
    if question.default_directory is None:
        yield "a controller has a default directory for each broker"
    if not question.last_leader_enabled:
        yield "no setting turns the last known leader off"
