"""RoundRobinAssignor: the partitions of all topics, dealt out to the members in turn.

Java source mirrored: ``RoundRobinAssignor``, ``CircularIterator``, every release,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/clients/consumer/RoundRobinAssignor.java
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafka_reference.arguments import checked, proven_by
from kafka_reference.assignment.behaviour import RoundRobinAssignorBehaviour
from kafka_reference.assignment.members import (
    Assignment,
    Member,
    Topic,
    TopicPartition,
    in_hash_map_order,
    in_member_order,
    java_order,
)
from kafka_reference.errors import IllegalArgumentException
from kafka_reference.releases import NEWEST, Release

__all__ = ["round_robin_assignment"]


@checked(release=proven_by("round-robin-assignor"))
def round_robin_assignment(
    topics: Mapping[str, Topic], members: Sequence[Member], release: str | Release = NEWEST
) -> Assignment:
    """Return which partitions each member gets, dealt out in turn, in the order of topics and partitions.

    ``topics`` are those of the cluster; a subscribed topic that is not there, or has no partitions, is left out. A member
    that does not subscribe to a topic is skipped, and keeps its place in the circle. Raises IllegalArgumentException for a
    group without members.

        >>> group = [Member("a", ("t", "u")), Member("b", ("t",))]
        >>> round_robin_assignment({"t": Topic(3), "u": Topic(1)}, group)
        {'a': [('t', 0), ('t', 2), ('u', 0)], 'b': [('t', 1)]}
    """
    behaviour = RoundRobinAssignorBehaviour.of(release)
    assignment: Assignment = {member.id: [] for member in members}
    circle = in_member_order(in_hash_map_order(members), behaviour.static_members_first)
    if not circle:
        raise IllegalArgumentException("CircularIterator can only be used on non-empty lists")
    place = 0
    for topic, partition in _partitions(topics, members):
        while topic not in circle[place].topics:
            place = (place + 1) % len(circle)
        assignment[circle[place].id].append((topic, partition))
        place = (place + 1) % len(circle)
    return assignment


def _partitions(topics: Mapping[str, Topic], members: Sequence[Member]) -> Iterator[TopicPartition]:
    """Yield the partitions of all subscribed topics, by the topic's name and by number."""
    subscribed = {topic for member in members for topic in member.topics}
    for topic in sorted(subscribed & topics.keys(), key=java_order):
        for partition in range(topics[topic].partitions):
            yield topic, partition
