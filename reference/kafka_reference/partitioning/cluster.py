"""A cluster as a partitioner sees it: nodes with racks, and partitions with or without a leader, in a given order.

The order of ``partitions`` is that of the list Java's ``Cluster`` is made from, which it never sorts. A partition's index
in that list and its id are different things: ids need be neither contiguous nor ascending, and some of Java's methods
return an id, some an index. Every topic that a question names has these same partitions.

A partition is *available* when it has a leader; Java keeps the available ones in the same order.

Java source mirrored: ``Cluster``, ``Node`` and ``PartitionInfo``, every release,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/common/Cluster.java
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kafka_reference.arguments import COUNT, INT32, POSITIVE, checked

__all__ = ["Cluster", "Node", "Partition"]


@checked(id=INT32)
@dataclass(frozen=True, slots=True)
class Node:
    """A broker: its id, an int32, and its rack, or None.

    >>> Node(0, rack="eu-1a")
    Node(id=0, rack='eu-1a')
    """

    id: int
    rack: str | None = None


@checked(id=INT32, leader=INT32)
@dataclass(frozen=True, slots=True)
class Partition:
    """A partition: its id, an int32, and the id of the node that leads it, or None.

    >>> Partition(0, leader=2)
    Partition(id=0, leader=2)
    """

    id: int
    leader: int | None = None


@checked(partitions=COUNT, nodes=POSITIVE)
@dataclass(frozen=True)
class Cluster:
    """Nodes and partitions, in the order of Java's lists.

    >>> Cluster((Node(0, rack="a"),), (Partition(0, leader=0), Partition(1, leader=None))).available
    (Partition(id=0, leader=0),)
    """

    nodes: tuple[Node, ...]
    partitions: tuple[Partition, ...]

    @classmethod
    def of(cls, partitions: int, nodes: int = 1) -> Cluster:  # unreached: for users of the library
        """Return a cluster with this many partitions, led by ``nodes`` nodes in turn.

        >>> Cluster.of(3, nodes=2).partitions
        (Partition(id=0, leader=0), Partition(id=1, leader=1), Partition(id=2, leader=0))
        """
        return cls(tuple(map(Node, range(nodes))), tuple(Partition(one, one % nodes) for one in range(partitions)))

    @cached_property
    def available(self) -> tuple[Partition, ...]:
        """The partitions that have a leader, in order. Mirrors ``Cluster.availablePartitionsForTopic``."""
        return tuple(partition for partition in self.partitions if partition.leader is not None)

    @cached_property
    def racks(self) -> dict[int, str | None]:
        """Node id to rack."""
        return {node.id: node.rack for node in self.nodes}
