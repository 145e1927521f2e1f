"""Which questions of ``round-robin-partitioner`` a user can bring about.

Records to real topics, and the batches they begin.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.step import domain_of, nearest_of
from kafka_conformance.rules.common.domains import CLUSTER_OPTIONAL_LABELS, cluster_domain, nearest_cluster
from kafka_conformance.rules.common.everyday import PARTITION_COUNTS, everyday_clusters, led_cluster
from kafka_conformance.rules.common.scripts import every_script
from kafka_conformance.rules.round_robin_partitioner.steps import (
    AnyStep,
    ClusterChange,
    NewBatch,
    RoundRobinQuestion,
    RoundRobinStep,
)

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]

OPTIONAL_LABELS = {
    **CLUSTER_OPTIONAL_LABELS,
    "asked again": "a second call of the partitioner for a record that begins a batch",
    "a batch of another topic": "a second call of the partitioner for a record that begins a batch",
}


def domain(question: RoundRobinQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return cluster_domain(question.cluster) or domain_of(question.cluster, question.steps)


def nearest(question: RoundRobinQuestion) -> RoundRobinQuestion:
    """Return the question with its clusters renumbered, and new batches of partitions that are there."""
    cluster = nearest_cluster(question.cluster)
    return RoundRobinQuestion(cluster, nearest_of(cluster, question.steps))


def plain() -> Iterator[RoundRobinQuestion]:
    """Yield short scripts to topics of one to six partitions, then rounds of larger topics."""
    first, one, some, none, six = everyday_clusters()
    record, other, keyed = RoundRobinStep("t"), RoundRobinStep("u"), RoundRobinStep("t", "6b6579")
    calls: tuple[AnyStep, ...] = (record, other, keyed, NewBatch("t", 0))
    scripts = [(cluster, steps) for cluster in (first, six) for steps in every_script(calls, 4)]
    changes: tuple[AnyStep, ...] = (record, NewBatch("t", 0), ClusterChange(some), ClusterChange(six))
    scripts += [(cluster, steps) for cluster in (first, some, none, one) for steps in every_script(changes, 3)]
    for cluster, steps in scripts:
        yield RoundRobinQuestion(cluster, (*steps, record))
    for count in PARTITION_COUNTS:
        yield RoundRobinQuestion(led_cluster(count), (record, other, keyed) * 4)
