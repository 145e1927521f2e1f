"""Domains that several rules share: clusters, scripts of steps for a partitioner.

A question is in domain if a user of some Kafka client can bring it about through that client's public interface. A domain
returns why no user can, or "" for a question in domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafka_conformance.rules.common.clusters import AskedCluster, AskedPartition
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep
from kafka_conformance.rules.common.scripts import ClusterStep

__all__ = [
    "CLUSTER_OPTIONAL_LABELS", "LARGEST_TOPIC", "cluster_domain", "first_reason",
    "nearest_cluster", "nearest_script", "partition_count_domain", "script_domain",
]  # fmt: skip

LARGEST_TOPIC = 10_000
"""Partitions of a topic: a controller refuses a request that creates more (KAFKA-14996), and many clients list them all."""

_LEADERS = "a partitioner that sees which partitions have a leader"
CLUSTER_OPTIONAL_LABELS = {
    "no leader": _LEADERS,
    "some led": _LEADERS,
    "the cluster changes": "metadata that change under a partitioner",
}


def first_reason(reasons: Iterable[str]) -> str:
    """Return the first reason that is not empty, or ""."""
    return next(filter(None, reasons), "")


def partition_count_domain(count: int) -> str:
    """Return why no topic has ``count`` partitions."""
    if count < 1:
        return "a topic has at least one partition"
    return "" if count <= LARGEST_TOPIC else f"no request creates a topic of more than {LARGEST_TOPIC:,} partitions"


def cluster_domain(cluster: AskedCluster) -> str:
    """Return why no client has these metadata of a topic.

    Partitions are numbered from 0 without gaps. In which order metadata list them is the broker's choice, not the user's.
    """
    ids = [partition.id for partition in cluster.partitions]
    if reason := partition_count_domain(len(ids)):
        return reason
    if ids != list(range(len(ids))):
        return "the partitions of a topic are numbered from 0, without gaps and in order"
    nodes = {node.id for node in cluster.nodes}
    if any(partition.leader is not None and partition.leader not in nodes for partition in cluster.partitions):
        return "a leader is a broker of the cluster"
    return "" if all(node >= 0 for node in nodes) else "the id of a broker is 0 or more"


def script_domain(cluster: AskedCluster, steps: Sequence[Any]) -> str:
    """Return why a partitioner is never called like this.

    The producer announces a new batch of the partition that a record got, by whatever rule: one of the topic's partitions.
    """
    clusters = [cluster, *(step.cluster for step in steps if isinstance(step, ClusterStep))]
    return first_reason(map(cluster_domain, clusters)) or first_reason(_announced(cluster, steps))


def _announced(cluster: AskedCluster, steps: Sequence[Any]) -> Iterator[str]:
    for step in steps:
        if isinstance(step, ClusterStep):
            cluster = step.cluster
        elif isinstance(step, NewBatchStep) and not 0 <= step.previous < len(cluster.partitions):
            yield "a new batch is announced for a partition of the topic"


def nearest_cluster(cluster: AskedCluster) -> AskedCluster:
    """Return the cluster with its partitions renumbered in the order given, and with one partition if it has none."""
    partitions = cluster.partitions or (AskedPartition(0, cluster.nodes[0].id if cluster.nodes else None),)
    return AskedCluster(cluster.nodes, tuple(AskedPartition(place, one.leader) for place, one in enumerate(partitions)))


def nearest_script(cluster: AskedCluster, steps: Sequence[Any]) -> tuple[AskedCluster, tuple[Any, ...]]:
    """Return the cluster and the steps with clusters renumbered, and new batches of partitions that are there."""
    first = now = nearest_cluster(cluster)
    nearest: list[Any] = []
    for step in steps:
        if isinstance(step, ClusterStep):
            now = nearest_cluster(step.cluster)
            nearest.append(ClusterStep(now))
        elif isinstance(step, NewBatchStep):
            nearest.append(NewBatchStep(step.topic, step.previous % len(now.partitions)))
        else:
            nearest.append(step)
    return first, tuple(nearest)
