"""Questions for ``sticky-distribution``: a strategy, and a finite space that is asked whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, islice, product

from hypothesis import strategies as st

from kafka_conformance.rules.common.clusters import AskedCluster, clusters
from kafka_conformance.rules.common.partitioner_steps import SEEDS
from kafka_conformance.rules.common.scripts import SMALL_CLUSTERS
from kafka_conformance.rules.sticky_distribution.question import Partitioner, StickyDistributionQuestion
from kafka_reference.partitioning.keyless_distribution import LARGEST_BATCH, PARTITIONERS

__all__ = ["every_small_question", "questions"]


def _for_each(cluster: AskedCluster, pattern: Sequence[int | None]) -> tuple[int | None, ...]:
    """Return one entry of ``pattern`` for each partition, round and round."""
    return tuple(islice(cycle(pattern), len(cluster.partitions)))


def every_small_question() -> Iterator[StickyDistributionQuestion]:
    """Return 30 records by every partitioner, with every small cluster, batch size, pace, and queue sizes or none."""
    paces: tuple[tuple[int | None, ...] | None, ...] = (None, (1,), (1, None), (2, 3), (3, None, 2))
    for partitioner, cluster, batch, pace, sizes in product(
        PARTITIONERS, SMALL_CLUSTERS, (1, 2, 5, 31), paces, (None, (0, 3, 1))
    ):
        drain = None if pace is None else _for_each(cluster, pace)
        queues = None if sizes is None else tuple(islice(sizes, len(cluster.partitions)))
        yield StickyDistributionQuestion(partitioner, 0, cluster, 30, batch, drain, queues)  # type: ignore[arg-type]


# One string of bytes selects everything but the seed and the cluster; bytes shrink towards 0, and 0 is the simplest.
_BATCHES = (16, 1, 2, 3, 4, 5, 7, 8, 16, 16, 100, LARGEST_BATCH)
_AGES = (None, 1, 2, 3, 4, 5, 8, 16, 20, None)
_QUEUES = (0, 1, 0, 5, 2, 9, 100, -1, 2**31 - 1)
_LETTERS = st.binary(min_size=3, max_size=10)
_RECORDS = st.one_of(st.integers(0, 40), st.integers(0, 250))
_CLUSTERS = st.one_of(clusters(most=8), clusters())


@st.composite
def questions(draw: st.DrawFn) -> StickyDistributionQuestion:
    """Return up to 250 records by any partitioner, with any cluster, batch size, paces and queue sizes."""
    partitioner: Partitioner = draw(st.sampled_from(PARTITIONERS))
    cluster, records, seed = draw(_CLUSTERS), draw(_RECORDS), draw(SEEDS)
    batch, known, *rest = draw(_LETTERS)
    half = len(rest) // 2 + 1
    drain = None if known & 1 else _for_each(cluster, [_AGES[letter % len(_AGES)] for letter in rest[:half]])
    queues = (
        None if known & 2 or not rest[half:] else _for_each(cluster, [_QUEUES[x % len(_QUEUES)] for x in rest[half:]])
    )
    return StickyDistributionQuestion(
        partitioner,
        seed,
        cluster,
        records,
        _BATCHES[batch % len(_BATCHES)],
        drain,
        queues,  # type: ignore[arg-type]
    )
