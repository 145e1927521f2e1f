"""The uniform assignor for a heterogeneous group, 3.7.0 to 3.9.x.

Members keep their old partitions of topics they still subscribe to; in 3.7.x, if racks count, only those in their own
rack. Free partitions go to the member of the topic that has the fewest. Then partitions move, one by one, to members that
have at least two fewer, until the group is balanced or a round moves none. Partitions are taken in order of their topic's
partitions per subscriber, the most first, and ties in the order of a HashSet.

Java source mirrored: ``org.apache.kafka.coordinator.group.assignor.UniformHeterogeneousAssignmentBuilder``, 3.8.0 to
3.9.2, and ``GeneralUniformAssignmentBuilder``, 3.7.0 to 3.7.2,
https://github.com/apache/kafka/blob/3.9.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/UniformHeterogeneousAssignmentBuilder.java
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_reference.assignment.members import java_order
from kafka_reference.assignment.server.behaviour import UniformAssignorBehaviour
from kafka_reference.assignment.server.errors import NoSuchElementException, PartitionAssignorException
from kafka_reference.assignment.server.group import (
    Group,
    HashTable,
    Partition,
    Targets,
    Uuid,
    partition_hash,
    partition_text,
    uuid_hash,
)
from kafka_reference.assignment.server.racks import RackInfo
from kafka_reference.assignment.server.uniform_homogeneous import undescribed
from kafka_reference.errors import NullPointerException

__all__ = ["GeneralBuilder"]


class GeneralBuilder:
    """One assignment. ``_active`` are the members that may get more partitions, ``_limits`` how many each can have."""

    def __init__(self, behaviour: UniformAssignorBehaviour, group: Group) -> None:
        self._behaviour, self._group = behaviour, group
        self._topics_of = {member.id: member.topics for member in group.members}
        self._members_of: dict[Uuid, list[str]] = {}
        self._targets: Targets = {}
        for member in group.members:
            for topic in member.topics:
                if topic not in group.partitions:
                    raise undescribed(topic)
                self._members_of.setdefault(topic, []).append(member.id)
            if member.topics or not behaviour.fails_without_topics:
                self._targets[member.id] = {}
        topics = HashTable(uuid_hash, (topic for member in group.members for topic in member.topics))
        self._topics = topics.ordered()
        self._sizes = dict.fromkeys(self._topics_of, 0)
        self._limits = {
            member: sum(group.partitions[topic] for topic in of_member) for member, of_member in self._topics_of.items()
        }
        self._active = {member for member, limit in self._limits.items() if limit > 0}
        self._owners: dict[Partition, str] = {}
        self._kept: set[Partition] = set()
        self._old_owners: dict[Partition, str] = {}
        self._moved: set[Partition] = set()
        self._ways: set[tuple[Uuid, str, str]] = set()
        self._racks: RackInfo | None = None
        every = self._every_partition()
        self._free = HashTable(partition_hash, every, copied=len(every) if behaviour.rack_aware else None)

    def build(self) -> Targets:
        """Return the assignment. Raises PartitionAssignorException, and others for old assignments no coordinator makes."""
        if not self._topics:
            return {}
        racks = RackInfo(self._group, self._topics) if self._behaviour.rack_aware else None
        self._racks = racks if racks is not None and racks.used else None
        self._keep()
        self._fill_by_rack()
        self._fill()
        self._balance()
        return self._targets

    def _every_partition(self) -> list[Partition]:
        every = [(topic, number) for topic in self._topics for number in range(self._group.partitions[topic])]
        return HashTable(partition_hash, every).ordered()

    def _keep(self) -> None:
        for member in self._group.members:
            for topic, numbers in member.assigned:
                if topic not in member.topics:
                    continue
                for number in numbers:
                    if self._racks is not None and self._racks.mismatch(member.id, (topic, number)):
                        self._old_owners[topic, number] = member.id
                    else:
                        self._give((topic, number), member.id)
                        self._kept.add((topic, number))

    def _fill_by_rack(self) -> None:
        if self._racks is None:
            return
        for partition in self._racks.sorted_partitions(self._free.ordered()):
            for member in self._racks.members_near(partition, self._targets):
                if self._offer(partition, member):
                    break

    def _fill(self) -> None:
        for partition in self._sorted(self._free.ordered()):
            owner = self._old_owners.get(partition)
            if owner is not None and self._offer(partition, owner):
                continue
            for member in self._by_size(self._members_of[partition[0]]):
                if self._offer(partition, member):
                    break

    def _sorted(self, partitions: Iterable[Partition]) -> list[Partition]:
        def key(partition: Partition) -> tuple[float, int, int]:
            subscribers = len(self._members_of[partition[0]])
            return -self._group.partitions[partition[0]] / subscribers, subscribers, partition[1]

        return sorted(partitions, key=key)

    def _by_size(self, members: Iterable[str]) -> list[str]:
        return sorted(members, key=lambda member: (self._sizes[member], java_order(member)))

    def _offer(self, partition: Partition, member: str) -> bool:
        """Give the partition to a member that subscribes to its topic and is not full; return whether it was given."""
        if partition[0] not in self._topics_of[member] or self._sizes[member] >= self._limits[member]:
            return False
        self._give(partition, member)
        return True

    def _give(self, partition: Partition, member: str) -> None:
        self._targets[member].setdefault(partition[0], set()).add(partition[1])
        self._owners[partition] = member
        self._resize(member, 1)
        self._free.discard(partition)

    def _take(self, partition: Partition, member: str) -> None:
        of_member = self._targets[member]
        numbers = of_member.get(partition[0], set())
        numbers.discard(partition[1])
        if not numbers:
            of_member.pop(partition[0], None)
        del self._owners[partition]
        self._resize(member, -1)

    def _resize(self, member: str, change: int) -> None:
        self._active.discard(member)
        self._sizes[member] += change
        if self._sizes[member] < self._limits[member]:
            self._active.add(member)

    def _balance(self) -> None:
        if self._free:
            raise PartitionAssignorException("Some partitions were left unassigned")
        self._free.update(self._every_partition())
        for partition in self._free.ordered():
            if not self._is_shared(partition[0]):
                self._free.discard(partition)
        for member in self._group.members:
            if not self._can_give(member.id):
                self._active.discard(member.id)
        if self._free:
            while self._moves_any():
                pass

    def _is_shared(self, topic: Uuid) -> bool:
        return len(self._members_of[topic]) >= 2

    def _can_give(self, member: str) -> bool:
        if member not in self._targets:
            raise NullPointerException
        return self._sizes[member] < self._limits[member] or any(map(self._is_shared, self._targets[member]))

    def _moves_any(self) -> bool:
        """Go through all shared partitions once; return whether another round is due."""
        modified = moved = False
        for partition in self._sorted(self._free.ordered()):
            if moved and self._is_balanced():
                return False
            moved = self._moves(partition)
            modified |= moved
        return modified

    def _moves(self, partition: Partition) -> bool:
        owner = self._owners[partition]
        if self._racks is not None and not self._racks.mismatch(owner, partition):
            for member in self._racks.members_near(partition, self._targets):
                # Java checks that the topic has members, not that this member is one of them.
                if member in self._active and self._sizes[owner] > self._sizes[member] + 1:
                    self._move(partition, owner, member)
                    return True
        old_owner = self._old_owners.get(partition)
        if partition not in self._kept and old_owner is not None and self._sizes[owner] > self._sizes[old_owner] + 1:
            self._move(partition, owner, old_owner)
            return True
        if any(self._sizes[owner] > self._sizes[member] + 1 for member in self._members_of[partition[0]]):
            self._move(partition, owner, self._least_loaded(partition))
            return True
        return False

    def _least_loaded(self, partition: Partition) -> str:
        for member in self._by_size(self._active):
            if partition[0] in self._topics_of[member]:
                return member
        raise PartitionAssignorException(
            f"No suitable new owner was found for the partition{partition_text(partition)}"
        )

    def _move(self, partition: Partition, owner: str, member: str) -> None:
        """Move a partition. Raises PartitionAssignorException if it moved before, or another of its topic the opposite way.

        Java would rather move that other one back, but takes a record of an earlier move for a mistake.
        """
        topic = partition[0]
        if partition in self._moved or (topic, member, owner) in self._ways:
            raise PartitionAssignorException(
                "Mismatch in partition movement record with respect to partition ownership during a rebalance"
            )
        self._moved.add(partition)
        self._ways.add((topic, owner, member))
        self._take(partition, owner)
        self._give(partition, member)

    def _is_balanced(self) -> bool:
        if not self._active:
            raise NoSuchElementException
        members = self._by_size(self._active)
        if self._sizes[members[0]] >= self._sizes[members[-1]] - 1:
            return True
        return not any(self._could_get_more(member) for member in members)

    def _could_get_more(self, member: str) -> bool:
        """Return whether a topic of the member has a partition whose owner has at least two more."""
        size = self._sizes[member]
        for topic in self._topics_of[member]:
            own = self._targets[member].get(topic, ())
            for number in range(self._group.partitions[topic]):
                owner = self._owners.get((topic, number))
                if number not in own and owner is not None and size + 1 < self._sizes[owner]:
                    return True
        return False
