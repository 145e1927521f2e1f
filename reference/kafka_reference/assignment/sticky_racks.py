"""The racks of a group, as the sticky assignors use them since 3.5.0 (KIP-881).

Racks are used if some member's rack has a replica, and replicas of some partition are not in all of the racks.

Java source mirrored: ``AbstractStickyAssignor.RackInfo`` and ``AbstractPartitionAssignor.useRackAwareAssignment``, since
3.5.0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kafka_reference.assignment.members import TopicPartition
from kafka_reference.assignment.sticky_group import StickyGroup

__all__ = ["StickyRacks"]


class StickyRacks:
    """The racks of members and partitions; without any if they are not used."""

    def __init__(self, group: StickyGroup) -> None:
        self.of_members: dict[str, str] = {}
        self.of_partitions: dict[TopicPartition, frozenset[str]] = {}
        named = {member.id: member.rack for member in group.members if member.rack}
        if not (group.behaviour.matches_racks and named):
            return
        racks = {each: group.topics[each[0]].racks_of(each[1]) for each in group.partitions(group.topics)}
        everywhere = frozenset().union(*racks.values())
        if everywhere.isdisjoint(named.values()) or all(each == everywhere for each in racks.values()):
            return
        self.of_members, self.of_partitions = named, racks

    @property
    def are_used(self) -> bool:
        """Whether racks matter to the assignment."""
        return bool(self.of_members)

    def mismatch(self, member: str, partition: TopicPartition) -> bool:
        """Return whether the partition has no replica in the member's rack; a member without a rack matches any."""
        rack = self.of_members.get(member)
        return rack is not None and rack not in self.of_partitions.get(partition, ())

    def rarest_first(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Return the partitions sorted by the number of members in the racks of their replicas."""
        members = Counter(self.of_members.values())
        return sorted(partitions, key=lambda each: sum(members[rack] for rack in self.of_partitions.get(each, ())))

    def next_match(self, partition: TopicPartition, members: Sequence[str], first: int) -> int | None:
        """Return the index of the next member, from ``first`` on and round, that is in a rack of the partition."""
        racks = self.of_partitions[partition]
        places = ((first + more) % len(members) for more in range(len(members)))
        return next((place for place in places if self.of_members.get(members[place]) in racks), None)
