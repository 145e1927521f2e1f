"""Sticky assignment by balancing: members have different subscriptions; up to 2.5.0 all groups are assigned this way.

1. Members keep what they own, if they still subscribe to it.
2. Each partition that is left goes to the member with the fewest partitions among those that subscribe to its topic. Where
   racks are used, first to members in a rack of the partition.
3. Partitions move, each to the member with the fewest, until no member could get one from a member with two more. If that
   made the assignment no better, all of it is undone.

Topics with one subscriber, and members that have nothing to share, take no part in step 3.

Java source mirrored: ``StickyAssignor``, 0.11.0.0 to 2.3.1, ``AbstractStickyAssignor.generalAssign``, 2.4.0 to 3.4.1,
``GeneralAssignmentBuilder``, since 3.5.0,
https://github.com/apache/kafka/blob/3.7.1/clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractStickyAssignor.java
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

from kafka_reference.assignment.hash_map import HashMap, by_partition
from kafka_reference.assignment.members import TopicPartition, java_order
from kafka_reference.assignment.sticky_errors import NoSuchElementException
from kafka_reference.assignment.sticky_group import StickyGroup, by_topic, subtract
from kafka_reference.assignment.sticky_movements import PartitionMovements
from kafka_reference.assignment.sticky_racks import StickyRacks
from kafka_reference.errors import NullPointerException, QuestionError

__all__ = ["BalancedAssignment", "balance"]

_MOST_MOVES: Final = 2_000


def balance(
    group: StickyGroup,
    owned: HashMap[str, list[TopicPartition]],
    previous_owners: Mapping[TopicPartition, str],
) -> HashMap[str, list[TopicPartition]]:
    """Return the balanced assignment; ``owned`` is what members claim, and becomes the answer.

    ``previous_owners`` had a partition before its present owner: it goes back to them if that helps the balance.
    Raises NoSuchElementException and NullPointerException where Java does, and QuestionError where Java does not end.
    """
    return BalancedAssignment(group, owned, previous_owners).balance()


class BalancedAssignment:
    """An assignment that is being balanced.

    ``subscribers`` are the members of each topic, ``owner`` the present owner of each partition; ``active`` are the members
    that take part.
    """

    def __init__(
        self,
        group: StickyGroup,
        owned: HashMap[str, list[TopicPartition]],
        previous_owners: Mapping[TopicPartition, str],
    ) -> None:
        self._group = group
        self._behaviour = group.behaviour
        self._assignment = owned
        self._previous_owners = previous_owners
        self._racks = StickyRacks(group)
        self._movements = PartitionMovements()
        self._moves = 0
        self._had_assignment = len(owned) > 0
        if self._behaviour.unknown_topic_throws and any(
            each not in group.topics for one in group.members for each in one.topics
        ):
            raise NullPointerException
        self._topics = {one.id: [each for each in one.topics if each in group.topics] for one in group.members}
        self._subscribers: dict[str, list[str]] = {topic: [] for topic in group.topics}
        for member in group.members:
            for topic in self._topics[member.id]:
                self._subscribers[topic].append(member.id)
            owned.put_if_absent(member.id, [])
        self._owner = by_partition((each, member) for member, partitions in owned.items() for each in partitions)
        self._active: set[str] = set()

    def balance(self) -> HashMap[str, list[TopicPartition]]:
        """Return the balanced assignment."""
        partitions = self._candidates()
        kept, subscription_lost = self._keep_owned()
        new = self._without(partitions, kept)
        self._active = set(self._assignment.keys())
        if not self._active:
            raise NoSuchElementException
        fresh = not any(self._assignment[member] for member in self._active)
        self._assign_new(new)
        movable = [each for each in partitions if len(self._subscribers[each[0]]) > 1]
        new = [each for each in new if len(self._subscribers[each[0]]) > 1]
        fixed = [(member, self._assignment[member]) for member in self._topics if not self._takes_part(member)]
        for member, _ in fixed:
            self._active.remove(member)
            self._assignment.pop(member)
        before = [(member, list(owned)) for member, owned in self._assignment.items()]
        if self._behaviour.moves_new_partitions_first and not subscription_lost:
            self._move(new)
        if self._move(movable) and not fresh and self._score(self._assignment.items()) >= self._score(before):
            self._assignment.clear()
            for member, owned in before:
                self._assignment[member] = owned
        for member, owned in fixed:
            self._assignment[member] = owned
        return self._assignment

    def _candidates(self) -> list[TopicPartition]:
        """Return all partitions in the order in which they are assigned and moved: topics with few subscribers first."""
        if self._behaviour.lists_partitions_by_owner and self._is_reassignment():
            return self._by_owner()
        topics = sorted(self._subscribers, key=lambda topic: (len(self._subscribers[topic]), java_order(topic)))
        return self._group.partitions(topics)

    def _is_reassignment(self) -> bool:
        """Return whether the group had an assignment and all subscriptions are equal. Up to 2.5.0."""
        if not self._had_assignment:
            return False
        if self._behaviour.no_partitions_throw and not self._group.topics:
            raise NoSuchElementException
        subscribers = {frozenset(members) for members in self._subscribers.values()}
        topics = {frozenset(topics) for topics in self._topics.values()}
        return len(subscribers) <= 1 and len(topics) <= 1

    def _by_owner(self) -> list[TopicPartition]:
        """Return the partitions in turn from the member that has most, those with a previous owner first; then unowned ones.

        Java source mirrored: ``sortPartitions``, 0.11.0.0 to 2.5.0.
        """
        existing = by_partition((each, True) for each in self._group.partitions(self._group.topics))
        left = {member: [each for each in owned if each in existing] for member, owned in self._assignment.items()}
        listed: list[TopicPartition] = []
        while left:
            member = max(left, key=lambda one: (len(left[one]), java_order(one)))
            if not left[member]:
                del left[member]
                continue
            partition = next((each for each in self._previous_owners if each in left[member]), left[member][0])
            left[member].remove(partition)
            listed.append(partition)
        return listed + [each for each in existing if each not in listed]

    def _keep_owned(self) -> tuple[list[TopicPartition], bool]:
        """Remove what members may not keep; return what they keep, and whether a member lost what still exists."""
        kept, lost = [], False
        for member, owned in self._assignment.items():
            for partition in list(owned):
                if not self._exists(partition):
                    owned.remove(partition)
                elif partition[0] not in self._topics[member] or self._racks.mismatch(member, partition):
                    owned.remove(partition)
                    lost = True
                else:
                    kept.append(partition)
        return kept, lost

    def _exists(self, partition: TopicPartition) -> bool:
        """Return whether the partition exists; since 3.0.0, whether its topic does."""
        topic = self._group.topics.get(partition[0])
        return topic is not None and (self._behaviour.general_path_drops_old_claims or partition[1] < topic.partitions)

    def _without(self, partitions: Sequence[TopicPartition], kept: list[TopicPartition]) -> list[TopicPartition]:
        """Return the partitions that no member keeps."""
        if not self._behaviour.general_path_drops_old_claims:
            return _without_first(partitions, kept)
        return subtract(partitions, sorted(kept, key=lambda each: (len(self._subscribers[each[0]]), by_topic(each))))

    def _assign_new(self, partitions: Sequence[TopicPartition]) -> None:
        """Give each partition to the subscriber with the fewest, first to those in its racks where racks are used."""
        if self._racks.are_used:
            partitions = [each for each in partitions if not self._assign(each, match_racks=True)]
        for partition in partitions:
            self._assign(partition, match_racks=False)

    def _assign(self, partition: TopicPartition, *, match_racks: bool) -> bool:
        for member in self._by_size():
            if partition[0] in self._topics[member] and not (match_racks and self._racks.mismatch(member, partition)):
                self._assignment[member].append(partition)
                self._owner[partition] = member
                return True
        return False

    def _by_size(self) -> list[str]:
        """Return the active members by number of partitions, then by id."""
        return sorted(self._active, key=lambda member: (len(self._assignment[member]), java_order(member)))

    def _takes_part(self, member: str) -> bool:
        """Return whether the member could get more, or has partitions that others could get."""
        owned = self._assignment[member]
        return len(owned) < self._most(member) or any(len(self._subscribers[topic]) > 1 for topic, _ in owned)

    def _most(self, member: str) -> int:
        """Return how many partitions the member could get.

        A topic that a subscription names twice counts twice, except, since 3.0.0, where as many names are all topics.
        """
        topics = self._topics[member]
        if self._behaviour.general_path_drops_old_claims and len(topics) == len(self._group.topics):
            return self._group.size
        return sum(self._group.topics[topic].partitions for topic in topics)

    def _is_balanced(self) -> bool:
        """Return whether no member could get a partition from one with more."""
        members = self._by_size()
        sizes = {member: len(self._assignment[member]) for member in members}
        if sizes[members[0]] >= sizes[members[-1]] - 1:
            return True
        owners = {each: member for member, owned in self._assignment.items() for each in owned}
        return not any(self._could_get_more(member, owners) for member in members)

    def _could_get_more(self, member: str, owners: Mapping[TopicPartition, str]) -> bool:
        mine = set(self._assignment[member])
        size = len(self._assignment[member])
        if size == self._most(member):
            return False
        enough = size + self._behaviour.one_more_is_balanced
        for partition in self._group.partitions(self._topics[member]):
            if partition not in mine and enough < len(self._assignment[owners.get(partition)]):
                return True
        return False

    def _move(self, partitions: Sequence[TopicPartition]) -> bool:
        """Move partitions until nothing gets better; return whether any moved."""
        moved, again = False, True
        while again:
            again = False
            for partition in partitions:
                if self._is_balanced():
                    break
                again |= self._move_one(partition)
            moved |= again
        return moved

    def _move_one(self, partition: TopicPartition) -> bool:
        """Move a partition to its previous owner or the smallest subscriber, if its owner has two more; return whether."""
        size = len(self._assignment[self._owner.get(partition)])
        previous = self._previous_owners.get(partition)
        if previous is not None and size > len(self._assignment[previous]) + 1:
            self._reassign(partition, previous)
            return True
        if any(size > len(self._assignment[member]) + 1 for member in self._subscribers[partition[0]]):
            self._reassign(partition, next(one for one in self._by_size() if partition[0] in self._topics[one]))
            return True
        return False

    def _reassign(self, partition: TopicPartition, new: str) -> None:
        """Move ``partition``, or one of its topic that came from ``new``, to ``new``."""
        self._moves += 1
        if self._moves > _MOST_MOVES:
            raise QuestionError("the assignor moves partitions without end")
        moving = self._movements.partition_to_move(partition, self._owner[partition], new)
        old = self._owner[moving]
        self._movements.move(moving, old, new)
        owned = self._assignment[old]
        if moving in owned:
            owned.remove(moving)
        self._assignment[new].append(moving)
        self._owner[moving] = new

    @staticmethod
    def _score(assignment: Sequence[tuple[str, list[TopicPartition]]]) -> int:
        """Return the sum of the differences in size of all pairs of members."""
        return sum(abs(len(one) - len(other)) for (_, one), (_, other) in combinations(assignment, 2))


def _without_first(partitions: Sequence[TopicPartition], kept: Sequence[TopicPartition]) -> list[TopicPartition]:
    left = list(partitions)
    for partition in kept:
        if partition in left:
            left.remove(partition)
    return left
