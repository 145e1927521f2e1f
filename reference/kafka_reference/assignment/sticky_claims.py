"""What the members of a group say they owned, and which of these claims a sticky assignor accepts.

A member claims the partitions of its last assignment, with the generation in which it got them. A member that lags behind
claims partitions that others have got since, so claims are compared by generation.

Java source mirrored: ``StickyAssignor.memberData``, ``CooperativeStickyAssignor.memberData`` and
``AbstractStickyAssignor.allSubscriptionsEqual``, since 2.5.1; ``StickyAssignor.deserializeTopicPartitionAssignment``,
since 0.11.0.0,
https://github.com/apache/kafka/blob/3.7.1/clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractStickyAssignor.java
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kafka_reference.assignment.hash_map import HashMap, by_partition, by_text
from kafka_reference.assignment.members import Member, Topic, TopicPartition
from kafka_reference.assignment.sticky_behaviour import (
    CooperativeStickyAssignorBehaviour,
    StickyAssignorBehaviour,
)

__all__ = ["NO_GENERATION", "AcceptedClaims", "Claim", "accept_claims", "remaining_claim"]

NO_GENERATION = -1


@dataclass(frozen=True, slots=True)
class Claim:
    """What a member says it owned.

    ``partitions`` in the order in which the assignor reads them; ``generation`` is None where none was sent.
    ``subscription_generation`` is the one in the subscription itself, -1 if there is none. ``sent`` is False if the member
    sent nothing at all.
    """

    partitions: tuple[TopicPartition, ...]
    generation: int | None
    subscription_generation: int = NO_GENERATION
    sent: bool = True


def claim_in_user_data(member: Member, behaviour: StickyAssignorBehaviour) -> Claim:
    """Return the claim that StickyAssignor reads from user data: grouped by topic, in the order of a HashMap.

    A member without partitions and without generation has had no assignment, and sends none.
    """
    grouped: HashMap[str, list[TopicPartition]] = by_text()
    group = grouped.compute_if_absent if behaviour.user_data_lists_topics_from_the_front else grouped.put_if_absent
    for partition in member.owned:
        group(partition[0], []).append(partition)
    partitions = tuple(each for _, of_topic in grouped.items() for each in of_topic)
    generation = member.generation if behaviour.user_data_has_generation else None
    sent = bool(member.owned) or member.generation not in (None, NO_GENERATION)
    return Claim(partitions, generation, _in_subscription(member), sent)


def claim_in_subscription(member: Member, behaviour: CooperativeStickyAssignorBehaviour) -> Claim:
    """Return the claim that CooperativeStickyAssignor reads: partitions from the subscription, the generation by release.

    Since 3.4.0 the generation is that of the subscription, if it states one, else that of the user data.
    """
    stated = _in_subscription(member)
    if behaviour.reads_generation_of_subscription and stated != NO_GENERATION:
        return Claim(member.owned, stated, stated)
    return Claim(member.owned, member.generation if behaviour.reads_generation else None, stated)


def remaining_claim(claim: Claim, *, cooperative: bool) -> Claim:
    """Return what is left of a claim whose user data were read before, and not rewound.

    StickyAssignor finds no data; CooperativeStickyAssignor finds no generation, and takes -1 for it.
    """
    if not cooperative:
        return Claim((), None)
    return Claim(claim.partitions, None if claim.generation is None else NO_GENERATION)


def _in_subscription(member: Member) -> int:
    stated = member.subscription_generation
    generation = member.generation if stated is None else stated
    return NO_GENERATION if generation is None or generation < 0 else generation


@dataclass(slots=True)
class AcceptedClaims:
    """The claims that count.

    ``owned`` are the partitions that each member keeps its claim to; ``of_two_owners`` those that two members of the same
    generation claim; ``newest`` is the newest generation. ``read`` are the members that were read until the first one with
    another subscription; ``equal`` is whether there was none.
    """

    owned: HashMap[str, list[TopicPartition]] = field(default_factory=by_text)
    of_two_owners: HashMap[TopicPartition, bool] = field(default_factory=by_partition)
    newest: int = NO_GENERATION
    read: list[str] = field(default_factory=list)
    equal: bool = True


def accept_claims(
    topics: Mapping[str, Topic],
    members: Sequence[Member],
    claims: Mapping[str, Claim],
    behaviour: StickyAssignorBehaviour,
) -> AcceptedClaims:
    """Return the claims that count, and whether all members have the same subscription.

    The first member that subscribes to anything sets what the others are compared with; members before it, without a
    topic, count as equal. ``members`` are in the order of the leader's HashMap.
    """
    accepted = AcceptedClaims()
    by_generation = behaviour.old_generation_keeps_unclaimed
    acceptance = _ByPartition(claims, behaviour) if by_generation else _ByMember(behaviour)
    subscribed: set[str] = set()
    for member in members:
        if not subscribed:
            subscribed.update(member.topics)
        elif len(member.topics) != len(subscribed) or not subscribed.issuperset(member.topics):
            accepted.equal = False
            if not behaviour.general_path_drops_old_claims:
                break
        if accepted.equal:
            accepted.read.append(member.id)
        accepted.owned[member.id] = []
        known = [each for each in claims[member.id].partitions if each[0] in topics]
        acceptance.accept(accepted, member.id, claims[member.id].generation, known)
    acceptance.finish(accepted)
    return accepted


class _ByMember:
    """Up to 3.4.0: only members of the newest generation count, and of those without one until the first that has one."""

    def __init__(self, behaviour: StickyAssignorBehaviour) -> None:
        self._drops_partitions_of_two_owners = behaviour.drops_partitions_of_two_owners
        self._newest_members: list[str] = []
        self._outdated: list[str] = []
        self._owners: dict[TopicPartition, str] = {}

    def accept(
        self, accepted: AcceptedClaims, member: str, generation: int | None, claimed: Sequence[TopicPartition]
    ) -> None:
        """Add what counts of the claims of one member."""
        if (NO_GENERATION if generation is None else generation) < accepted.newest:
            return
        if generation is not None and generation > accepted.newest:
            self._outdate(accepted)
            accepted.newest = generation
        self._newest_members.append(member)
        for partition in claimed:
            if self._drops_partitions_of_two_owners and partition in self._owners:
                _remove(accepted.owned[self._owners[partition]], partition)
                accepted.of_two_owners[partition] = True
            else:
                self._owners[partition] = member
                accepted.owned[member].append(partition)

    def _outdate(self, accepted: AcceptedClaims) -> None:
        self._outdated += self._newest_members
        self._newest_members = []
        self._owners = {}
        accepted.of_two_owners.clear()

    def finish(self, accepted: AcceptedClaims) -> None:
        """Remove the claims of members that turned out to be of an older generation."""
        for member in self._outdated:
            accepted.owned[member].clear()


class _ByPartition:
    """Since 3.4.1: the claimant of the newest generation has the partition."""

    def __init__(self, claims: Mapping[str, Claim], behaviour: StickyAssignorBehaviour) -> None:
        self._claims = claims
        self._loser_counts_as_owner = behaviour.loser_counts_as_owner
        self._owners: dict[TopicPartition, str] = {}

    def accept(
        self, accepted: AcceptedClaims, member: str, generation: int | None, claimed: Sequence[TopicPartition]
    ) -> None:
        """Add what counts of the claims of one member, and remove what others lose to it."""
        mine = NO_GENERATION if generation is None else generation
        accepted.newest = max(accepted.newest, mine)
        for partition in claimed:
            owner = self._owners.get(partition)
            if owner is None:
                accepted.owned[member].append(partition)
                self._owners[partition] = member
                continue
            theirs = self._claims[owner].subscription_generation
            if mine == theirs:
                accepted.of_two_owners[partition] = True
            elif mine > theirs:
                accepted.owned[member].append(partition)
            if mine >= theirs:
                _remove(accepted.owned[owner], partition)
            if mine >= theirs or self._loser_counts_as_owner:
                self._owners[partition] = member

    def finish(self, accepted: AcceptedClaims) -> None:
        """Nothing is left to do."""


def _remove(partitions: list[TopicPartition], partition: TopicPartition) -> None:
    if partition in partitions:
        partitions.remove(partition)
