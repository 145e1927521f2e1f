"""Mistakes in RangeAssignor: in shares, in the order of members and topics, in racks and co-partitioned topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.common.assignors.mutations import (
    but,
    by_code_points,
    instance_or_id,
    last_runs,
    with_behaviour,
)
from kafka_conformance.rules.range_assignor.rule import RULE
from kafka_reference.assignment import range as by_ranges
from kafka_reference.assignment.behaviour import RangeAssignorBehaviour
from kafka_reference.assignment.members import (
    Assignment,
    Member,
    Topic,
    hash_map_order,
    in_hash_map_order,
    in_member_order,
)
from kafka_reference.assignment.range import TopicShares
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_Ends = Callable[[int, int, int], int]
"""Of partitions, members and a member's place: where the member's range ends."""


def _in_order(members: Sequence[Member]) -> list[Member]:
    return in_member_order(in_hash_map_order(members), True)


def _ranges(end: _Ends) -> Ask:
    """The rule, with ranges that end elsewhere, of topics in the order of their names."""

    def assignment(topics: Mapping[str, Topic], members: Sequence[Member], _: Release) -> Assignment:
        found: Assignment = {member.id: [] for member in members}
        for topic in hash_map_order(name for name in sorted(topics) if topics[name].partitions):
            group = [member for member in _in_order(members) if topic in member.topics]
            begin, count = 0, topics[topic].partitions
            for place, member in enumerate(group):
                until = min(count, end(count, len(group), place))
                found[member.id] += [(topic, number) for number in range(begin, until)]
                begin = max(begin, until)
        return found

    return but(RULE.slug, by_ranges, range_assignment=assignment)


def _one_range(topics: Mapping[str, Topic], members: Sequence[Member], release: Release) -> Assignment:
    """One range over the partitions of all topics, if all members subscribe to the same."""
    if not members or len({frozenset(member.topics) for member in members}) > 1:
        return _RANGE_ASSIGNMENT(topics, members, release)
    named = [name for name in hash_map_order(members[0].topics) if name in topics]
    every = [(name, number) for name in named for number in range(topics[name].partitions)]
    each, extra = divmod(len(every), len(members))
    group = _in_order(members)
    ends = [each * place + min(place, extra) for place in range(len(group) + 1)]
    return {member.id: every[ends[place] : ends[place + 1]] for place, member in enumerate(group)}


_RANGE_ASSIGNMENT, _ASSIGN_TOGETHER, _NEEDS_RACKS = (
    by_ranges.range_assignment, by_ranges._assign_together, by_ranges._needs_racks,  # noqa: SLF001
)  # fmt: skip
_SUBSCRIBERS = by_ranges._subscribers  # noqa: SLF001


def _turned(behaviour: RangeAssignorBehaviour, members: Sequence[Member]) -> dict[str, list[Member]]:
    """Each topic orders its members differently, as by a hash of topic and member."""
    return {
        topic: group[len(topic) % len(group) :] + group[: len(topic) % len(group)]
        for topic, group in _SUBSCRIBERS(behaviour, members).items()
    }


def _as_listed(members: Sequence[Member], _: bool) -> list[Member]:
    return list(members)


def _overlapping(racks: Sequence[frozenset[str]], members: Sequence[Member]) -> bool:
    return any(member.rack in one for one in racks for member in members if member.rack)


def _wherever(racks: Sequence[frozenset[str]], _: Sequence[Member]) -> bool:
    return any(one != frozenset().union(*racks) for one in racks)


def _matches_by_rack_alone(shares: TopicShares, member: Member, partition: tuple[str, int]) -> bool:
    return member.rack in shares.racks[partition[1]]


def _matches_empty(shares: TopicShares, member: Member, partition: tuple[str, int]) -> bool:
    return member.rack is None or member.rack in shares.racks[partition[1]]


def _racks_of_leader(topic: Topic, partition: int) -> frozenset[str]:
    return frozenset(topic.racks[partition][:1]) if partition < len(topic.racks) else frozenset()


def _each_alone(topics: Sequence[TopicShares], count: int, assignment: Assignment) -> None:
    for topic in topics:
        if topic.needs_racks:
            _ASSIGN_TOGETHER([topic], count, assignment)


def _any_of_them(topics: Sequence[TopicShares], count: int, assignment: Assignment) -> None:
    """A member may take a partition number if its rack fits one of the topics."""
    for number in range(count):
        for member in topics[0].members:
            fits = any(topic.matches(member, (topic.name, number)) for topic in topics)
            if fits and all(topic.may_get(member) > 0 for topic in topics):
                for topic in topics:
                    by_ranges._assign(topic, member, [(topic.name, number)], assignment)  # noqa: SLF001
                break


def _one_share_too_many(shares: TopicShares, member: Member) -> int:
    return max(0, shares.each + (shares.left != []) - shares.assigned[member.id])


def _by_name(keys: Iterable[str]) -> list[str]:
    return sorted(set(keys))


def _mutant(slug: str, description: str, ask: Ask, at: str | Release = NEWEST, *references: str) -> Mutant:
    return Mutant(f"range-{slug}", RULE.slug, description, ask, parse_release(at), references)


def _but(**mistakes: Any) -> Ask:
    return but(RULE.slug, by_ranges, **mistakes)


def _shares(**mistakes: Any) -> Ask:
    return but(RULE.slug, TopicShares, **mistakes)


def _with(**fields: Any) -> Ask:
    return with_behaviour(RULE.slug, RangeAssignorBehaviour, **fields)


_STATIC = "https://github.com/apache/kafka/pull/7014"
_RACKS = "https://github.com/apache/kafka/pull/12990"

MUTANTS = (
    _mutant(
        "rounded-up", "every member gets the share rounded up, the last ones nothing",
        _ranges(lambda count, size, place: -(-count // size) * (place + 1)), NEWEST,
        "https://github.com/segmentio/kafka-go/pull/94",
    ),
    _mutant(
        "rounded-steps", "ranges end at rounded multiples of the exact share",
        _ranges(lambda count, size, place: int(count / size * (place + 1) + 0.5)),
    ),
    _mutant(
        "extra-last", "the last members get one more",
        _ranges(lambda count, size, place: count // size * (place + 1) + max(0, place + 1 - size + count % size)),
    ),
    _mutant("over-topics", "one range goes over the partitions of all topics", _but(range_assignment=_one_range)),
    _mutant(
        "order-per-topic", "each topic has its members in another order", _but(_subscribers=_turned), NEWEST,
        "https://github.com/IBM/sarama/issues/2243", "https://github.com/IBM/sarama/pull/2245",
    ),
    _mutant("as-listed", "members are not sorted", _but(in_member_order=_as_listed)),
    _mutant("code-points", "member ids are compared by code points", _but(in_member_order=by_code_points)),
    _mutant(
        "instance-or-id", "static and dynamic members are sorted together", _but(in_member_order=instance_or_id), NEWEST,
        "https://github.com/apache/kafka/pull/16504",
    ),
    _mutant(
        "last-run", "of static and dynamic members that alternate only the last of each count",
        _but(in_hash_map_order=list, in_member_order=last_runs), NEWEST, "https://github.com/dpkp/kafka-python/pull/2625",
    ),
    _mutant("topics-by-name", "topics are assigned in the order of names", _but(hash_map_order=_by_name)),
    _mutant("every-topic-hashed", "topics without metadata enlarge the map", _with(known_topics_only=False)),
    _mutant("put-in-3.4", "of equal hashes the first topic comes first", _with(later_topic_first=False), "3.4.1"),
    _mutant("twice-in-3.5", "a topic named twice counts twice", _with(member_counts_once=False), "3.5.0"),
    _mutant("once-in-3.4", "a topic named twice counts once", _with(member_counts_once=True), "3.4.1"),
    _mutant("2.3-in-newest", "members are sorted by member id alone", _with(static_members_first=False), NEWEST, _STATIC),
    _mutant("no-racks", "racks are ignored", _with(rack_aware=False), NEWEST, _RACKS),
    _mutant("racks-everywhere", "racks are used where all partitions have all of them", _but(_needs_racks=_overlapping)),
    _mutant("racks-apart", "racks are used where members have none of them", _but(_needs_racks=_wherever)),
    _mutant(
        "leader-rack", "a partition is in the rack of its leader alone", but(RULE.slug, Topic, racks_of=_racks_of_leader),
        NEWEST, "https://github.com/twmb/franz-go/pull/1280",
    ),
    _mutant("rackless-last", "a member without a rack matches nothing", _shares(matches=_matches_by_rack_alone)),
    _mutant("empty-rack", "an empty client.rack is a rack", _shares(matches=_matches_empty)),
    _mutant(
        "each-topic-alone", "topics are not co-partitioned by racks", _but(_assign_together=_each_alone), NEWEST,
        "https://github.com/apache/kafka/pull/13539",
    ),
    _mutant("one-of-topics", "a rack has to fit one of the co-partitioned topics", _but(_assign_together=_any_of_them)),
    _mutant("shares-by-racks", "racks give more members one more", _shares(may_get=_one_share_too_many)),
    _mutant("unsorted", "partitions stay in the order of the two passes", _but(java_order=lambda _: b"")),
)  # fmt: skip
