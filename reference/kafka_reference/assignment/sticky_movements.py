"""Which partitions moved between which members while a sticky assignment is balanced.

If a partition of a topic moved from one member to another, and one is to move back, the one that moved goes home instead.

Java source mirrored: ``PartitionMovements`` of ``StickyAssignor``, 0.11.0.0 to 2.3.1, and of ``AbstractStickyAssignor``,
since 2.4.0.
"""

from __future__ import annotations

from kafka_reference.assignment.hash_map import by_partition
from kafka_reference.assignment.members import TopicPartition

__all__ = ["PartitionMovements"]


class PartitionMovements:
    """The movements so far: of each partition from its first owner to its present one."""

    def __init__(self) -> None:
        self._pairs: dict[TopicPartition, tuple[str, str]] = {}

    def partition_to_move(self, partition: TopicPartition, old: str, new: str) -> TopicPartition:
        """Return the partition of the same topic to move in place of ``partition`` from ``old`` to ``new``.

        Of several it is the first one in the order of a HashSet.
        """
        if partition in self._pairs:
            old = self._pairs[partition][0]
        moved = [each for each, pair in self._pairs.items() if each[0] == partition[0] and pair == (new, old)]
        return by_partition((each, True) for each in moved).keys()[0] if moved else partition

    def move(self, partition: TopicPartition, old: str, new: str) -> None:
        """Remember that ``partition`` moves; a partition that comes home has not moved."""
        if partition not in self._pairs:
            self._pairs[partition] = (old, new)
            return
        first, _ = self._pairs.pop(partition)
        if first != new:
            self._pairs[partition] = (first, new)
