"""The question of ``sticky-distribution``: a partitioner, a cluster, and how many records without a key are sent.

::

    {"partitioner": "default" | "uniform-sticky" | "round-robin" | "builtin", "seed": 7, "cluster": C,
     "records": 300, "batch_records": 16, "drain_after": [4, null, …] or null, "queue_sizes": [0, 5, …] or null}

    {"counts": [[partition id, records], …], "switches": 75}

The loop is that of ``kafka_reference.partitioning.keyless_distribution``: a batch is full at ``batch_records``, and is
drained before the record that comes ``drain_after`` of the producer's records after the one that opened it. Both lists,
if given, have one entry for each partition. Counts are in the order of ids, without the partitions that got nothing.
``switches`` counts the calls of ``onNewBatch``, or the stays that the built-in partitioner ended.

Draw k is ``mix32(seed + k·0x9e3779b97f4a7c15)``, so counts are compared exactly and nothing is left to chance. Only
3.3.0 to 3.9.x have all four partitioners: a question about one that a release lacks is *unsupported*, and both sides have
to report that.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.common.partitioner_steps import Seed, check_seed
from kafka_reference.partitioning.keyless_distribution import LARGEST_BATCH

__all__ = ["Partitioner", "StickyDistributionQuestion"]

Partitioner: TypeAlias = Literal["default", "uniform-sticky", "round-robin", "builtin"]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Age: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class StickyDistributionQuestion(Question, frozen=True):
    """Records without a key, sent to one topic by one producer, and the pace at which batches are drained."""

    partitioner: Partitioner
    """The partitioner: DefaultPartitioner, UniformStickyPartitioner, RoundRobinPartitioner or BuiltInPartitioner."""
    seed: Seed
    """The seed of the random draws, an int64: a number, or a string beyond ±2^53."""
    cluster: AskedCluster
    """The cluster during all records."""
    records: Count
    """The number of records."""
    batch_records: Annotated[int, msgspec.Meta(ge=1, le=LARGEST_BATCH)]
    """The number of records at which a batch is full."""
    drain_after: tuple[Age | None, ...] | None = None
    """For each partition, the number of records after which a batch is drained, counted over all partitions from the
    one that opened it; null: when it is full. Null for the whole list: every batch is drained when it is full."""
    queue_sizes: tuple[Int32, ...] | None = None
    """For each partition, the queue size that the built-in partitioner loads first; null: none."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name, given in (("drain_after", self.drain_after), ("queue_sizes", self.queue_sizes)):
            if given is not None and len(given) != len(self.cluster.partitions):
                raise ValueError(f"{name} has {len(given)} entries for {len(self.cluster.partitions)} partitions")
