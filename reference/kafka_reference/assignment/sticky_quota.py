"""Sticky assignment by quotas: all members have the same subscription. Since 3.0.0.

Of ``p`` partitions and ``m`` members, ``p % m`` members get one more than the others:

1. Members keep what they own up to their quota; the first that own enough are those that get one more. Where racks are used,
   a partition without a replica in its owner's rack is given up.
2. Where racks are used, the rest goes round the members that lack partitions and are in a rack of the partition.
3. What is left goes round all members that lack partitions, then to those that may get one more.

A partition moves in two steps with CooperativeStickyAssignor, so ``transferred`` has those that another member gives up.

Java source mirrored: ``AbstractStickyAssignor.constrainedAssign``, 3.0.0 to 3.4.1, ``ConstrainedAssignmentBuilder``, since
3.5.0 (KAFKA-12675, KIP-881, KAFKA-16277, KAFKA-15170),
https://github.com/apache/kafka/blob/3.7.1/clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractStickyAssignor.java
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_reference.assignment.members import Assignment, TopicPartition, java_order
from kafka_reference.assignment.sticky_claims import AcceptedClaims
from kafka_reference.assignment.sticky_group import StickyGroup, by_topic, subtract
from kafka_reference.assignment.sticky_racks import StickyRacks
from kafka_reference.errors import ArithmeticException, IllegalStateException

__all__ = ["QuotaAssignment", "assign_by_quota"]

_NONE_LEFT = "No more unfilled consumers to be assigned."
_TOO_FEW = (
    "We haven't reached the expected number of members with more than the minQuota partitions, "
    "but no more partitions to be assigned"
)


def assign_by_quota(group: StickyGroup, claims: AcceptedClaims) -> tuple[Assignment, dict[TopicPartition, str]]:
    """Return the assignment, and the partitions that move from one member to another with their new owners.

    Raises ArithmeticException for a group without members, and IllegalStateException where owned partitions that do not
    exist upset the quotas.
    """
    quota = QuotaAssignment(group, claims)
    quota.keep_owned()
    left = quota.unassigned()
    if quota.racks.are_used:
        left = quota.fill_by_rack(quota.racks.rarest_first(left))
    quota.fill(left)
    quota.check_lacking(_TOO_FEW)
    return quota.assignment, quota.transferred


class QuotaAssignment:
    """An assignment that is being filled.

    ``lacking`` are the members below the smaller quota, ``extendable`` those with just that, one of which may still get one
    more; ``larger`` is the number of members that have one more.
    """

    def __init__(self, group: StickyGroup, claims: AcceptedClaims) -> None:
        if not group.members:
            raise ArithmeticException
        self._group = group
        self._behaviour = group.behaviour
        self._claims = claims
        self.racks = StickyRacks(group)
        self.assignment: Assignment = {member.id: [] for member in group.members}
        self.transferred: dict[TopicPartition, str] = {}
        self._given_up: dict[TopicPartition, str] = {}
        self.quota, self.larger_wanted = divmod(group.size, len(group.members))
        self.larger_quota = self.quota + (self.larger_wanted > 0)
        self.larger = 0
        self.lacking: list[str] = []
        self.extendable: list[str] = []

    def keep_owned(self) -> None:
        """Let members keep what they own, up to their quota, in the order of a HashMap."""
        for member, partitions in self._claims.owned.items():
            owned = self._owned(member, partitions)
            if len(owned) < self.quota:
                kept = len(owned)
                self.lacking.append(member)
            elif len(owned) >= self.larger_quota and self.larger < self.larger_wanted:
                kept = self.larger_quota
                self._count_larger()
            else:
                kept = self.quota
                if self.larger < self.larger_wanted:
                    self.extendable.append(member)
            self.assignment[member] += owned[:kept]
            self._give_up(member, owned[kept:])
        self.lacking.sort(key=java_order)
        self.extendable.sort(key=java_order)

    def _owned(self, member: str, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Return the partitions that a member may keep."""
        mismatched = [each for each in partitions if self.racks.mismatch(member, each)]
        if self._behaviour.withholds_mismatched_racks:
            self._give_up(member, mismatched)
        owned = [each for each in partitions if each not in mismatched]
        if self._behaviour.keeps_lowest_partitions:
            owned.sort(key=lambda each: (each[1], java_order(each[0])))
        for partition in self._claims.of_two_owners:
            if partition in owned:
                owned.remove(partition)
        return owned

    def _give_up(self, member: str, partitions: Sequence[TopicPartition]) -> None:
        self._given_up.update(dict.fromkeys(partitions, member))

    def _count_larger(self) -> None:
        """Count one more member with the larger quota; after the last one no member is extendable."""
        self.larger += 1
        if self.larger == self.larger_wanted:
            self.extendable.clear()

    def unassigned(self) -> list[TopicPartition]:
        """Return the partitions that no member keeps, by topic and partition."""
        kept = sorted((each for owned in self.assignment.values() for each in owned), key=by_topic)
        return subtract(self._group.partitions(sorted(self._group.topics, key=java_order)), kept)

    def fill_by_rack(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Give partitions to members in their racks, and return those that are left."""
        left, place = [], 0
        for partition in partitions:
            found = self.racks.next_match(partition, self.lacking, place)
            if found is not None:
                member = self.lacking[found]
                place = self._fill_lacking(found, member) % (len(self.lacking) or 1)
            elif (found := self.racks.next_match(partition, self.extendable, 0)) is not None:
                member = self.extendable[found]
                self._extend(found)
            else:
                left.append(partition)
                continue
            self._assign(partition, member)
        return left

    def _fill_lacking(self, place: int, member: str) -> int:
        """Remove a member that reaches the smaller quota from those that lack partitions; return the place of the next."""
        size = len(self.assignment[member]) + 1
        if size < self.quota:
            return place + 1
        del self.lacking[place]
        may_extend = self.larger < self.larger_wanted or not self._behaviour.rack_fill_counts_full_members
        if size < self.larger_quota and may_extend:
            self.extendable.append(member)
        return place

    def _extend(self, place: int) -> None:
        """Remove a member that reaches the larger quota from those that are extendable."""
        del self.extendable[place]
        if self._behaviour.rack_fill_counts_full_members:
            self._count_larger()

    def fill(self, partitions: Sequence[TopicPartition]) -> None:
        """Give the partitions round the members that lack some, then one each to those that are extendable."""
        place = 0
        for partition in partitions:
            if self.lacking:
                place = place if place < len(self.lacking) else 0
                member = self.lacking[place]
                place += 1
            elif self.extendable:
                member = self.extendable.pop(0)
            else:
                raise IllegalStateException(_NONE_LEFT)
            size = self._assign(partition, member)
            if size == self.quota:
                place -= 1
                del self.lacking[place]
                self.extendable.append(member)
            elif size == self.larger_quota:
                self.larger += 1

    def _assign(self, partition: TopicPartition, member: str) -> int:
        """Give a partition to a member, and return how many it has."""
        self.assignment[member].append(partition)
        owner = self._given_up.get(partition)
        returns = owner == member and self._behaviour.returned_partition_is_no_transfer
        if (owner is not None and not returns) or partition in self._claims.of_two_owners:
            self.transferred[partition] = member
        return len(self.assignment[member])

    def check_lacking(self, message: str) -> None:
        """Raise IllegalStateException if a member still lacks partitions."""
        if not self.lacking:
            return
        if self.larger != self.larger_wanted:
            raise IllegalStateException(message)
        raise IllegalStateException(
            f"Consumer: [{self.lacking[0]}] doesn't reach minQuota partitions, and no more partitions to be assigned"
        )
