"""The uniform assignor for a homogeneous group, in 3.7.x.

Each member has a quota: the whole share, and one more for as many members as there are partitions left over. Members keep
their old partitions within the quota; if racks count, only those in their own rack. Free partitions, sorted by topic id,
go to members in their rack that still have room, then back to their old owners, then to the members in turn.

Java source mirrored: ``org.apache.kafka.coordinator.group.assignor.OptimizedUniformAssignmentBuilder``, 3.7.0 to 3.7.2,
https://github.com/apache/kafka/blob/3.7.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/OptimizedUniformAssignmentBuilder.java
"""

from __future__ import annotations

from collections import deque

from kafka_reference.assignment.server.errors import PartitionAssignorException
from kafka_reference.assignment.server.group import (
    Group,
    HashTable,
    Member,
    Partition,
    Targets,
    in_order,
    uuid_hash,
)
from kafka_reference.assignment.server.racks import RackInfo
from kafka_reference.assignment.server.uniform_homogeneous import undescribed
from kafka_reference.java.hash_maps import string_hash

__all__ = ["OptimizedBuilder"]


class OptimizedBuilder:
    """One assignment. ``_room`` are the members that may get more, with what their whole share lacks."""

    def __init__(self, group: Group) -> None:
        self._group = group
        first = group.members[0]
        self._topics = in_order(uuid_hash, first.topics, copied=len(first.topics))
        self._targets: Targets = {member.id: {} for member in group.members}
        self._room: dict[str, int] = {}
        self._order: HashTable[str] = HashTable(string_hash)
        self._free: set[Partition] = set()
        self._old_owners: dict[Partition, str] = {}
        self._share = self._extras = 0

    def build(self) -> Targets:
        """Return the assignment. Raises PartitionAssignorException."""
        if not self._topics:
            return {}
        counts = self._group.partitions
        for topic in self._topics:
            if topic not in counts:
                raise undescribed(topic)
        self._racks = RackInfo(self._group, self._topics)
        self._free = {(topic, number) for topic in self._topics for number in range(counts[topic])}
        self._share, self._extras = divmod(len(self._free), len(self._group.members))
        for member in self._group.members:
            self._keep(member)
        if self._racks.used:
            self._fill_by_rack()
        self._fill_in_turn()
        if self._free:
            raise PartitionAssignorException("Partitions were left unassigned")
        return self._targets

    def _keep(self, member: Member) -> None:
        old = self._valid(member)
        lacks = self._share - len(old)
        takes_extra = lacks < 0 and self._extras > 0
        self._extras -= takes_extra
        for partition in old[: self._share + takes_extra]:
            self._give(member.id, partition)
        if lacks >= 0:
            self._room[member.id] = lacks
            self._order.add(member.id)

    def _valid(self, member: Member) -> list[Partition]:
        """Return the old partitions that a member may keep; note the owners of those that are in other racks."""
        old = [(topic, number) for topic, numbers in member.assigned if topic in self._topics for number in numbers]
        far = [partition for partition in old if self._racks.used and self._racks.mismatch(member.id, partition)]
        self._old_owners.update(dict.fromkeys(far, member.id))
        return [partition for partition in old if partition not in far]

    def _give(self, member: str, partition: Partition) -> None:
        self._targets[member].setdefault(partition[0], set()).add(partition[1])
        self._free.discard(partition)

    def _fill_by_rack(self) -> None:
        for partition in self._racks.sorted_partitions(self._free):
            for member in self._racks.members_near(partition, self._targets):
                if member in self._room and self._offer(member, partition):
                    break

    def _fill_in_turn(self) -> None:
        turn = deque(member for member in self._order.ordered() if member in self._room)
        for partition in sorted(self._free):
            owner = self._old_owners.get(partition)
            if owner in self._room and self._offer(owner, partition):
                if owner not in self._room:
                    turn.remove(owner)
                continue
            tried, assigned = 0, False
            while tried < len(turn) and not assigned:
                member = turn.popleft()
                assigned = member in self._room and self._offer(member, partition)
                if member in self._room:
                    turn.append(member)
                tried += 1

    def _offer(self, member: str, partition: Partition) -> bool:
        """Give the partition to a member with room, if its share or an extra allows it; return whether it was given."""
        lacks = self._room[member]
        if lacks == 0 and self._extras == 0:
            return False
        if lacks == 0:
            self._extras -= 1
            del self._room[member]
        else:
            self._room[member] = lacks - 1
            if lacks == 1 and self._extras == 0:
                del self._room[member]
        self._give(member, partition)
        return True
