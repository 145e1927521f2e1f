"""The kinds of ``sticky-distribution`` questions."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.scripts import cluster_labels
from kafka_conformance.rules.sticky_distribution.question import StickyDistributionQuestion
from kafka_reference.partitioning.keyless_distribution import PARTITIONERS

__all__ = ["REQUIRED_LABELS", "labels", "path"]

REQUIRED_LABELS = frozenset(
    {*PARTITIONERS, "no partitions", "no leader", "some led", "all led", "one record", "batches fill"}
    | {"no batch fills", "every batch is drained at once", "batches are drained", "partitions at different paces"}
    | {"queue sizes known"}
)


def labels(question: StickyDistributionQuestion) -> Iterator[str]:
    """Return the kinds that a question belongs to."""
    yield question.partitioner
    yield from cluster_labels(question.cluster, ())
    if question.records > 1:
        fills = "batches fill" if question.records >= question.batch_records else "no batch fills"
        yield "one record" if question.batch_records == 1 else fills
    ages = {age for age in question.drain_after or () if age is not None and age < question.batch_records}
    if ages:
        yield "every batch is drained at once" if ages == {1} else "batches are drained"
    if question.drain_after is not None and len(set(question.drain_after)) > 1:
        yield "partitions at different paces"
    if question.partitioner == "builtin" and question.queue_sizes is not None:
        yield "queue sizes known"


def path(question: StickyDistributionQuestion) -> str:
    """Return what releases differ in: the partitioner, and a topic without partitions."""
    return question.partitioner if question.cluster.partitions else "a topic without partitions"
