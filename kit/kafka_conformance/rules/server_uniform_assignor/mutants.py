"""Mistakes in the coordinator's uniform assignor: in what members keep, in the order of maps, in balance, in racks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.common.server_assignors.mutations import PULL, Mutations, forgetful
from kafka_conformance.rules.server_uniform_assignor.rule import RULE
from kafka_reference.assignment.members import java_order
from kafka_reference.assignment.server import uniform, uniform_heterogeneous, uniform_homogeneous
from kafka_reference.assignment.server.balancer import Balancer
from kafka_reference.assignment.server.behaviour import TargetAssignmentBuilderBehaviour, UniformAssignorBehaviour
from kafka_reference.assignment.server.group import Group, Partition, Uuid
from kafka_reference.assignment.server.racks import RackInfo
from kafka_reference.assignment.server.uniform_general import GeneralBuilder
from kafka_reference.assignment.server.uniform_heterogeneous import HeterogeneousBuilder
from kafka_reference.assignment.server.uniform_homogeneous import HomogeneousBuilder
from kafka_reference.assignment.server.uniform_optimized import OptimizedBuilder
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_OPTIMIZED, _GENERAL, _QUICK, _STABLE = f"{PULL}14416", f"{PULL}14481", f"{PULL}16088", f"{PULL}19677"
_REWORKED, _NO_TOPICS, _RACKS, _TYPED, _NAMES = (
    f"{PULL}17385", f"{PULL}16283", f"{PULL}15903", f"{PULL}15785", f"{PULL}15970",
)  # fmt: skip
_RULE = Mutations(RULE)
_WITH_RACKS, _PARTITION_BY_PARTITION = parse_release("3.7.2"), parse_release("3.9.2")
_KEEP, _EVERY = HomogeneousBuilder._keep, GeneralBuilder._every_partition  # noqa: SLF001
_NEAR = RackInfo.members_near


def _always(homogeneous: bool) -> Callable[[Any, Group], bool]:
    return lambda _, __: homogeneous


def _gives_back_always(self: HomogeneousBuilder, member: Any, _: int) -> None:
    _KEEP(self, member, 1 << 30)


def _sorted_ids(_: Any, ids: Iterable[Uuid], **__: Any) -> list[Uuid]:
    return sorted(ids)


def _changed_members(change: Callable[[Any], Any]) -> Callable[[Group], Group]:
    return lambda group: replace(group, members=tuple(map(change, group.members)))


def _by_id(group: Group) -> Group:
    return replace(group, members=tuple(sorted(group.members, key=lambda one: java_order(one.id))))


def _sorted_numbers(member: Any) -> Any:
    return replace(member, assigned=tuple((topic, tuple(sorted(numbers))) for topic, numbers in member.assigned))


def _sorted_topics(member: Any) -> Any:
    return replace(member, assigned=tuple(sorted(member.assigned)))


def _described(group: Group) -> Group:
    return _changed_members(
        lambda one: replace(one, topics=tuple(topic for topic in one.topics if topic in group.partitions))
    )(group)


def _least_loaded_once(self: Balancer) -> int:
    """Give to the sorted members in turn, whatever each had before."""
    self._next_least += 1
    return self._members[(self._next_least - 1) % len(self._members)]


def _first_topics_first(_: HeterogeneousBuilder, topics: Iterable[Uuid]) -> list[Uuid]:
    return sorted(topics)


def _unsigned(self: HeterogeneousBuilder, topics: Iterable[Uuid]) -> list[Uuid]:
    def key(topic: Uuid) -> Any:
        subscribers = len(self._subscribers[topic])
        half = 2**64 - 1
        return (
            -self._group.partitions[topic] / subscribers,
            subscribers,
            topic.most & half,
            topic.least & half,
        )

    return sorted(topics, key=key)


def _no_balance(_: Any) -> None:
    """Leave the assignment unbalanced."""


def _near_subscribers(self: RackInfo, partition: Partition, targets: Any) -> list[str]:
    """Leave out members that have nothing of the topic: some of them do not subscribe to it."""
    return [member for member in _NEAR(self, partition, targets) if partition[0] in targets.get(member, ())]


def _sorted_partitions(self: GeneralBuilder) -> list[Partition]:
    return sorted(_EVERY(self))


def _moves_again(self: GeneralBuilder, partition: Partition, owner: str, member: str) -> None:
    """Move partitions any number of times."""
    self._take(partition, owner)
    self._give(partition, member)


def _never_far(_: RackInfo, __: str, ___: Partition) -> bool:
    return False


def _in_question_order(self: OptimizedBuilder) -> None:
    """Fill one member after the other."""
    for partition in sorted(self._free):
        for member in list(self._room):
            if self._offer(member, partition):
                break


def _mutant(slug: str, description: str, ask: Any, reference: str, release: Release = NEWEST) -> Mutant:
    return Mutant(f"server-uniform-{slug}", RULE.slug, description, ask, release, (reference,))


MUTANTS = (
    _mutant(
        "first-take-extras", "the first members take one partition more, whoever had it before, as up to 4.0.0",
        _RULE.behaving(UniformAssignorBehaviour, gives_back_extra=False), _STABLE,
    ),
    _mutant(
        "gives-back-always", "members leave the extra partition to later ones even if too few are left to take all",
        _RULE.replaced(HomogeneousBuilder, _keep=_gives_back_always), _STABLE,
    ),
    _mutant(
        "partition-by-partition", "a heterogeneous group is balanced partition by partition, as up to 3.9.x",
        _RULE.behaving(UniformAssignorBehaviour, balances_topics=False), _REWORKED,
    ),
    _mutant(
        "one-round", "a heterogeneous group is balanced in one round",
        _RULE.replaced(uniform_heterogeneous, MOST_ROUNDS=1), _REWORKED,
    ),
    _mutant(
        "no-balance", "a heterogeneous group keeps what it has, however uneven",
        _RULE.replaced(HeterogeneousBuilder, _balance=_no_balance), _REWORKED,
    ),
    _mutant(
        "in-turn", "free partitions go to the members in turn, whatever they have",
        _RULE.replaced(Balancer, least_loaded=_least_loaded_once), _REWORKED,
    ),
    _mutant(
        "topics-by-id", "topics are taken in the order of their ids, not by partitions per subscriber",
        _RULE.replaced(HeterogeneousBuilder, _sorted=_first_topics_first), _REWORKED,
    ),
    _mutant(
        "unsigned-ids", "topic ids are compared as unsigned numbers",
        _RULE.replaced(HeterogeneousBuilder, _sorted=_unsigned), _REWORKED,
    ),
    _mutant(
        "never-homogeneous", "every group is taken for a heterogeneous one",
        _RULE.replaced(uniform, _is_homogeneous=_always(homogeneous=False)), _TYPED,
    ),
    _mutant(
        "always-homogeneous", "every group has the topics of its first member",
        _RULE.replaced(uniform, _is_homogeneous=_always(homogeneous=True)), _TYPED,
    ),
    _mutant(
        "compares-topic-ids", "a group is homogeneous if all members have the same topic ids, as in 3.7.x",
        _RULE.behaving(UniformAssignorBehaviour, compares_topic_ids=True), _TYPED,
    ),
    _mutant(
        "topics-sorted", "the topics of a homogeneous group are sorted by id, not in the order of a HashSet",
        _RULE.replaced(uniform_homogeneous, in_order=_sorted_ids), _QUICK,
    ),
    _mutant(
        "members-sorted", "members are sorted by id, not in the order of a HashMap",
        _RULE.grouped(_by_id), _QUICK,
    ),
    _mutant(
        "numbers-sorted", "a member keeps its lowest partitions, not the first ones of a HashSet",
        _RULE.grouped(_changed_members(_sorted_numbers)), _QUICK,
    ),
    _mutant(
        "old-topics-sorted", "a member keeps the topics with the lowest ids, not the first ones of a HashMap",
        _RULE.grouped(_changed_members(_sorted_topics)), _QUICK,
    ),
    _mutant(
        "topics-by-id-table", "a member's topics are in the order of a HashSet of ids, as up to 3.7.x",
        _RULE.behaving(TargetAssignmentBuilderBehaviour, topics_by_name=False), _NAMES,
    ),
    _mutant("forgets", "members keep nothing", _RULE.asked(forgetful), _QUICK),
    _mutant(
        "unknown-topic-skipped", "a topic that the metadata lack is left out",
        _RULE.grouped(_described), _OPTIMIZED,
    ),
    _mutant(
        "ties-by-id", "partitions with equal places are moved in the order of topic ids, not of a HashSet",
        _RULE.replaced(GeneralBuilder, _every_partition=_sorted_partitions), _GENERAL, _PARTITION_BY_PARTITION,
    ),
    _mutant(
        "moves-again", "a partition that moved moves on, where Java throws",
        _RULE.replaced(GeneralBuilder, _move=_moves_again), _GENERAL, _PARTITION_BY_PARTITION,
    ),
    _mutant(
        "no-racks", "racks have no effect in 3.7.x",
        _RULE.behaving(UniformAssignorBehaviour, rack_aware=False), _RACKS, _WITH_RACKS,
    ),
    _mutant(
        "keeps-far-partitions", "a member keeps partitions of other racks in 3.7.x",
        _RULE.replaced(RackInfo, mismatch=_never_far), _OPTIMIZED, _WITH_RACKS,
    ),
    _mutant(
        "near-subscribers", "by rack, only members that have partitions of the topic get more of it in 3.7.x",
        _RULE.replaced(RackInfo, members_near=_near_subscribers), _GENERAL, _WITH_RACKS,
    ),
    _mutant(
        "without-topics", "a member without topics does no harm in 3.7.x",
        _RULE.behaving(UniformAssignorBehaviour, fails_without_topics=False), _NO_TOPICS, _WITH_RACKS,
    ),
    _mutant(
        "member-by-member", "a homogeneous group is filled as since 3.8.0",
        _RULE.behaving(UniformAssignorBehaviour, round_robin=False), _QUICK, _WITH_RACKS,
    ),
    _mutant(
        "not-in-turn", "free partitions fill one member after the other in 3.7.x",
        _RULE.replaced(OptimizedBuilder, _fill_in_turn=_in_question_order), _OPTIMIZED, _WITH_RACKS,
    ),
)  # fmt: skip
