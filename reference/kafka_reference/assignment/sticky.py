"""StickyAssignor and CooperativeStickyAssignor: a balanced assignment in which partitions stay where they are.

Members whose subscriptions are equal share by quotas (``sticky_quota``, ``sticky_stealing``); others are balanced
(``sticky_general``), as all groups are up to 2.5.0. CooperativeStickyAssignor withholds each partition that another member
still owns: it is assigned in the next rebalance, when its owner has given it up.

Java source mirrored: ``StickyAssignor``, since 0.11.0.0; ``AbstractStickyAssignor``, ``CooperativeStickyAssignor``, since
2.4.0,
https://github.com/apache/kafka/blob/3.7.1/clients/src/main/java/org/apache/kafka/clients/consumer/CooperativeStickyAssignor.java
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_reference.arguments import checked, proven_by
from kafka_reference.assignment import sticky_claims, sticky_general, sticky_history, sticky_quota, sticky_stealing
from kafka_reference.assignment.hash_map import HashMap, by_text
from kafka_reference.assignment.members import Assignment, Member, Topic, TopicPartition, in_hash_map_order
from kafka_reference.assignment.sticky_behaviour import CooperativeStickyAssignorBehaviour, StickyAssignorBehaviour
from kafka_reference.assignment.sticky_claims import AcceptedClaims, Claim
from kafka_reference.assignment.sticky_group import StickyGroup, topics_of_group
from kafka_reference.releases import NEWEST, Release

__all__ = ["cooperative_sticky_assignment", "sticky_assignment", "transferred_partitions"]


@checked(release=proven_by("sticky-assignor"))
def sticky_assignment(
    topics: Mapping[str, Topic], members: Sequence[Member], release: str | Release = NEWEST
) -> Assignment:
    """Return which partitions each member gets; what it owned comes first.

    ``topics`` are those of the cluster; a subscribed topic that is not there, or has no partitions, is left out. Raises
    IllegalStateException where members own partitions that do not exist, if that upsets the quotas.

        >>> group = [Member("a", ("t",), owned=(("t", 2), ("t", 1), ("t", 0)), generation=5), Member("b", ("t",))]
        >>> sticky_assignment({"t": Topic(3)}, group)
        {'a': [('t', 0), ('t', 1)], 'b': [('t', 2)]}
    """
    behaviour = StickyAssignorBehaviour.of(release)
    claims = {member.id: sticky_claims.claim_in_user_data(member, behaviour) for member in members}
    listed = in_hash_map_order(members)
    group = StickyGroup(topics_of_group(topics, listed), listed, claims, behaviour)
    return dict(_assign(group, cooperative=False)[0].items())


@checked(release=proven_by("cooperative-sticky-assignor"))
def cooperative_sticky_assignment(
    topics: Mapping[str, Topic], members: Sequence[Member], release: str | Release = NEWEST
) -> Assignment:
    """Return which partitions each member gets now, without those that another member still owns.

    Arguments and exceptions are those of :func:`sticky_assignment`.

        >>> group = [Member("a", ("t",), owned=(("t", 2), ("t", 1), ("t", 0)), generation=5), Member("b", ("t",))]
        >>> cooperative_sticky_assignment({"t": Topic(3)}, group)
        {'a': [('t', 0), ('t', 1)], 'b': []}
    """
    cooperative = CooperativeStickyAssignorBehaviour.of(release)
    claims = {member.id: sticky_claims.claim_in_subscription(member, cooperative) for member in members}
    listed = in_hash_map_order(members)
    group = StickyGroup(topics_of_group(topics, listed), listed, claims, StickyAssignorBehaviour.of(release))
    assignment, transferred = _assign(group, cooperative=True)
    for partition, member in (
        transferred_partitions(group, assignment) if transferred is None else transferred
    ).items():
        assignment[member].remove(partition)
    return dict(assignment.items())


def _assign(
    group: StickyGroup, *, cooperative: bool
) -> tuple[HashMap[str, list[TopicPartition]], dict[TopicPartition, str] | None]:
    """Return the whole assignment, and the partitions that change hands with their new owners; None: not tracked."""
    behaviour = group.behaviour
    if not behaviour.equal_subscriptions_have_own_path:
        return _balance(group, None), None
    accepted = sticky_claims.accept_claims(group.topics, group.members, group.claims, behaviour)
    if not accepted.equal:
        if behaviour.user_data_is_read_once:
            group = _read_again(group, accepted, cooperative=cooperative)
        return _balance(group, accepted), None
    by_quota = (
        sticky_stealing.assign_by_stealing if behaviour.steals_from_full_members else sticky_quota.assign_by_quota
    )
    assignment, transferred = by_quota(group, accepted)
    return by_text(assignment.items()), transferred


def _read_again(group: StickyGroup, accepted: AcceptedClaims, *, cooperative: bool) -> StickyGroup:
    """Return the group with what is left of the claims that were read once."""
    left: dict[str, Claim] = {
        member: sticky_claims.remaining_claim(group.claims[member], cooperative=cooperative) for member in accepted.read
    }
    return StickyGroup(group.topics, group.members, {**group.claims, **left}, group.behaviour)


def _balance(group: StickyGroup, accepted: AcceptedClaims | None) -> HashMap[str, list[TopicPartition]]:
    """Assign a group whose subscriptions differ, or any group up to 2.5.0."""
    previous: dict[TopicPartition, str] = {}
    if accepted is not None and group.behaviour.general_path_drops_old_claims:
        owned = accepted.owned
        previous = sticky_history.older_claims(group.members, group.claims, accepted.newest)
    elif group.behaviour.user_data_has_generation:
        owned, previous = sticky_history.newest_claims(group.members, group.claims)
    else:
        owned = sticky_history.all_claims(group.members, group.claims)
    return sticky_general.balance(group, owned, previous)


def transferred_partitions(
    group: StickyGroup, assignment: HashMap[str, list[TopicPartition]]
) -> dict[TopicPartition, str]:
    """Return the partitions that one member owned and no longer has, and another has and did not own, with the new owner.

    Java source mirrored: ``CooperativeStickyAssignor.computePartitionsTransferringOwnership``, since 2.5.1;
    ``adjustAssignment``, 2.4.0 to 2.5.0.
    """
    owned = {member.id: frozenset(member.owned) for member in group.members}
    revoked = {each for member, had in owned.items() for each in had - set(assignment[member])}
    return {
        each: member
        for member, has in assignment.items()
        for each in has
        if each not in owned[member] and each in revoked
    }
