"""Which questions of ``zookeeper-leader-election`` a user can bring about.

Brokers fail and shut down, users reassign replicas: the controller then elects. It does not meet a partition that it never
leaves behind.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.domains import first_reason
from kafka_conformance.rules.zookeeper_leader_election.question import ZookeeperLeaderElectionQuestion
from kafka_conformance.rules.zookeeper_leader_election.spaces import LOST_LEADER

__all__ = ["OPTIONAL_LABELS", "domain", "plain"]

_REASSIGNMENT = "reassignments that can be seen by partition (KIP-455)"
_RECOVERY = "a state of recovery (KIP-704)"
OPTIONAL_LABELS = {
    "no replica": "partitions without replicas, whose topic is being deleted",
    "replicas removed": _REASSIGNMENT,
    "the first candidate is removed": _REASSIGNMENT,
    "recovering": _RECOVERY,
    "recovery not supported": _RECOVERY,
}


def domain(question: ZookeeperLeaderElectionQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason(_reasons(question))


def plain() -> Iterator[ZookeeperLeaderElectionQuestion]:
    """Yield an everyday question: a broker fails."""
    yield LOST_LEADER


def _reasons(question: ZookeeperLeaderElectionQuestion) -> Iterator[str]:
    replicas = set(question.assignment)
    if not replicas:
        yield "a partition has a replica"
    if not replicas >= {*question.isr, *question.removing}:
        yield "the ISR and the removed replicas are replicas"
    if question.removing and not replicas - set(question.removing):
        yield "a reassignment leaves a replica"
    if not set(question.live) >= set(question.shutting_down):
        yield "a broker that shuts down is live"
    if not question.isr:
        yield "an ISR has a replica"
