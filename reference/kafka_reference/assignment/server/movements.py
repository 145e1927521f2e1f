"""Which partitions an assignment has moved, so that two opposite moves within a topic become one.

Java source mirrored: ``UniformHeterogeneousAssignmentBuilder.PartitionMovements``, 3.7.0 to 3.9.2
(``GeneralUniformAssignmentBuilder`` in 3.7.x),
https://github.com/apache/kafka/blob/3.9.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/UniformHeterogeneousAssignmentBuilder.java
"""

from __future__ import annotations

from kafka_reference.assignment.server.errors import PartitionAssignorException
from kafka_reference.assignment.server.group import HashTable, Partition, Uuid, partition_hash, partition_text

__all__ = ["PartitionMovements"]


class PartitionMovements:
    """The moves so far: of each partition from which member to which, and by topic the partitions of each such pair."""

    def __init__(self) -> None:
        self._pairs: dict[Partition, tuple[str, str]] = {}
        self._by_topic: dict[Uuid, dict[tuple[str, str], HashTable[Partition]]] = {}

    def move(self, partition: Partition, old: str, new: str) -> None:
        """Note a move. Raises PartitionAssignorException for a partition that ``old`` got by a move: none moves twice."""
        if partition not in self._pairs:
            self._note(partition, (old, new))
            return
        first, last = self._forget(partition)
        if last == old:
            raise PartitionAssignorException(
                "Mismatch in partition movement record with respect to partition ownership during a rebalance"
            )
        if first != new:
            self._note(partition, (first, new))

    def partition_to_move(self, partition: Partition, old: str, new: str) -> Partition:
        """Return the partition to move from ``old`` to ``new``: one that came the opposite way, if there is any."""
        topic = partition[0]
        if topic not in self._by_topic:
            return partition
        if partition in self._pairs:
            first, last = self._pairs[partition]
            if old != last:
                raise PartitionAssignorException(
                    f"Old owner does not match expected value for partition: {partition_text(partition)}"
                )
            old = first
        opposite = self._by_topic[topic].get((new, old))
        return partition if opposite is None else opposite.ordered()[0]

    def _note(self, partition: Partition, pair: tuple[str, str]) -> None:
        self._pairs[partition] = pair
        self._by_topic.setdefault(partition[0], {}).setdefault(pair, HashTable(partition_hash)).add(partition)

    def _forget(self, partition: Partition) -> tuple[str, str]:
        pair = self._pairs.pop(partition)
        of_topic = self._by_topic[partition[0]]
        of_topic[pair].discard(partition)
        if not of_topic[pair]:
            del of_topic[pair]
        if not of_topic:
            del self._by_topic[partition[0]]
        return pair
