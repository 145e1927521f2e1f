"""The uniform assignor for a heterogeneous group, since 4.0.0.

Members keep their old partitions of topics they still subscribe to. Topics are taken in order of partitions per
subscriber, the most first. The free partitions of each go to the members that have the fewest; then partitions move from
the members with the most to those with the fewest, topic by topic, until a whole round moves none, or after 16 rounds.

Java source mirrored: ``org.apache.kafka.coordinator.group.assignor.UniformHeterogeneousAssignmentBuilder``, since 4.0.0,
https://github.com/apache/kafka/blob/4.0.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/UniformHeterogeneousAssignmentBuilder.java
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_reference.assignment.server.balancer import Balancer
from kafka_reference.assignment.server.group import Group, Targets, Uuid
from kafka_reference.assignment.server.uniform_homogeneous import undescribed
from kafka_reference.errors import ArrayIndexOutOfBoundsException

__all__ = ["MOST_ROUNDS", "HeterogeneousBuilder"]

MOST_ROUNDS = 16


class HeterogeneousBuilder:
    """One assignment. Members have indexes, ``_owners`` are those of each topic's partitions."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._ids = [member.id for member in group.members]
        self._subscribers: dict[Uuid, list[int]] = {}
        for index, member in enumerate(group.members):
            for topic in member.topics:
                if topic not in group.partitions:
                    raise undescribed(topic)
                self._subscribers.setdefault(topic, []).append(index)
        self._sizes = [0] * len(group.members)
        self._targets: Targets = {}
        self._owners: dict[Uuid, list[int | None]] = {
            topic: [None] * group.partitions[topic] for topic in self._subscribers
        }

    def build(self) -> Targets:
        """Return the assignment. Raises ArrayIndexOutOfBoundsException for an old partition that the topic does not have."""
        if not self._subscribers:
            return {}
        self._keep()
        self._fill()
        self._balance()
        return self._targets

    def _keep(self) -> None:
        for index, member in enumerate(self._group.members):
            kept = {topic: set(numbers) for topic, numbers in member.assigned if topic in member.topics}
            for topic, numbers in kept.items():
                self._sizes[index] += len(numbers)
                for number in numbers:
                    if number >= len(self._owners[topic]):
                        raise ArrayIndexOutOfBoundsException
                    self._owners[topic][number] = index
            self._targets[member.id] = kept

    def _sorted(self, topics: Iterable[Uuid]) -> list[Uuid]:
        def key(topic: Uuid) -> tuple[float, int, Uuid]:
            subscribers = len(self._subscribers[topic])
            return -self._group.partitions[topic] / subscribers, subscribers, topic

        return sorted(topics, key=key)

    def _fill(self) -> None:
        free = {topic: [n for n, owner in enumerate(owners) if owner is None] for topic, owners in self._owners.items()}
        for topic in self._sorted(topic for topic, numbers in free.items() if numbers):
            balancer = Balancer(self._sizes, self._subscribers[topic])
            for number in free[topic]:
                self._give(topic, number, balancer.least_loaded())

    def _give(self, topic: Uuid, number: int, index: int) -> None:
        """Give a partition to a member, and take it from the one that has it."""
        old = self._owners[topic][number]
        if old is not None:
            of_old = self._targets[self._ids[old]]
            of_old[topic].discard(number)
            if not of_old[topic]:
                del of_old[topic]
            self._sizes[old] -= 1
        self._targets[self._ids[index]].setdefault(topic, set()).add(number)
        self._owners[topic][number] = index
        self._sizes[index] += 1

    def _balance(self) -> None:
        topics = self._sorted(topic for topic, members in self._subscribers.items() if len(members) >= 2)
        last: Uuid | None = None
        for _ in range(MOST_ROUNDS):
            for topic in topics:
                if topic == last:
                    return
                if self._balance_topic(topic) or last is None:
                    last = topic

    def _balance_topic(self, topic: Uuid) -> bool:
        """Move partitions of a topic between its subscribers; return whether any moved."""
        balancer = Balancer(self._sizes, self._subscribers[topic])
        if balancer.imbalance <= 1:
            return False
        owned: dict[int | None, list[int]] = {}
        for number, owner in enumerate(self._owners[topic]):
            owned.setdefault(owner, []).append(number)
        moved = False
        while True:
            giver = balancer.most_loaded()
            while giver is not None and not owned.get(giver):
                balancer.exclude_most_loaded()
                giver = balancer.most_loaded()
            if giver is None:
                break
            number = owned[giver].pop()
            taker = balancer.least_loaded()
            if balancer.is_balanced():
                break
            self._give(topic, number, taker)
            moved = True
        return moved
