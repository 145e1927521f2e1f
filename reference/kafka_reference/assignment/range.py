"""RangeAssignor: of each topic, every member gets a range of partitions; the first members get one more.

Since 3.5.0 it is rack-aware (KIP-881). A topic *needs* racks if some member's rack has a replica of the topic, and not every
partition has replicas in all racks of the topic. If any topic needs them, there are two passes, within the same shares:

1. Topics with the same members (and racks of members) and the same number of partitions are co-partitioned: partition by
   partition, the first member that may take it of each of these topics gets it of all. A topic without others like it
   takes part only if it needs racks: members in order get partitions in their rack. A member without a rack matches any.
2. What is left goes out in ranges, as without racks.

Java source mirrored: ``RangeAssignor``, ``AbstractPartitionAssignor``, every release,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/clients/consumer/RangeAssignor.java
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from kafka_reference.arguments import checked, proven_by
from kafka_reference.assignment.behaviour import RangeAssignorBehaviour
from kafka_reference.assignment.members import (
    Assignment,
    Member,
    Topic,
    TopicPartition,
    computed_order,
    hash_map_order,
    in_hash_map_order,
    in_member_order,
    java_order,
)
from kafka_reference.releases import NEWEST, Release

__all__ = ["TopicShares", "range_assignment"]


@checked(release=proven_by("range-assignor"))
def range_assignment(
    topics: Mapping[str, Topic], members: Sequence[Member], release: str | Release = NEWEST
) -> Assignment:
    """Return which partitions each member gets: of each topic a range.

    ``topics`` are those of the cluster; a subscribed topic that is not there, or has no partitions, is left out.

        >>> group = [Member("a", ("t",)), Member("b", ("t",))]
        >>> range_assignment({"t": Topic(3)}, group)
        {'a': [('t', 0), ('t', 1)], 'b': [('t', 2)]}
    """
    behaviour = RangeAssignorBehaviour.of(release)
    subscribers = _subscribers(behaviour, members)
    shared = {topic: subscribers[topic] for topic in _topics(behaviour, topics, members)}
    assignment: Assignment = {member.id: [] for member in members}
    if behaviour.rack_aware:
        shares = [TopicShares(topic, topics[topic], group) for topic, group in shared.items()]
        if any(topic.needs_racks for topic in shares):
            _assign_by_racks(shares, assignment)
            return assignment
    for topic, group in shared.items():
        each, extra = divmod(topics[topic].partitions, len(group))
        partitions = iter(range(topics[topic].partitions))
        for place, member in enumerate(group):
            assignment[member.id] += ((topic, number) for number in islice(partitions, each + (place < extra)))
    return assignment


def _subscribers(behaviour: RangeAssignorBehaviour, members: Sequence[Member]) -> dict[str, list[Member]]:
    """Return for each subscribed topic its members in order, with one entry for each share that they get."""
    subscribers: dict[str, list[Member]] = {}
    for member in in_hash_map_order(members):
        for topic in dict.fromkeys(member.topics) if behaviour.member_counts_once else member.topics:
            subscribers.setdefault(topic, []).append(member)
    return {topic: in_member_order(group, behaviour.static_members_first) for topic, group in subscribers.items()}


def _topics(behaviour: RangeAssignorBehaviour, topics: Mapping[str, Topic], members: Sequence[Member]) -> list[str]:
    """Return the subscribed topics that have partitions, in the order in which they are assigned."""
    named = [topic for member in in_hash_map_order(members) for topic in member.topics]
    subscribed = computed_order(named) if behaviour.later_topic_first else hash_map_order(named)
    known = [topic for topic in subscribed if topic in topics and topics[topic].partitions]
    return hash_map_order(known) if behaviour.known_topics_only else known


class TopicShares:
    """How many partitions of a topic each member may still get, and which partitions are left.

    Java source mirrored: ``RangeAssignor.TopicAssignmentState``.
    """

    def __init__(self, name: str, topic: Topic, members: Sequence[Member]) -> None:
        self.name = name
        self.members = members
        self.left: list[TopicPartition] = [(name, number) for number in range(topic.partitions)]
        self.assigned = dict.fromkeys((member.id for member in members), 0)
        self.each, self.extra = divmod(topic.partitions, len(members))
        self.racks = _racks(topic, members)
        self.needs_racks = _needs_racks(self.racks, members)

    def matches(self, member: Member, partition: TopicPartition) -> bool:
        """Return whether the partition has a replica in the member's rack; a member without a rack matches any."""
        return not member.rack or member.rack in self.racks[partition[1]]

    def may_get(self, member: Member) -> int:
        """Return how many partitions more the member may get."""
        return max(0, self.each + (self.extra > 0) - self.assigned[member.id])

    def assign(self, member: Member, partitions: Sequence[TopicPartition]) -> None:
        """Take these partitions off those that are left."""
        self.assigned[member.id] += len(partitions)
        if self.assigned[member.id] > self.each:
            self.extra -= 1
        self.left = [partition for partition in self.left if partition not in partitions]


def _racks(topic: Topic, members: Sequence[Member]) -> list[frozenset[str]]:
    """Return the racks of each partition; nothing if no member has a rack. A rack without a name counts as none."""
    return [topic.racks_of(number) for number in range(topic.partitions)] if any(one.rack for one in members) else []


def _needs_racks(racks: Sequence[frozenset[str]], members: Sequence[Member]) -> bool:
    """Return whether racks of members and replicas overlap, and replicas are not in all of these racks anyway."""
    everywhere = frozenset().union(*racks)
    return any(member.rack in everywhere for member in members if member.rack) and any(
        one != everywhere for one in racks
    )


def _assign_by_racks(shares: Sequence[TopicShares], assignment: Assignment) -> None:
    """Assign all topics in the two passes, and sort what each member got."""
    alike: dict[tuple[tuple[tuple[str, str], ...], int], list[TopicShares]] = {}
    for topic in shares:
        members = tuple((member.id, member.rack or "") for member in topic.members)
        alike.setdefault((members, len(topic.racks)), []).append(topic)
    for (_, count), topics in alike.items():
        if len(topics) > 1:
            _assign_together(topics, count, assignment)
        elif topics[0].needs_racks:
            _assign_ranges(topics[0], topics[0].matches, assignment)
    for topic in shares:
        _assign_ranges(topic, lambda *_: True, assignment)
    for partitions in assignment.values():
        partitions.sort(key=lambda partition: (java_order(partition[0]), partition[1]))


def _assign_together(topics: Sequence[TopicShares], count: int, assignment: Assignment) -> None:
    """Give each partition that a member may take of all these topics to the first such member."""
    for number in range(count):
        for member in topics[0].members:
            if all(topic.may_get(member) > 0 and topic.matches(member, (topic.name, number)) for topic in topics):
                for topic in topics:
                    _assign(topic, member, [(topic.name, number)], assignment)
                break


def _assign_ranges(
    topic: TopicShares, may_take: Callable[[Member, TopicPartition], bool], assignment: Assignment
) -> None:
    """Give each member in order its share of the partitions that it may take."""
    for member in topic.members:
        taken = [partition for partition in topic.left if may_take(member, partition)][: topic.may_get(member)]
        if taken:
            _assign(topic, member, taken, assignment)


def _assign(topic: TopicShares, member: Member, partitions: Sequence[TopicPartition], assignment: Assignment) -> None:
    assignment[member.id] += partitions
    topic.assign(member, partitions)
