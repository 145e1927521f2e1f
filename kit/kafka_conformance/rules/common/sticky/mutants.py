"""Mistakes in sticky assignment, for both assignors: in claims, quotas, racks, the balance of members, and releases.

Each is put into the reference itself: a function, a method or a behaviour of it is replaced while it answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from msgspec import UNSET

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.mutations import on
from kafka_reference.assignment import sticky, sticky_claims, sticky_general, sticky_group, sticky_history, sticky_quota
from kafka_reference.assignment.hash_map import HashMap
from kafka_reference.assignment.members import Member, Topic, TopicPartition
from kafka_reference.assignment.sticky_behaviour import StickyAssignorBehaviour
from kafka_reference.assignment.sticky_claims import AcceptedClaims, Claim
from kafka_reference.assignment.sticky_general import BalancedAssignment
from kafka_reference.assignment.sticky_group import StickyGroup
from kafka_reference.assignment.sticky_movements import PartitionMovements
from kafka_reference.assignment.sticky_quota import QuotaAssignment
from kafka_reference.assignment.sticky_racks import StickyRacks
from kafka_reference.behaviour import overridden
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["KAFKA", "StickyMutants"]

KAFKA = "https://github.com/apache/kafka/pull/"
_LIBRDKAFKA = "https://github.com/confluentinc/librdkafka/"
_AIOKAFKA = "https://github.com/aio-libs/aiokafka/issues/"


class StickyMutants:
    """Makes the mutants of one of the two rules; their slugs begin with ``prefix``."""

    def __init__(self, rule: str, prefix: str) -> None:
        self._rule = rule
        self._prefix = prefix

    def mutant(
        self, slug: str, description: str, ask: Ask, release: str | Release = NEWEST, *references: str
    ) -> Mutant:
        """Return a mutant of the rule."""
        return Mutant(f"{self._prefix}-{slug}", self._rule, description, ask, parse_release(release), references)

    def but(self, target: Any, **mistakes: Any) -> Ask:
        """Answer like the rule, with other attributes in a module or class of the reference."""

        def ask(question: Any, release: Release) -> Any:
            with patch.multiple(target, **mistakes):
                return RULES[self._rule].ask(question, release)

        return ask

    def behaving(self, record: Any = StickyAssignorBehaviour, **fields: Any) -> Ask:
        """Answer like the rule, with other values in a behaviour record."""

        def ask(question: Any, release: Release) -> Any:
            with overridden(record, **fields):
                return RULES[self._rule].ask(question, release)

        return ask

    def _as_listed(self) -> Ask:
        as_put = self.but(HashMap, keys=_as_put)

        def ask(question: Any, release: Release) -> Any:
            with patch.object(sticky, "in_hash_map_order", list):
                return as_put(question, release)

        return ask

    def claiming(self, change: Callable[[Claim], Claim]) -> Ask:
        """Answer like the rule, with other claims read from the members."""
        names = ("claim_in_user_data", "claim_in_subscription")
        reading = {name: _changed(getattr(sticky_claims, name), change) for name in names}
        return self.but(sticky_claims, **reading)

    def all(self) -> Iterator[Mutant]:
        """Yield the mutants that both rules have."""
        yield from self._of_claims()
        yield from self._of_quotas()
        yield from self._of_racks()
        yield from self._of_balance()
        yield from self._of_releases()

    def _of_claims(self) -> Iterator[Mutant]:
        mutant = self.mutant
        yield mutant(
            "without-generations", "claims count without regard to generations", self.claiming(_no_generation), NEWEST,
            f"{_AIOKAFKA}1176", f"{KAFKA}5291",
        )  # fmt: skip
        yield mutant("one-generation", "the generation of the user data is that of the subscription, too",
                     on(self._rule, _one_generation), NEWEST)  # fmt: skip
        yield mutant("oldest-claim", "the claim of the oldest generation counts", self.claiming(_turned), NEWEST)
        yield mutant(
            "first-claim-counts", "of claims in one generation the first one counts",
            self.but(sticky_claims._ByPartition, accept=_first_claim), NEWEST, f"{KAFKA}10985",  # noqa: SLF001
        )  # fmt: skip
        yield mutant(
            "only-newest-generation", "a member of an older generation loses all that it owned",
            self.behaving(old_generation_keeps_unclaimed=False), NEWEST, f"{KAFKA}13550",
        )  # fmt: skip
        yield mutant(
            "loser-as-owner", "a member whose claim lost is compared with the next claimant",
            self.behaving(loser_counts_as_owner=True), NEWEST, f"{KAFKA}13920",
        )  # fmt: skip
        yield mutant(
            "existing-partitions-only", "owned partitions that do not exist are dropped",
            self.but(sticky_claims, accept_claims=_existing_only), NEWEST, f"{KAFKA}10985",
        )  # fmt: skip
        yield mutant(
            "claims-of-the-last", "all members claim what the last one owned", on(self._rule, _all_as_the_last), NEWEST,
            f"{_AIOKAFKA}1175",
        )  # fmt: skip
        yield mutant("owned-forgotten", "what members owned has no effect", self.claiming(_nothing), NEWEST,
                     "https://github.com/IBM/sarama/issues/1493")  # fmt: skip
        yield mutant(
            "no-topics-differ", "a member without topics makes subscriptions different",
            self.but(sticky_claims, accept_claims=_no_topics_differ), NEWEST,
        )  # fmt: skip

    def _of_quotas(self) -> Iterator[Mutant]:
        mutant = self.mutant
        yield mutant("larger-quota-for-all", "every member may keep the larger share",
                     self.but(QuotaAssignment, keep_owned=_larger_for_all), NEWEST, f"{KAFKA}10985")  # fmt: skip
        yield mutant("quota-rounded-down", "nobody keeps more than the smaller share",
                     self.but(QuotaAssignment, keep_owned=_smaller_for_all), NEWEST)  # fmt: skip
        yield mutant(
            "owned-in-any-order", "owned partitions are kept in the order in which they were claimed",
            self.behaving(keeps_lowest_partitions=False), NEWEST, f"{KAFKA}15416", f"{_LIBRDKAFKA}issues/4044",
        )  # fmt: skip
        yield mutant("owned-by-topic", "owned partitions are kept by topic, then by partition",
                     self.but(QuotaAssignment, _owned=_owned_by_topic), NEWEST, f"{KAFKA}15416")  # fmt: skip
        yield mutant("members-as-listed", "members keep partitions in the order in which the coordinator listed them",
                     self._as_listed(), NEWEST)  # fmt: skip
        yield mutant("members-unsorted", "members are filled in the order of a HashMap",
                     self.but(sticky_quota, java_order=_same), NEWEST)  # fmt: skip
        yield mutant("code-point-order", "names are sorted by code points",
                     self.but(sticky_quota, java_order=str), NEWEST)  # fmt: skip
        yield mutant("gaps-are-found", "owned partitions that do not exist do not hide others",
                     self.but(sticky_quota, subtract=_subtracted), NEWEST)  # fmt: skip

    def _of_racks(self) -> Iterator[Mutant]:
        mutant, franz_go = self.mutant, "https://github.com/twmb/franz-go/pull/1280"
        yield mutant("racks-ignored", "racks have no effect (KIP-881)", self.behaving(matches_racks=False), NEWEST,
                     f"{KAFKA}13350", f"{_LIBRDKAFKA}pull/4252")  # fmt: skip
        yield mutant("rack-of-leader", "a partition is in the rack of its first replica only",
                     self.but(Topic, racks_of=_first_rack), NEWEST, franz_go)  # fmt: skip
        yield mutant("racks-always", "racks count, though every partition is in all of them",
                     self.but(StickyRacks, __init__=_racks_always), NEWEST, f"{KAFKA}13350")  # fmt: skip
        yield mutant("racks-any-order", "partitions that few members match are not assigned first",
                     self.but(StickyRacks, rarest_first=_any_order), NEWEST)  # fmt: skip
        yield mutant("full-by-rack-uncounted", "members filled by rack do not count as full",
                     self.behaving(rack_fill_counts_full_members=False), NEWEST, f"{KAFKA}13965")  # fmt: skip
        yield mutant("mismatch-kept", "a member keeps partitions of other racks",
                     self.but(StickyRacks, mismatch=_never), NEWEST, f"{KAFKA}13965")  # fmt: skip

    def _of_balance(self) -> Iterator[Mutant]:
        mutant, kip_54 = self.mutant, f"{KAFKA}1020"
        yield mutant("balanced-within-none", "with different subscriptions, one partition more is too much",
                     self.behaving(one_more_is_balanced=False), NEWEST, f"{KAFKA}13920",
                     f"{_LIBRDKAFKA}issues/4783")  # fmt: skip
        yield mutant("old-before-new", "old partitions move before new ones",
                     self.behaving(moves_new_partitions_first=False), NEWEST, f"{KAFKA}7130")  # fmt: skip
        yield mutant("any-partition-back", "of two partitions that swap members, both move",
                     self.but(PartitionMovements, partition_to_move=_itself), NEWEST, kip_54)  # fmt: skip
        yield mutant("no-previous-owner", "a partition does not go back to its previous owner",
                     self.but(sticky_history, older_claims=_no_one), NEWEST, f"{KAFKA}5291")  # fmt: skip
        yield mutant("all-take-part", "members that have nothing to share take part",
                     self.but(BalancedAssignment, _takes_part=_always), NEWEST, kip_54)  # fmt: skip
        yield mutant("popular-topics-first", "topics with many subscribers are assigned first",
                     self.but(BalancedAssignment, _candidates=_popular_first), NEWEST, kip_54)  # fmt: skip
        yield mutant("by-id-alone", "partitions without an owner go to the first member by id",
                     self.but(BalancedAssignment, _assign=_assign_by_id), NEWEST)  # fmt: skip
        yield mutant("never-moved", "partitions do not move to balance members",
                     self.but(BalancedAssignment, _move=_never), NEWEST, kip_54)  # fmt: skip
        yield mutant("lost-subscription-kept", "members keep topics that they no longer subscribe to",
                     self.but(BalancedAssignment, _keep_owned=_kept_all), NEWEST)  # fmt: skip
        yield mutant("all-balanced", "groups with equal subscriptions are balanced, too",
                     self.behaving(equal_subscriptions_have_own_path=False), NEWEST, f"{KAFKA}8668")  # fmt: skip
        yield mutant("group-code-points", "topics are sorted by code points with different subscriptions",
                     self.but(sticky_general, java_order=str), NEWEST)  # fmt: skip

    def _of_releases(self) -> Iterator[Mutant]:
        yield self.mutant("read-again", "user data can be read twice (KAFKA-12675)",
                          self.behaving(user_data_is_read_once=False), "2.8.2", f"{KAFKA}10552")  # fmt: skip
        yield self.mutant("by-owner-always", "partitions are listed by owner with different subscriptions, too",
                          self.but(BalancedAssignment, _is_reassignment=_always), "2.4.1", f"{KAFKA}8668")  # fmt: skip

        yield self.mutant("topics-as-listed", "topics of a bucket are in the order in which members are listed",
                          self._topics_as_listed(), "2.4.1")  # fmt: skip

    def _topics_as_listed(self) -> Ask:
        def ask(question: Any, release: Release) -> Any:
            listed = [member.id for member in question.members]

            def collected(topics: Mapping[str, Topic], members: Sequence[Member]) -> dict[str, Topic]:
                return _TOPICS(topics, sorted(members, key=lambda member: listed.index(member.id)))

            with patch.object(sticky, "topics_of_group", collected):
                return RULES[self._rule].ask(question, release)

        return ask


def _changed(read: Callable[[Member, Any], Claim], change: Callable[[Claim], Claim]) -> Callable[[Member, Any], Claim]:
    return lambda member, behaviour: change(read(member, behaviour))


def _no_generation(claim: Claim) -> Claim:
    return replace(claim, generation=None, subscription_generation=-1)


def _one_generation(question: Any) -> Any:
    return replaced(question, members=tuple(replaced(one, subscription_generation=UNSET) for one in question.members))


def _turned(claim: Claim) -> Claim:
    generation = 9 if claim.generation is None else 9 - claim.generation
    return replace(claim, generation=generation, subscription_generation=generation)


def _nothing(claim: Claim) -> Claim:
    return replace(claim, partitions=())


def _all_as_the_last(question: Any) -> Any:
    last = next((one.owned for one in reversed(question.members) if one.owned), ())
    return replaced(question, members=tuple(replaced(one, owned=last if one.owned else ()) for one in question.members))


def _first_claim(
    acceptance: Any, accepted: AcceptedClaims, member: str, generation: int | None, claimed: Sequence[TopicPartition]
) -> None:
    accepted.newest = max(accepted.newest, -1 if generation is None else generation)
    for partition in claimed:
        if partition not in acceptance._owners:  # noqa: SLF001
            acceptance._owners[partition] = member  # noqa: SLF001
            accepted.owned[member].append(partition)


_TOPICS = sticky_group.topics_of_group
_ASSIGN = BalancedAssignment._assign  # noqa: SLF001
_ACCEPT = sticky_claims.accept_claims
_INIT, _KEEP, _OWNED = StickyRacks.__init__, QuotaAssignment.keep_owned, QuotaAssignment._owned  # noqa: SLF001


def _existing_only(
    topics: Mapping[str, Topic], members: Sequence[Member], claims: Mapping[str, Claim], behaviour: Any
) -> AcceptedClaims:
    def existing(claim: Claim) -> Claim:
        partitions = claim.partitions
        return replace(
            claim,
            partitions=tuple(one for one in partitions if one[0] in topics and one[1] < topics[one[0]].partitions),
        )

    return _ACCEPT(topics, members, {member: existing(claim) for member, claim in claims.items()}, behaviour)


def _no_topics_differ(topics: Any, members: Sequence[Member], claims: Any, behaviour: Any) -> AcceptedClaims:
    accepted = _ACCEPT(topics, members, claims, behaviour)
    accepted.equal &= len({not member.topics for member in members}) < 2
    return accepted


def _larger_for_all(quota: QuotaAssignment) -> None:
    quota.larger_wanted = len(quota.assignment) if quota.larger_wanted else 0
    _KEEP(quota)


def _smaller_for_all(quota: QuotaAssignment) -> None:
    larger, quota.larger_quota = quota.larger_quota, 1 << 31
    _KEEP(quota)
    quota.larger_quota = larger


def _owned_by_topic(quota: QuotaAssignment, member: str, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
    return sorted(_OWNED(quota, member, partitions), key=sticky_group.by_topic)


def _as_put(mapping: HashMap[Any, Any]) -> list[Any]:
    return list(mapping._values)  # noqa: SLF001


def _same(_: str) -> bytes:
    return b""


def _subtracted(partitions: Sequence[TopicPartition], assigned: Sequence[TopicPartition]) -> list[TopicPartition]:
    return [partition for partition in partitions if partition not in assigned]


def _first_rack(topic: Topic, partition: int) -> frozenset[str]:
    return frozenset(topic.racks[partition][:1]) if partition < len(topic.racks) else frozenset()


def _racks_always(racks: StickyRacks, group: StickyGroup) -> None:
    _INIT(racks, group)
    racks.of_members = {member.id: member.rack for member in group.members if member.rack}
    racks.of_partitions = {one: group.topics[one[0]].racks_of(one[1]) for one in group.partitions(group.topics)}


def _any_order(_: StickyRacks, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
    return list(partitions)


def _never(*_: Any) -> bool:
    return False


def _always(*_: Any) -> bool:
    return True


def _itself(_: PartitionMovements, partition: TopicPartition, *__: str) -> TopicPartition:
    return partition


def _no_one(*_: Any) -> dict[TopicPartition, str]:
    return {}


def _popular_first(balanced: BalancedAssignment) -> list[TopicPartition]:
    topics = sorted(balanced._subscribers, key=lambda topic: (-len(balanced._subscribers[topic]), topic))  # noqa: SLF001
    return balanced._group.partitions(topics)  # noqa: SLF001


def _assign_by_id(balanced: BalancedAssignment, partition: TopicPartition, *, match_racks: bool) -> bool:
    with patch.object(BalancedAssignment, "_by_size", lambda one: sorted(one._active)):  # noqa: SLF001
        return _ASSIGN(balanced, partition, match_racks=match_racks)


def _kept_all(balanced: BalancedAssignment) -> tuple[list[TopicPartition], bool]:
    return [one for _, owned in balanced._assignment.items() for one in owned], False  # noqa: SLF001
