"""Questions for ``producer-partition``: a strategy, and a finite space that is asked whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition, clusters
from kafka_conformance.rules.common.keys import small_keys
from kafka_conformance.rules.producer_partition.question import (
    AskedConfig,
    AskedPartitioner,
    AskedRecord,
    ProducerPartitionQuestion,
)

__all__ = ["QUESTIONS", "every_combination"]

_NODES = (AskedNode(0), AskedNode(1, "a"))
_CLUSTERS = tuple(
    AskedCluster(_NODES, tuple(AskedPartition(number, leader) for number, leader in layout))
    for layout in ((), ((0, None),), ((0, 0), (1, None), (2, 1)), ((5, None), (3, 1)))
)


def every_combination() -> Iterator[ProducerPartitionQuestion]:
    """Return every combination of edge partitions, keys, settings, results of a custom partitioner, clusters and draws."""
    partitions = (None, -(2**31), -1, 0, 2, 3, 2**31 - 1)
    returned = (None, -(2**31), -1, 0, 7)
    for partition, key, ignore, returns, cluster, draw in product(
        partitions, (None, "", "80", "616263"), (False, True), returned, _CLUSTERS, (0, -1, 2**31 - 1)
    ):
        custom = None if returns is None else AskedPartitioner(returns)
        yield ProducerPartitionQuestion(AskedRecord(partition, key), AskedConfig(ignore, custom), cluster, (draw,))


_INTS = st.integers(-(2**31), 2**31 - 1)
_CLUSTER = clusters()
_EXPLICIT = st.one_of(st.none(), st.none(), st.integers(-2, 6), _INTS)
_KEY = st.one_of(st.none(), small_keys().map(bytes.hex))
_CONFIG = st.builds(
    AskedConfig,
    st.booleans(),
    st.one_of(st.none(), st.none(), st.integers(-3, 9).map(AskedPartitioner), _INTS.map(AskedPartitioner)),
)
QUESTIONS = st.builds(
    ProducerPartitionQuestion, st.builds(AskedRecord, _EXPLICIT, _KEY), _CONFIG, _CLUSTER, st.tuples(_INTS)
)
