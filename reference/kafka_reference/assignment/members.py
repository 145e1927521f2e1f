"""Members of a group and topics of a cluster, as all assignors take them, and the Java orders that they depend on.

The leader of a group keeps the subscriptions in a HashMap by member id, and the topics in HashMaps by name; sorting uses
``String.compareTo``, which compares UTF-16 units.

Java source mirrored: ``ConsumerCoordinator.performAssignment`` and ``onLeaderElected``, ``AbstractPartitionAssignor``,
every release.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from kafka_reference.arguments import INT32, checked
from kafka_reference.assignment.hash_map import HashMap, by_text
from kafka_reference.java.hash_maps import string_hash, table_order

__all__ = [
    "Assignment", "Member", "Topic", "TopicPartition", "computed_order", "hash_map_order", "in_hash_map_order",
    "in_member_order", "java_order",
]  # fmt: skip

TopicPartition: TypeAlias = tuple[str, int]
Assignment: TypeAlias = dict[str, list[TopicPartition]]
"""For each member id its partitions, in Java's order."""


@checked
@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group with its subscription.

    ``topics`` may name a topic more than once. ``instance`` is ``group.instance.id``, ``rack`` is ``client.rack``; None:
    not set. ``owned`` are the partitions that it got in ``generation``; only sticky assignors read them.
    ``subscription_generation`` is the generation that its subscription states since 3.4.0; None: the same. A member that
    lost its generation states -1, and keeps the old one in its user data.
    """

    id: str
    topics: tuple[str, ...] = ()
    instance: str | None = None
    rack: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    subscription_generation: int | None = None


@checked(partitions=INT32)
@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the cluster: its number of partitions, and for each of them the racks of its replicas (none: empty)."""

    partitions: int
    racks: tuple[tuple[str, ...], ...] = ()

    def racks_of(self, partition: int) -> frozenset[str]:
        """Return the racks of the replicas of a partition."""
        return frozenset(self.racks[partition]) if partition < len(self.racks) else frozenset()


class _Named(Protocol):
    """What members are ordered by: a member of a client's group, or of a coordinator's."""

    @property
    def id(self) -> str: ...

    @property
    def instance(self) -> str | None: ...


AnyMember = TypeVar("AnyMember", bound=_Named)


def java_order(text: str) -> bytes:
    """Return a sort key for ``String.compareTo``: by UTF-16 units, so that U+1F600 comes before U+FF5E."""
    return text.encode("utf-16-be", "surrogatepass")


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """Return the distinct texts, put one after the other into a new HashMap, in its order."""
    return table_order(dict.fromkeys(keys), string_hash, 16)


def computed_order(keys: Iterable[str]) -> list[str]:
    """Return the distinct texts in the order of a HashMap after ``computeIfAbsent`` of each, one after the other.

    It puts a new key at the head of its bucket, and enlarges the table before it looks for a key: so a 13th key remains
    in a table of 16 until the next call. Java source mirrored: ``java.util.HashMap.computeIfAbsent``, JDK 17 and 21.
    """
    found: HashMap[str, str] = by_text()
    for key in keys:
        found.compute_if_absent(key, key)
    return found.keys()


def in_hash_map_order(members: Sequence[Member]) -> list[Member]:
    """Return the members as the leader iterates over its subscriptions: a HashMap by member id."""
    by_id: Mapping[str, Member] = {member.id: member for member in members}
    return [by_id[each] for each in hash_map_order(by_id)]


def in_member_order(members: Sequence[AnyMember], static_members_first: bool) -> list[AnyMember]:
    """Return the members in order: static ones by instance, then the others by member id; or all by member id.

    Java source mirrored: ``AbstractPartitionAssignor.MemberInfo.compareTo``.
    """
    if not static_members_first:
        return sorted(members, key=lambda member: java_order(member.id))
    return sorted(
        members,
        key=lambda member: (
            member.instance is None,
            java_order(member.id if member.instance is None else member.instance),
        ),
    )
