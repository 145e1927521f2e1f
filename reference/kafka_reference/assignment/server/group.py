"""The group that the coordinator passes to an assignor, in the order of Java's collections.

The coordinator puts members into a HashMap. A member's subscription is a set of topic names (a TreeSet-like sorted list up
to 3.7.x), of which the assignor sees the ids of those topics that exist. Its old assignment is a HashMap of topic ids with
HashSets of partitions. The assignors iterate these collections, so their order decides who gets what.

Java source mirrored: ``TargetAssignmentBuilder.build``, ``TopicIds``, ``Assignment.fromRecord``, ``GroupSpecImpl`` and
``AssignmentSpec``, since 3.6.0; ``Uuid.hashCode``; ``HashSet(Collection)`` as in JDK 17. JDK 21 makes a smaller table of
exactly 12, 24, 48 … elements. Not mirrored: a bucket of 8 keys or more.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from kafka_reference.assignment.members import java_order
from kafka_reference.assignment.server.behaviour import TargetAssignmentBuilderBehaviour
from kafka_reference.errors import QuestionError
from kafka_reference.java.hash_maps import capacity_for, string_hash, table_order

__all__ = [
    "Group", "HashTable", "Member", "Partition", "SubscribedTopic", "Subscriber", "Targets", "Uuid", "group_of",
    "in_order", "partition_hash", "partition_text", "uuid_hash",
]  # fmt: skip

K = TypeVar("K")
_CAPACITY = 16


class Uuid(NamedTuple):
    """A topic id: its two int64. They compare as Java's do."""

    most: int
    least: int

    def __str__(self) -> str:
        data = b"".join((half & (2**64 - 1)).to_bytes(8, "big") for half in (self.most, self.least))
        return base64.urlsafe_b64encode(data).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str) -> Uuid:
        """Return the id of a text as Kafka prints it. Raises QuestionError."""
        try:
            data = base64.b64decode(text + "==", altchars=b"-_", validate=True)
        except ValueError as error:  # unreached: questions have ids that are base64
            raise QuestionError(f"{text!r} is no topic id: give 22 letters of URL-safe base64") from error
        if len(data) != 16:
            raise QuestionError(f"{text!r} is no topic id: it has {len(data)} bytes, expected 16")
        return cls(int.from_bytes(data[:8], "big", signed=True), int.from_bytes(data[8:], "big", signed=True))


Partition: TypeAlias = tuple[Uuid, int]
"""A topic id and the number of a partition."""
Targets: TypeAlias = dict[str, dict[Uuid, set[int]]]
"""An assignment: for each member id its partitions, by topic id."""


def uuid_hash(topic: Uuid) -> int:
    """Return ``Uuid.hashCode`` as 32 bits without a sign."""
    mixed = topic.most ^ topic.least
    return (mixed >> 32 ^ mixed) & 0xFFFFFFFF


def partition_hash(partition: Partition) -> int:
    """Return ``TopicIdPartition.hashCode`` of ``org.apache.kafka.server.common`` as 32 bits without a sign."""
    return (31 * (31 + uuid_hash(partition[0])) + partition[1]) & 0xFFFFFFFF


def partition_text(partition: Partition) -> str:
    """Return ``TopicIdPartition.toString``."""
    return f"{partition[0]}:{partition[1]}"


class HashTable(Generic[K]):
    """The keys of a HashMap, or a HashSet, in Java's order. The table grows with its keys and never shrinks."""

    def __init__(self, hash_of: Callable[[K], int], keys: Iterable[K] = (), *, copied: int | None = None) -> None:
        """``copied`` is the size of the collection that ``HashSet(Collection)`` copies; None: keys are added one by one."""
        self._hash_of = hash_of
        self._keys: dict[K, None] = {}
        self._capacity = _CAPACITY if copied is None else capacity_for(max(copied * 4 // 3 + 1, _CAPACITY))
        self.update(keys)

    def add(self, key: K) -> None:
        """Add a key; one that is there stays where it is."""
        self._keys[key] = None
        while len(self._keys) > self._capacity * 3 // 4:
            self._capacity *= 2

    def update(self, keys: Iterable[K]) -> None:
        """Add keys, one after the other."""
        for key in keys:
            self.add(key)

    def discard(self, key: K) -> None:
        """Remove a key, if it is there."""
        self._keys.pop(key, None)

    def ordered(self) -> list[K]:
        """Return the keys in Java's order."""
        return table_order(self._keys, self._hash_of, self._capacity)

    def __len__(self) -> int:
        return len(self._keys)


def in_order(hash_of: Callable[[K], int], keys: Iterable[K], *, copied: int | None = None) -> list[K]:
    """Return the keys in the order of a HashTable."""
    return HashTable(hash_of, keys, copied=copied).ordered()


@dataclass(frozen=True, slots=True)
class SubscribedTopic:
    """A topic of the cluster.

    ``partitions`` is None for a topic that is deleted: no name stands for its id. ``described`` is whether the metadata of
    the group have it. ``racks`` are the racks of each partition's replicas, or ().
    """

    name: str
    id: Uuid
    partitions: int | None
    described: bool = True
    racks: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A member of the coordinator's group: the names it subscribes to, and its partitions in the last target assignment."""

    id: str
    instance: str | None
    rack: str | None
    names: tuple[str, ...]
    assigned: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A member as the assignor sees it, all in Java's order.

    ``topics`` are the ids of its topics, ``names`` the number of names it subscribes to, ``assigned`` its old partitions.
    """

    id: str
    instance: str | None
    rack: str | None
    topics: tuple[Uuid, ...]
    names: int
    assigned: tuple[tuple[Uuid, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What an assignor gets. ``partitions`` and ``racks`` have the topics that the metadata describe."""

    members: tuple[Member, ...]
    partitions: Mapping[Uuid, int]
    racks: Mapping[Partition, tuple[str, ...]]
    homogeneous: bool

    def assigned_to(self, member: str) -> Mapping[Uuid, tuple[int, ...]]:
        """Return the old partitions of a member."""
        return next(dict(each.assigned) for each in self.members if each.id == member)


def group_of(
    behaviour: TargetAssignmentBuilderBehaviour,
    topics: Sequence[SubscribedTopic],
    members: Sequence[Subscriber],
    homogeneous: bool | None = None,
) -> Group:
    """Return the group in the order of a release's coordinator.

    ``homogeneous`` is the subscription type; None: the coordinator's own, whether all members subscribe to the same names.
    """
    ids = {topic.name: topic.id for topic in topics if topic.partitions is not None}
    by_id = {member.id: _member(behaviour, member, ids) for member in members}
    if homogeneous is None:
        homogeneous = len({frozenset(member.names) for member in members}) <= 1
    described = [topic for topic in topics if topic.partitions is not None and topic.described]
    return Group(
        tuple(by_id[member] for member in in_order(string_hash, by_id)),
        {topic.id: topic.partitions for topic in described if topic.partitions is not None},
        {
            (topic.id, number): tuple(in_order(string_hash, racks))
            for topic in described
            for number, racks in enumerate(topic.racks)
        },
        homogeneous,
    )


def _member(behaviour: TargetAssignmentBuilderBehaviour, member: Subscriber, ids: Mapping[str, Uuid]) -> Member:
    if behaviour.topics_by_name:
        names = in_order(string_hash, member.names, copied=len(member.names))
        topics = [ids[name] for name in names if name in ids]
    else:
        names = sorted(set(member.names), key=java_order)
        topics = in_order(uuid_hash, [ids[name] for name in names if name in ids])
    owned: dict[Uuid, list[int]] = {}
    for topic, number in member.assigned:
        owned.setdefault(topic, []).append(number)
    return Member(
        member.id,
        member.instance,
        member.rack,
        tuple(topics),
        len(names),
        tuple(
            (topic, tuple(in_order(int, owned[topic], copied=len(owned[topic]))))
            for topic in in_order(uuid_hash, owned)
        ),
    )
