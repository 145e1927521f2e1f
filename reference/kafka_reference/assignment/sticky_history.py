"""Present and previous owners of each partition, from what members claim; for groups with different subscriptions.

Where claims of several generations name a partition, the newest claimant is its present owner. The one before is its
previous owner: if the partition has to move, it goes back there.

Java source mirrored: ``prepopulateCurrentAssignments`` of ``StickyAssignor``, 0.11.0.0 to 2.3.1, and of
``AbstractStickyAssignor``, since 2.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_reference.assignment.hash_map import HashMap, by_partition, by_text
from kafka_reference.assignment.members import Member, TopicPartition
from kafka_reference.assignment.sticky_claims import NO_GENERATION, Claim

__all__ = ["all_claims", "newest_claims", "older_claims"]


def all_claims(members: Sequence[Member], claims: Mapping[str, Claim]) -> HashMap[str, list[TopicPartition]]:
    """Return all that members claim, up to 2.2.x: two members may own the same partition."""
    return by_text((one.id, list(claims[one.id].partitions)) for one in members if claims[one.id].sent)


def newest_claims(
    members: Sequence[Member], claims: Mapping[str, Claim]
) -> tuple[HashMap[str, list[TopicPartition]], dict[TopicPartition, str]]:
    """Return what members own by the newest claims, and the previous owners. 2.3.0 to 2.8.x.

    If two claims have the same generation, the first counts; among claims without a generation (-1), the last.
    Partitions are in the order of a HashMap.
    """
    claimants: HashMap[TopicPartition, dict[int, str]] = by_partition()
    for member in members:
        generation = claims[member.id].generation
        for partition in claims[member.id].partitions:
            of_partition = claimants.put_if_absent(partition, {})
            if generation is None or generation not in of_partition:
                of_partition[NO_GENERATION if generation is None else generation] = member.id
    owned: HashMap[str, list[TopicPartition]] = by_text()
    previous: HashMap[TopicPartition, str] = by_partition()
    for partition, of_partition in claimants.items():
        newest, *older = sorted(of_partition, reverse=True)
        owned.compute_if_absent(of_partition[newest], []).append(partition)
        if older:
            previous[partition] = of_partition[older[0]]
    return owned, dict(previous.items())


def older_claims(members: Sequence[Member], claims: Mapping[str, Claim], newest: int) -> dict[TopicPartition, str]:
    """Return the previous owners: of all claims older than ``newest``, the newest one, and of equal ones the first.

    Since 3.0.0. They count whether or not their claimant still subscribes to the topic.
    """
    previous: dict[TopicPartition, tuple[int, str]] = {}
    for member in members:
        sent = claims[member.id].generation
        generation = NO_GENERATION if sent is None else sent
        if generation >= newest:
            continue
        for partition in claims[member.id].partitions:
            if partition not in previous or generation > previous[partition][0]:
                previous[partition] = (generation, member.id)
    return {partition: member for partition, (_, member) in previous.items()}
