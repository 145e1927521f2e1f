"""Which questions of ``sticky-distribution`` a user can bring about.

Records to a real topic, with queues as they can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice, product

from msgspec.structs import replace

from kafka_conformance.rules.common.domains import CLUSTER_OPTIONAL_LABELS, cluster_domain, nearest_cluster
from kafka_conformance.rules.common.endless import endless_cache
from kafka_conformance.rules.common.everyday import everyday_clusters
from kafka_conformance.rules.sticky_distribution.adapter import ask
from kafka_conformance.rules.sticky_distribution.question import StickyDistributionQuestion
from kafka_reference.partitioning.keyless_distribution import PARTITIONERS
from kafka_reference.releases import Release

__all__ = ["OPTIONAL_LABELS", "domain", "endless", "nearest", "plain"]

_LONGEST_QUEUE = 1_000_000
# A minute of the reference, which places 150,000 records a second or more.
_MOST_RECORDS = 10_000_000
OPTIONAL_LABELS = {
    **{label: CLUSTER_OPTIONAL_LABELS[label] for label in ("no leader", "some led")},
    "queue sizes known": "statistics of queue sizes",
    "partitions at different paces": "brokers that take batches at their own pace",
}


def domain(question: StickyDistributionQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    if any(not 0 <= size <= _LONGEST_QUEUE for size in question.queue_sizes or ()):
        return "a queue has 0 to 1,000,000 batches"
    return cluster_domain(question.cluster)


_endless_cache = endless_cache(ask)


def endless(question: StickyDistributionQuestion, release: Release) -> str:
    """Return why the question takes too many steps, or has no end, or ""."""
    if question.records > _MOST_RECORDS:
        return f"{question.records} records: each is placed by itself; ask about {_MOST_RECORDS} or fewer"
    return _endless_cache(question, release)


def nearest(question: StickyDistributionQuestion) -> StickyDistributionQuestion:
    """Return the question with its cluster renumbered, and queues as they can be."""
    if not question.cluster.partitions:
        return replace(question, cluster=nearest_cluster(question.cluster), drain_after=None, queue_sizes=None)
    sizes = question.queue_sizes
    sizes = None if sizes is None else tuple(size % 1000 for size in sizes)
    return replace(question, cluster=nearest_cluster(question.cluster), queue_sizes=sizes)


def plain() -> Iterator[StickyDistributionQuestion]:
    """Yield 40 records by every partitioner to everyday topics, with batches of 1 to 50 records and several paces."""
    paces: tuple[tuple[int | None, ...] | None, ...] = (None, (1,), (2, 3), (3, None, 2))
    for partitioner, cluster, batch, pace, queued in product(
        PARTITIONERS, everyday_clusters(), (1, 2, 5, 50), paces, (False, True)
    ):
        count = len(cluster.partitions)
        drain = None if pace is None else tuple(islice(cycle(pace), count))
        queues = tuple(islice(cycle((0, 3, 1)), count)) if queued else None
        yield StickyDistributionQuestion(partitioner, 7, cluster, 40, batch, drain, queues)  # type: ignore[arg-type]
