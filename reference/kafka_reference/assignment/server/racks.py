"""Racks of members and partitions, for the uniform assignor of 3.7.x, the only release line that reads them.

Java source mirrored: ``org.apache.kafka.coordinator.group.assignor.AbstractUniformAssignmentBuilder``, 3.7.0 to 3.7.2,
https://github.com/apache/kafka/blob/3.7.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/AbstractUniformAssignmentBuilder.java
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_reference.assignment.server.group import Group, Partition, Targets, Uuid
from kafka_reference.errors import NullPointerException

__all__ = ["RackInfo"]


class RackInfo:
    """Which members share a rack with which partitions. Racks count only if ``used``."""

    def __init__(self, group: Group, topics: Iterable[Uuid]) -> None:
        self._rack_of = {member.id: member.rack for member in group.members if member.rack}
        by_rack: dict[str, list[str]] = {}
        for member, rack in self._rack_of.items():
            by_rack.setdefault(rack, []).append(member)
        racks = {
            (topic, number): group.racks.get((topic, number), ())
            for topic in topics
            for number in range(group.partitions[topic])
        }
        everywhere = {rack for each in racks.values() for rack in each}
        self.used = bool(everywhere & by_rack.keys()) and any(set(each) != everywhere for each in racks.values())
        self._racks = racks
        self._near = {
            partition: [member for rack in each for member in by_rack.get(rack, ())]
            for partition, each in racks.items()
        }

    def mismatch(self, member: str, partition: Partition) -> bool:
        """Return whether the member is in none of the partition's racks."""
        return self._rack_of.get(member) not in self._racks.get(partition, ())

    def sorted_partitions(self, partitions: Iterable[Partition]) -> list[Partition]:
        """Return the partitions that have members in their racks: those with the fewest such members first, then by id."""
        near = [partition for partition in partitions if self._near.get(partition)]
        return sorted(near, key=lambda partition: (len(self._near[partition]), partition))

    def members_near(self, partition: Partition, targets: Targets) -> list[str]:
        """Return the members in the racks of a partition, those with the fewest partitions first.

        The list is sorted in place, so members with equally many stay in the order of the time before. Raises
        NullPointerException if one of several has no target, which a member without topics has not.
        """
        members = self._near[partition]
        if len(members) < 2:
            return members
        if any(member not in targets for member in members):
            raise NullPointerException
        members.sort(key=lambda member: sum(map(len, targets[member].values())))
        return members
