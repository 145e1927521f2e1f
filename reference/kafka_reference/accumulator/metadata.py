"""What the accumulator receives of the cluster: leaders, and partitions in an order that shows.

Since 3.6.1 that is a MetadataSnapshot, which keeps partitions in a HashMap by topic and partition. Its lists come in *that*
order: which partition of a node is drained first, and which one a draw selects, depends on hash codes. Up to 3.6.0 it is a
Cluster, whose lists keep the order of the metadata.

A snapshot also holds the epoch of each leader. A batch whose last attempt failed compares epochs to detect that its leader
has changed (KAFKA-15415).

A node without partitions has an empty list. A node that is not in the cluster has None, and a topic that is not in the
cluster has no partitions.

Java source mirrored: ``Cluster``, every release; ``MetadataSnapshot``, since 3.6.1 (there ``MetadataCache``).
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_reference.accumulator.behaviour import MetadataSnapshotBehaviour
from kafka_reference.arguments import INT32, checked, proven_by
from kafka_reference.java.hash_maps import capacity_for, partition_hash, table_order
from kafka_reference.partitioning.cluster import Cluster, Partition
from kafka_reference.releases import NEWEST, Release

__all__ = ["Metadata"]


@checked(partition=INT32, version=proven_by("record-accumulator"))
class Metadata:
    """A cluster in which each of ``topics`` has the same partitions; ``epochs`` go with the partitions, None for unknown.

    Without a ``cluster``, there is one partition, led by node 0.

        >>> Metadata(topics=["orders"]).leader("orders", 0)
        0
        >>> Metadata("4.4.0", Cluster.of(3, nodes=3), ["t"]).node_partitions(2)
        [('t', 2)]
    """

    def __init__(
        self,
        version: str | Release = NEWEST,
        cluster: Cluster | None = None,
        topics: Sequence[str] = ("t",),
        epochs: Sequence[int | None] = (),
    ) -> None:
        cluster = Cluster.of(1) if cluster is None else cluster
        behaviour = MetadataSnapshotBehaviour.of(version)
        partitions = {(topic, one.id): one for topic in topics for one in cluster.partitions}
        order = list(partitions)
        if behaviour.partitions_in_hash_order:
            order = list(table_order(partitions, partition_hash, capacity_for(len(partitions))))
        self._leaders = {key: one.leader for key, one in partitions.items()}
        self._clusters = {topic: Cluster(cluster.nodes, self._ordered(topic, order, partitions)) for topic in topics}
        self._empty = Cluster(cluster.nodes, ())
        self._by_node: dict[int, list[tuple[str, int]]] = {node.id: [] for node in cluster.nodes}
        for key in order:
            leader = self._leaders[key]
            if leader is not None:
                self._by_node[leader].append(key)
        known = list(zip(cluster.partitions, epochs, strict=False)) if behaviour.has_leader_epochs else []
        self._epochs = {(topic, one.id): epoch for one, epoch in known for topic in topics}
        self.racks = cluster.racks

    @staticmethod
    def _ordered(
        topic: str, order: Sequence[tuple[str, int]], partitions: dict[tuple[str, int], Partition]
    ) -> tuple[Partition, ...]:
        return tuple(partitions[key] for key in order if key[0] == topic)

    def leader(self, topic: str, partition: int) -> int | None:
        """Return the id of the node that leads this partition, or None. Mirrors ``leaderFor``."""
        return self._leaders.get((topic, partition))

    def topic_cluster(self, topic: str) -> Cluster:
        """Return the cluster with the partitions of this topic alone."""
        return self._clusters.get(topic, self._empty)

    def node_partitions(self, node: int) -> Sequence[tuple[str, int]] | None:
        """Return the partitions led by this node, in order; None for a node that is not in the cluster."""
        return self._by_node.get(node)

    def leader_epoch(self, topic_partition: tuple[str, int]) -> int | None:
        """Return the epoch of the partition's leader, or None if unknown. Mirrors ``leaderEpochFor``."""
        return self._epochs.get(topic_partition)
