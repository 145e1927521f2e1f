"""Which partitions moved between which members while a sticky assignment is balanced.

If a partition of a topic moved from one member to another, and one is to move back, the one that moved goes home instead.

Java source mirrored: ``PartitionMovements`` of ``StickyAssignor``, 0.11.0.0 to 2.3.1, and of ``AbstractStickyAssignor``,
2.4.0 to 4.4.0.
"""

from __future__ import annotations

from kafka_reference.assignment.hash_map import HashMap, by_partition
from kafka_reference.assignment.members import TopicPartition

__all__ = ["PartitionMovements"]


class PartitionMovements:
    """The movements so far: of each partition from its first owner to its present one."""

    def __init__(self) -> None:
        self._pairs: dict[TopicPartition, tuple[str, str]] = {}
        self._moved: dict[tuple[str, str, str], HashMap[TopicPartition, bool]] = {}

    def partition_to_move(self, partition: TopicPartition, old: str, new: str) -> TopicPartition:
        """Return the partition of the same topic to move in place of ``partition`` from ``old`` to ``new``."""
        if partition in self._pairs:
            old = self._pairs[partition][0]
        moved = self._moved.get((partition[0], new, old))
        return moved.keys()[0] if moved else partition

    def move(self, partition: TopicPartition, old: str, new: str) -> None:
        """Remember that ``partition`` moves; a partition that comes home has not moved."""
        first = old
        if partition in self._pairs:
            first, last = self._pairs.pop(partition)
            moved = self._moved[partition[0], first, last]
            moved.pop(partition)
            if not moved:
                del self._moved[partition[0], first, last]
            if first == new:
                return
        self._pairs[partition] = (first, new)
        self._moved.setdefault((partition[0], first, new), by_partition())[partition] = True
