"""Sticky assignment by quotas, where members keep the larger quota and others take from them. 2.5.1 to 2.8.x.

1. Every member keeps what it owns up to the larger quota.
2. Members that lack partitions get those that no member keeps, in turn.
3. Members that still lack some take the first partition of members with the larger quota.
4. Partitions that are left go to members with the smaller quota.

Java source mirrored: ``AbstractStickyAssignor.constrainedAssign``, 2.5.1 to 2.8.2 (KAFKA-9987),
https://github.com/apache/kafka/blob/2.8.2/clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractStickyAssignor.java
"""

from __future__ import annotations

from collections import deque

from kafka_reference.assignment.members import Assignment, TopicPartition, java_order
from kafka_reference.assignment.sticky_claims import AcceptedClaims
from kafka_reference.assignment.sticky_group import StickyGroup
from kafka_reference.errors import IllegalStateException

__all__ = ["StealingAssignment", "assign_by_stealing"]

_UNASSIGNED = "Some partitions are unassigned but all consumers are at maximum capacity"


def assign_by_stealing(group: StickyGroup, claims: AcceptedClaims) -> tuple[Assignment, dict[TopicPartition, str]]:
    """Return the assignment, and the partitions that move from one member to another with their new owners.

    Raises IllegalStateException where owned partitions that do not exist upset the quotas.
    """
    stealing = StealingAssignment(group, claims)
    stealing.keep_owned()
    stealing.fill()
    stealing.steal()
    stealing.distribute()
    return stealing.assignment, stealing.transferred


class StealingAssignment:
    """An assignment that is being filled.

    ``lacking`` are the members below the smaller quota; ``with_quota`` and ``with_larger_quota`` those that have just these,
    in the order in which they reached them. Where both quotas are equal, a member may be in both.
    """

    def __init__(self, group: StickyGroup, claims: AcceptedClaims) -> None:
        self._claims = claims
        self.assignment: Assignment = {member.id: [] for member in group.members}
        self.transferred: dict[TopicPartition, str] = {}
        self.unassigned = group.partitions(sorted(group.topics, key=java_order))
        self._given_up: set[TopicPartition] = set()
        members = len(group.members) or 1
        self.quota, self.larger_quota = len(self.unassigned) // members, -(-len(self.unassigned) // members)
        self.lacking: list[str] = []
        self.with_quota: deque[str] = deque()
        self.with_larger_quota: deque[str] = deque()

    def keep_owned(self) -> None:
        """Let members keep what they own, up to the larger quota."""
        for member, partitions in self._claims.owned.items():
            kept = partitions[: self.larger_quota]
            self.assignment[member] += kept
            self.unassigned = [each for each in self.unassigned if each not in kept]
            self._given_up.update(partitions[self.larger_quota :])
            if len(partitions) < self.quota:
                self.lacking.append(member)
                continue
            if len(kept) == self.quota:
                self.with_quota.append(member)
            if len(kept) == self.larger_quota:
                self.with_larger_quota.append(member)
        self.lacking.sort(key=java_order)

    def fill(self) -> None:
        """Give partitions that no member keeps, one to each in turn, to members below the smaller quota."""
        place = 0
        while self.lacking and self.unassigned:
            member = self.lacking[place]
            self._assign(self.unassigned.pop(0), member)
            if len(self.assignment[member]) == self.quota:
                self.with_quota.append(member)
                del self.lacking[place]
            else:
                place += 1
            place = place if place < len(self.lacking) else 0

    def steal(self) -> None:
        """Let members that still lack partitions take the first one of members with the larger quota, which are enough."""
        for member in self.lacking:
            while len(self.assignment[member]) < self.quota:
                taken = self.assignment[self.with_larger_quota.popleft()].pop(0)
                self.assignment[member].append(taken)
                self.transferred[taken] = member
            self.with_quota.append(member)

    def distribute(self) -> None:
        """Give one of the partitions that are left to each member with the smaller quota."""
        for partition in self.unassigned:
            if not self.with_quota:
                raise IllegalStateException(_UNASSIGNED)
            self._assign(partition, self.with_quota.popleft())

    def _assign(self, partition: TopicPartition, member: str) -> None:
        self.assignment[member].append(partition)
        if partition in self._given_up or partition in self._claims.of_two_owners:
            self.transferred[partition] = member
