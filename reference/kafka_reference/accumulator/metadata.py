"""What the accumulator sees of the cluster, and in which order.

To 3.6.0 it is handed a Cluster, whose lists keep the order in which the partitions were given. From 3.6.1 on it is handed
a MetadataSnapshot, which keeps partitions in a HashMap by topic and partition, so the lists come in *its* order: which
partition of a node is drained first, and which one a draw names, depends on hash codes. A snapshot also knows the epoch of
each leader, which tells a batch that waits to be sent again that its leader is another one by now (KAFKA-15415).

A node without partitions has an empty list, and so has a node nobody knows of, but for 0.10, where it has none at all,
which is a NullPointerException for who drains it. A topic nobody knows of has no partitions.

Java source mirrored: ``Cluster``, 0.10.0.1 to 4.4.0; ``MetadataSnapshot``, 3.6.1 (there ``MetadataCache``) to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_reference.java.hash_maps import capacity_for, partition_hash, table_order
from kafka_reference.partitioning.cluster import Cluster, Partition
from kafka_reference.releases import Release, parse_release, since

__all__ = ["SNAPSHOTS", "Metadata"]

SNAPSHOTS = since("3.6.1")


class Metadata:
    """A cluster in which each of ``topics`` has the same partitions; ``epochs`` go with the partitions, None for unknown."""

    def __init__(
        self, version: str | Release, cluster: Cluster, topics: Sequence[str], epochs: Sequence[int | None] = ()
    ) -> None:
        snapshot = parse_release(version) in SNAPSHOTS
        places = {(topic, one.id): one for topic in topics for one in cluster.partitions}
        order = table_order(places, partition_hash, capacity_for(len(places))) if snapshot else list(places)
        self._leaders = {key: one.leader for key, one in places.items()}
        self._of_topic = {topic: Cluster(cluster.nodes, self._ordered(topic, order, places)) for topic in topics}
        self._none = Cluster(cluster.nodes, ())
        self._of_node: dict[int, list[tuple[str, int]]] = {node.id: [] for node in cluster.nodes}
        for key in order:
            leader = self._leaders[key]
            if leader is not None:
                self._of_node[leader].append(key)
        known = zip(cluster.partitions, epochs, strict=False) if snapshot else ()
        self._epochs = {(topic, one.id): epoch for one, epoch in list(known) for topic in topics}
        self.racks = cluster.racks

    @staticmethod
    def _ordered(
        topic: str, order: Sequence[tuple[str, int]], places: dict[tuple[str, int], Partition]
    ) -> tuple[Partition, ...]:
        return tuple(places[key] for key in order if key[0] == topic)

    def leader(self, topic: str, partition: int) -> int | None:
        """The id of the node that leads this partition, if there is one. Mirrors ``leaderFor``."""
        return self._leaders.get((topic, partition))

    def of_topic(self, topic: str) -> Cluster:
        """The cluster with the partitions of this topic only."""
        return self._of_topic.get(topic, self._none)

    def node_partitions(self, node: int) -> Sequence[tuple[str, int]] | None:
        """The partitions led by this node, in order; None for a node that is not in the cluster."""
        return self._of_node.get(node)

    def epoch(self, topic: str, partition: int) -> int | None:
        """The epoch of the partition's leader, if it is known. Mirrors ``leaderEpochFor``."""
        return self._epochs.get((topic, partition))
