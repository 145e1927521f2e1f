"""The group that a sticky assignor assigns: its topics with partitions, its members, and what they claim.

Java source mirrored: ``AbstractPartitionAssignor.assign``, ``AbstractStickyAssignor``, since 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_reference.assignment.members import Member, Topic, TopicPartition, hash_map_order, java_order
from kafka_reference.assignment.sticky_behaviour import StickyAssignorBehaviour
from kafka_reference.assignment.sticky_claims import Claim

__all__ = ["StickyGroup", "by_topic", "subtract", "topics_of_group"]


@dataclass(frozen=True, slots=True)
class StickyGroup:
    """A group with what its members claim.

    ``topics`` are the subscribed topics that have partitions, in the order of the assignor's HashMap. ``members`` are in
    the order of the leader's HashMap, ``claims`` by member id.
    """

    topics: Mapping[str, Topic]
    members: Sequence[Member]
    claims: Mapping[str, Claim]
    behaviour: StickyAssignorBehaviour

    def partitions(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Return all partitions of these topics, topic by topic."""
        return [(topic, number) for topic in topics for number in range(self.topics[topic].partitions)]

    @property
    def size(self) -> int:
        """The number of partitions."""
        return sum(topic.partitions for topic in self.topics.values())


def topics_of_group(topics: Mapping[str, Topic], members: Sequence[Member]) -> dict[str, Topic]:
    """Return the topics that members subscribe to and that have partitions, in the order of the assignor's HashMap.

    ``members`` are in the order of the leader's HashMap: of two topics in one bucket, that of the first member comes first.
    """
    subscribed = hash_map_order(topic for member in members for topic in member.topics)
    known = (topic for topic in subscribed if topic in topics and topics[topic].partitions)
    return {topic: topics[topic] for topic in hash_map_order(known)}


def by_topic(partition: TopicPartition) -> tuple[bytes, int]:
    """Return a sort key: by topic, then by partition."""
    return java_order(partition[0]), partition[1]


def subtract(partitions: Sequence[TopicPartition], assigned: Sequence[TopicPartition]) -> list[TopicPartition]:
    """Return ``partitions`` without those that are assigned; both are sorted in the same order.

    Both lists are walked together. An assigned partition that is not in ``partitions`` (its topic has become smaller), or
    that is listed twice, is never found: all partitions behind it count as not assigned.

    Java source mirrored: ``getUnassignedPartitions``, since 3.0.0.
    """
    waiting = iter(assigned)
    awaited = next(waiting, None)
    left = []
    for partition in partitions:
        if partition == awaited:
            awaited = next(waiting, None)
        else:
            left.append(partition)
    return left
