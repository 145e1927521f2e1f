"""The range assignor of the coordinator.

Each topic is divided among the members that subscribe to it: shares differ by one partition at most. Since 3.9.0 a share
is one range of partitions, and members are sorted, so topics with equal counts are divided in the same way. Up to 3.8.x a
member keeps what it had, up to its share, lowest partitions first, and the rest goes to the others in ascending order.

Java source mirrored: ``org.apache.kafka.coordinator.group.assignor.RangeAssignor``, since 3.6.0,
https://github.com/apache/kafka/blob/4.0.0/group-coordinator/src/main/java/org/apache/kafka/coordinator/group/assignor/RangeAssignor.java
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_reference.assignment.members import in_member_order
from kafka_reference.assignment.server.behaviour import ServerRangeAssignorBehaviour
from kafka_reference.assignment.server.errors import NoSuchElementException, PartitionAssignorException
from kafka_reference.assignment.server.group import Group, Member, Targets, Uuid

__all__ = ["assign_ranges", "divide", "keep_and_fill", "sorted_members"]


def assign_ranges(behaviour: ServerRangeAssignorBehaviour, group: Group) -> Targets:
    """Return the target assignment. Raises PartitionAssignorException for a topic that the metadata do not describe.

    In 3.8.x also NoSuchElementException for a group without members.
    """
    if not group.members and behaviour.needs_a_member and group.homogeneous:
        raise NoSuchElementException
    members = group.members if behaviour.keeps_partitions else sorted_members(group.members)
    targets: Targets = {member.id: {} for member in members}
    for topic, subscribers in _subscribers(behaviour, group, members).items():
        count = group.partitions[topic]
        if behaviour.keeps_partitions:
            shares = keep_and_fill(count, {each: group.assigned_to(each).get(topic, ()) for each in subscribers})
        else:
            shares = divide(count, subscribers)
        for member, share in shares.items():
            targets[member][topic] = share
    return targets


def _subscribers(
    behaviour: ServerRangeAssignorBehaviour, group: Group, members: Sequence[Member]
) -> dict[Uuid, list[str]]:
    """Return the members of each topic, in their order."""
    alike = behaviour.reads_subscription_type and group.homogeneous
    subscribers: dict[Uuid, list[str]] = {}
    for member in members:
        for topic in members[0].topics if alike else member.topics:
            if topic not in group.partitions:
                raise PartitionAssignorException("Member is subscribed to a non-existent topic")
            subscribers.setdefault(topic, []).append(member.id)
    return subscribers


def sorted_members(members: Sequence[Member]) -> list[Member]:
    """Return static members by ``group.instance.id``, then dynamic ones by member id. Mirrors ``sortMemberIds``."""
    return in_member_order(members, static_members_first=True)


def divide(count: int, subscribers: Sequence[str]) -> dict[str, set[int]]:
    """Return one range for each member; the first members get one partition more."""
    share, extras = divmod(count, len(subscribers))
    shares, start = {}, 0
    for place, member in enumerate(subscribers):
        end = start + share + (place < extras)
        shares[member] = set(range(start, end))
        start = end
    return shares


def keep_and_fill(count: int, old: Mapping[str, Sequence[int]]) -> dict[str, set[int]]:
    """Return what each member keeps of its old partitions, up to its share, and gets of those that are free."""
    share, extras = divmod(count, len(old))
    shares: dict[str, set[int]] = {}
    owed: list[tuple[str, int]] = []
    for member, partitions in old.items():
        keeps_extra = len(partitions) > share and extras > 0
        extras -= keeps_extra
        shares[member] = set(sorted(partitions)[: share + keeps_extra])
        if not keeps_extra:
            owed.append((member, share - len(partitions)))
    kept = set().union(*shares.values())
    free = [partition for partition in range(count) if partition not in kept]
    for member, owes in owed:
        gets_extra = extras > 0
        extras -= gets_extra
        wanted = max(owes + gets_extra, 0)
        shares[member].update(free[:wanted])
        del free[:wanted]
    return shares
