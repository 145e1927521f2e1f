"""Mistakes in the coordinator's range assignor: the order of members, their shares, and who shares a topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.common.server_assignors.mutations import PULL, Mutations
from kafka_conformance.rules.server_range_assignor.rule import RULE
from kafka_reference.assignment.members import java_order
from kafka_reference.assignment.server import range as ranges
from kafka_reference.assignment.server.behaviour import ServerRangeAssignorBehaviour
from kafka_reference.assignment.server.group import Group, Member, Uuid
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_MADE, _REWRITTEN, _TYPED = f"{PULL}13443", f"{PULL}16504", f"{PULL}15785"
_RULE = Mutations(RULE)
_STICKY = parse_release("3.8.1")
_SUBSCRIBERS, _KEEP = ranges._subscribers, ranges.keep_and_fill  # noqa: SLF001


def _dynamic_first(members: Sequence[Member]) -> list[Member]:
    return sorted(
        members,
        key=lambda one: (one.instance is not None, java_order(one.id if one.instance is None else one.instance)),
    )


def _by_code_points(members: Sequence[Member]) -> list[Member]:
    return sorted(members, key=lambda one: (one.instance is None, one.id if one.instance is None else one.instance))


def _by_member_id(members: Sequence[Member]) -> list[Member]:
    return sorted(members, key=lambda one: java_order(one.id))


def _static_by_member_id(members: Sequence[Member]) -> list[Member]:
    return sorted(members, key=lambda one: (one.instance is None, java_order(one.id)))


def _extras_last(count: int, subscribers: Sequence[str]) -> dict[str, set[int]]:
    share, extras = divmod(count, len(subscribers))
    shares, start = {}, 0
    for place, member in enumerate(subscribers):
        end = start + share + (place >= len(subscribers) - extras)
        shares[member], start = set(range(start, end)), end
    return shares


def _rounded_up(count: int, subscribers: Sequence[str]) -> dict[str, set[int]]:
    share = -(-count // len(subscribers))
    return {
        member: set(range(min(place * share, count), min((place + 1) * share, count)))
        for place, member in enumerate(subscribers)
    }


def _in_turn(count: int, subscribers: Sequence[str]) -> dict[str, set[int]]:
    return {member: set(range(place, count, len(subscribers))) for place, member in enumerate(subscribers)}


def _rest_to_the_first(count: int, subscribers: Sequence[str]) -> dict[str, set[int]]:
    share, extras = divmod(count, len(subscribers))
    shares = {member: set(range(place * share, (place + 1) * share)) for place, member in enumerate(subscribers)}
    shares[subscribers[0]] |= set(range(count - extras, count))
    return shares


def _among_all(behaviour: Any, group: Group, members: Sequence[Member]) -> dict[Uuid, list[str]]:
    return {topic: [one.id for one in members] for topic in _SUBSCRIBERS(behaviour, group, members)}


def _known_topics(group: Group) -> Group:
    """Leave topics out that the metadata do not describe."""
    return replace(
        group,
        members=tuple(
            replace(one, topics=tuple(topic for topic in one.topics if topic in group.partitions))
            for one in group.members
        ),
    )


def _keeps_highest(count: int, old: Mapping[str, Sequence[int]]) -> dict[str, set[int]]:
    turned = {member: [count - 1 - number for number in numbers] for member, numbers in old.items()}
    return {member: {count - 1 - number for number in numbers} for member, numbers in _KEEP(count, turned).items()}


def _keeps_no_extra(count: int, old: Mapping[str, Sequence[int]]) -> dict[str, set[int]]:
    share = count // len(old)
    return _KEEP(count, {member: sorted(numbers)[:share] for member, numbers in old.items()})


def _keeps_in_set_order(count: int, old: Mapping[str, Sequence[int]]) -> dict[str, set[int]]:
    share = count // len(old)
    return _KEEP(count, {member: numbers[: share + 1] for member, numbers in old.items()})


def _forgets(count: int, old: Mapping[str, Sequence[int]]) -> dict[str, set[int]]:
    return _KEEP(count, dict.fromkeys(old, ()))


def _mutant(slug: str, description: str, ask: Any, reference: str, release: Release = NEWEST) -> Mutant:
    return Mutant(f"server-range-{slug}", RULE.slug, description, ask, release, (reference,))


MUTANTS = (
    _mutant(
        "keeps-partitions", "members keep old partitions up to their share, as up to 3.8.x",
        _RULE.behaving(ServerRangeAssignorBehaviour, keeps_partitions=True), _REWRITTEN,
    ),
    _mutant(
        "own-topics", "the subscription type is ignored: each member has its own topics",
        _RULE.behaving(ServerRangeAssignorBehaviour, reads_subscription_type=False), _TYPED,
    ),
    _mutant(
        "hash-order", "members are in the order of the HashMap",
        _RULE.replaced(ranges, sorted_members=list), _REWRITTEN,
    ),
    _mutant(
        "dynamic-first", "dynamic members come before static ones",
        _RULE.replaced(ranges, sorted_members=_dynamic_first), _REWRITTEN,
    ),
    _mutant(
        "member-id-alone", "group.instance.id has no effect",
        _RULE.replaced(ranges, sorted_members=_by_member_id), _REWRITTEN,
    ),
    _mutant(
        "static-by-member-id", "static members come first, but in the order of their member ids",
        _RULE.replaced(ranges, sorted_members=_static_by_member_id), _REWRITTEN,
    ),
    _mutant(
        "code-points", "ids are sorted by code points, not by UTF-16 units",
        _RULE.replaced(ranges, sorted_members=_by_code_points), _REWRITTEN,
    ),
    _mutant(
        "extras-last", "the last members get one partition more",
        _RULE.replaced(ranges, divide=_extras_last), _MADE,
    ),
    _mutant(
        "rounded-up", "each member gets the share rounded up, until partitions run out",
        _RULE.replaced(ranges, divide=_rounded_up), _MADE,
    ),
    _mutant(
        "in-turn", "partitions go to the members in turn",
        _RULE.replaced(ranges, divide=_in_turn), _MADE,
    ),
    _mutant(
        "rest-to-first", "all partitions left over go to the first member",
        _RULE.replaced(ranges, divide=_rest_to_the_first), _MADE,
    ),
    _mutant(
        "among-all", "a topic is divided among all members, also those that do not subscribe to it",
        _RULE.replaced(ranges, _subscribers=_among_all), _MADE,
    ),
    _mutant(
        "unknown-topic-skipped", "a topic that the metadata lack is left out",
        _RULE.grouped(_known_topics), _MADE,
    ),
    _mutant(
        "keeps-highest", "a member keeps its highest partitions",
        _RULE.replaced(ranges, keep_and_fill=_keeps_highest), _MADE, _STICKY,
    ),
    _mutant(
        "keeps-no-extra", "no member keeps one partition more than the others",
        _RULE.replaced(ranges, keep_and_fill=_keeps_no_extra), _MADE, _STICKY,
    ),
    _mutant(
        "keeps-in-set-order", "a member keeps its first partitions in the order of the HashSet",
        _RULE.replaced(ranges, keep_and_fill=_keeps_in_set_order), _MADE, _STICKY,
    ),
    _mutant(
        "forgets", "members keep nothing",
        _RULE.replaced(ranges, keep_and_fill=_forgets), _MADE, _STICKY,
    ),
    _mutant(
        "nobody-is-fine", "a group without members has an empty assignment in 3.8.x",
        _RULE.behaving(ServerRangeAssignorBehaviour, needs_a_member=False), _REWRITTEN, _STICKY,
    ),
)  # fmt: skip
