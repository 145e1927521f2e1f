"""The uniform assignor for a homogeneous group, since 3.8.0.

Each member has a quota: the whole share, and one more for as many members as there are partitions left over. Members keep
their old partitions within the quota, in the order of Java's collections. What is free then fills one member after the
other.

Java source mirrored: ``org.apache.kafka.coordinator.group.assignor.UniformHomogeneousAssignmentBuilder``, since 3.8.0,
https://github.com/apache/kafka/blob/4.0.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/UniformHomogeneousAssignmentBuilder.java
"""

from __future__ import annotations

from kafka_reference.assignment.server.behaviour import UniformAssignorBehaviour
from kafka_reference.assignment.server.errors import PartitionAssignorException
from kafka_reference.assignment.server.group import Group, Member, Partition, Targets, Uuid, in_order, uuid_hash

__all__ = ["HomogeneousBuilder", "undescribed"]


def undescribed(topic: object) -> PartitionAssignorException:
    """Return the error for a topic that the metadata do not describe."""
    return PartitionAssignorException(
        f"Members are subscribed to topic {topic} which doesn't exist in the topic metadata."
    )


class HomogeneousBuilder:
    """One assignment. ``extras`` members may still have one partition more."""

    def __init__(self, behaviour: UniformAssignorBehaviour, group: Group) -> None:
        self._behaviour, self._group = behaviour, group
        first = group.members[0]
        self._topics = in_order(uuid_hash, first.topics, copied=first.names)
        self._free: list[Partition] = []
        self._unfilled: list[tuple[str, int]] = []
        self._targets: Targets = {}
        self.share = self.extras = 0

    def build(self) -> Targets:
        """Return the assignment. Raises PartitionAssignorException."""
        if not self._topics:
            return {}
        owned = {(topic, number) for member in self._group.members for topic, old in member.assigned for number in old}
        for topic in self._topics:
            if topic not in self._group.partitions:
                raise undescribed(topic)
            numbers = range(self._group.partitions[topic])
            self._free.extend((topic, number) for number in numbers if (topic, number) not in owned)
        total = sum(self._group.partitions[topic] for topic in self._topics)
        self.share, self.extras = divmod(total, len(self._group.members))
        for place, member in enumerate(self._group.members):
            self._keep(member, len(self._group.members) - place)
        self._fill()
        return self._targets

    def _keep(self, member: Member, remaining: int) -> None:
        """Keep old partitions of a member within its quota; ``remaining`` members, this one included, are still to come."""
        takes_extra = self.extras > 0
        quota = self.share + takes_extra
        kept: dict[Uuid, set[int]] = {}
        for topic, numbers in member.assigned:
            if topic not in self._topics:
                continue
            kept[topic] = set(numbers[:quota])
            self._free.extend((topic, number) for number in numbers[quota:])
            quota -= len(kept[topic])
        if self._behaviour.gives_back_extra and takes_extra and quota > 0 and remaining > self.extras:
            quota -= 1
            takes_extra = False
        self.extras -= takes_extra
        if quota > 0:
            self._unfilled.append((member.id, quota))
        self._targets[member.id] = kept

    def _fill(self) -> None:
        for member, quota in self._unfilled:
            for topic, number in self._free[:quota]:
                self._targets[member].setdefault(topic, set()).add(number)
            del self._free[:quota]
        if self._free:
            raise PartitionAssignorException("Partitions were left unassigned")
