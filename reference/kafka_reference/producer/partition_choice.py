"""The partitioner of a producer: which class it has, and what the producer asks of it.

Up to 3.2.x every producer has a partitioner, ``DefaultPartitioner`` unless another is configured. Since 3.3.0 one without
``partitioner.class`` has none: a record with a key goes by its hash, unless ``partitioner.ignore.keys`` is set, and the
accumulator chooses for all others.

Java source mirrored: ``KafkaProducer.partition``, every release.
"""

from __future__ import annotations

from typing import Protocol

from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import DefaultPartitioner, UniformStickyPartitioner
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.producer import choose_partition
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.producer.behaviour import KafkaProducerBehaviour
from kafka_reference.releases import Release

__all__ = ["PartitionChoice"]


class _Partitioner(Protocol):
    def partition(self, topic: str, key: bytes | None, cluster: Cluster) -> int: ...

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None: ...


class _RoundRobin:
    """``RoundRobinPartitioner`` with the arguments of the others: it ignores keys."""

    def __init__(self, release: Release) -> None:
        self._turns = RoundRobinPartitioner(release)

    def partition(self, topic: str, key: bytes | None, cluster: Cluster) -> int:  # noqa: ARG002 (ignored, as in Java)
        return self._turns.partition(topic, cluster)

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:
        self._turns.on_new_batch(topic, cluster, previous)


class PartitionChoice:
    """The producer's choice of a partition. ``name`` is a partitioner, None for the release's own way.

    Raises NotInThisRelease for a partitioner that the release does not have.
    """

    def __init__(self, release: Release, name: str | None, ignore_keys: bool, draws: DrawSource) -> None:
        self._release, self._ignore_keys = release, ignore_keys
        self.partitioner = _partitioner(release, name, draws)

    def choose(self, topic: str, partition: int | None, key: bytes | None, cluster: Cluster) -> int | None:
        """The partition of a record, None if the accumulator chooses; ``partition`` is the one named in the record.

        Raises IllegalArgumentException up to 0.10.0.x for a named partition that does not exist. Mirrors
        ``KafkaProducer.partition``.
        """
        if partition is not None:
            return choose_partition(partition=partition, cluster=cluster, version=self._release)
        if self.partitioner is not None:
            return self.partitioner.partition(topic, key, cluster)
        if key is not None and not self._ignore_keys:
            return partition_for_key(key, len(cluster.partitions))
        return None


def _partitioner(release: Release, name: str | None, draws: DrawSource) -> _Partitioner | None:
    match name:
        case None if not KafkaProducerBehaviour.of(release).has_default_partitioner:
            return None
        case "round-robin":
            return _RoundRobin(release)
        case "uniform-sticky":
            return UniformStickyPartitioner(release, draws)
        case _:
            return DefaultPartitioner(release, draws)
