"""Mistakes in RoundRobinAssignor: in the circle, in skipped members, in the order of members and partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.common.assignors.mutations import (
    but,
    by_code_points,
    instance_or_id,
    last_runs,
    with_behaviour,
)
from kafka_conformance.rules.round_robin_assignor.rule import RULE
from kafka_reference.assignment import round_robin
from kafka_reference.assignment.behaviour import RoundRobinAssignorBehaviour
from kafka_reference.assignment.members import (
    Assignment,
    Member,
    Topic,
    TopicPartition,
    in_hash_map_order,
    in_member_order,
)
from kafka_reference.errors import IllegalArgumentException, NullPointerException
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_Circle = Sequence[Member]
_Next = Callable[[_Circle, int, str], int]
_PARTITIONS, _ASSIGNMENT = round_robin._partitions, round_robin.round_robin_assignment  # noqa: SLF001


def _following(circle: _Circle, place: int, topic: str) -> int:
    """Return the place of the next member that subscribes to the topic, from ``place`` on."""
    return next(
        each % len(circle) for each in range(place, place + len(circle)) if topic in circle[each % len(circle)].topics
    )


def _dealt(after: _Next, *, restarts: bool = False, skips: bool = True) -> Ask:
    """The rule, with another place after each partition, from the start in each topic, or regardless of subscriptions."""

    def assignment(topics: Mapping[str, Topic], members: Sequence[Member], release: Release) -> Assignment:
        if not members:
            return _ASSIGNMENT(topics, members, release)
        circle = in_member_order(in_hash_map_order(members), True)
        found: Assignment = {member.id: [] for member in members}
        place, current = 0, ""
        for topic, number in _PARTITIONS(topics, members):
            if restarts and topic != current:
                place, current = 0, topic
            taken = _following(circle, place, topic) if skips else place
            found[circle[taken].id].append((topic, number))
            place = after(circle, taken if skips else place, topic) % len(circle)
        return found

    return but(RULE.slug, round_robin, round_robin_assignment=assignment)


def _turn(_: _Circle, taken: int, __: str) -> int:
    return taken + 1


def _among_subscribers(circle: _Circle, taken: int, topic: str) -> int:
    return (taken + 1) % sum(topic in member.topics for member in circle)


def _held_back(topics: Mapping[str, Topic], members: Sequence[Member], release: Release) -> Assignment:
    """A member that is skipped gets the next partition that it may have."""
    if not members:
        return _ASSIGNMENT(topics, members, release)
    circle = in_member_order(in_hash_map_order(members), True)
    found: Assignment = {member.id: [] for member in members}
    for topic, number in _PARTITIONS(topics, members):
        taken = _following(circle, 0, topic)
        found[circle[taken].id].append((topic, number))
        circle = [*circle[:taken], *circle[taken + 1 :], circle[taken]]
    return found


def _fewest(topics: Mapping[str, Topic], members: Sequence[Member], release: Release) -> Assignment:
    """The member with the fewest partitions gets the next one."""
    if not members:
        return _ASSIGNMENT(topics, members, release)
    circle = in_member_order(in_hash_map_order(members), True)
    found: Assignment = {member.id: [] for member in members}
    for topic, number in _PARTITIONS(topics, members):
        fewest = min((member for member in circle if topic in member.topics), key=lambda member: len(found[member.id]))
        found[fewest.id].append((topic, number))
    return found


def _nobody(topics: Mapping[str, Topic], members: Sequence[Member], release: Release) -> Assignment:
    try:
        return _ASSIGNMENT(topics, members, release)
    except IllegalArgumentException:
        return {}


def _without_metadata(topics: Mapping[str, Topic], members: Sequence[Member]) -> Iterator[TopicPartition]:
    if any(topic not in topics for member in members for topic in member.topics):
        raise NullPointerException
    return _PARTITIONS(topics, members)


def _of_the_first(topics: Mapping[str, Topic], members: Sequence[Member]) -> Iterator[TopicPartition]:
    yield from (one for one in _PARTITIONS(topics, members) if one[0] in members[0].topics)


def _by_number(topics: Mapping[str, Topic], members: Sequence[Member]) -> Iterator[TopicPartition]:
    yield from sorted(_PARTITIONS(topics, members), key=lambda partition: partition[1])


def _as_subscribed(topics: Mapping[str, Topic], members: Sequence[Member]) -> Iterator[TopicPartition]:
    for topic in dict.fromkeys(topic for member in members for topic in member.topics if topic in topics):
        yield from ((topic, number) for number in range(topics[topic].partitions))


def _topics_by_code_points(topics: Mapping[str, Topic], members: Sequence[Member]) -> Iterator[TopicPartition]:
    yield from sorted(_PARTITIONS(topics, members))


def _as_text(topics: Mapping[str, Topic], members: Sequence[Member]) -> Iterator[TopicPartition]:
    yield from sorted(_PARTITIONS(topics, members), key=lambda partition: f"{partition[0]}-{partition[1]}")


def _of_the_leader(topics: Mapping[str, Topic], members: Sequence[Member], release: Release) -> Assignment:
    """The topics of the first member go to all members, who leave out those that they do not subscribe to."""
    if not members:
        return _ASSIGNMENT(topics, members, release)
    circle, found = in_member_order(members, False), dict[str, list[TopicPartition]]()
    named = [name for name in members[0].topics if name in topics]
    for place, (topic, number) in enumerate((name, each) for name in named for each in range(topics[name].partitions)):
        member = circle[place % len(circle)]
        if topic in member.topics:
            found.setdefault(member.id, []).append((topic, number))
    return {member.id: found.get(member.id, []) for member in members}


def _of_the_last(topics: Mapping[str, Topic], members: Sequence[Member], release: Release) -> Assignment:
    """Where static and dynamic members alternate, the last of each get everything; to skip one is an error."""
    if not members:
        return _ASSIGNMENT(topics, members, release)
    circle = last_runs(members, True)
    found: Assignment = {member.id: [] for member in members}
    for place, (topic, number) in enumerate(sorted(_PARTITIONS(topics, members))):
        if topic not in circle[place % len(circle)].topics:
            raise NullPointerException
        found[circle[place % len(circle)].id].append((topic, number))
    return found


def _mutant(slug: str, description: str, ask: Ask, at: str | Release = NEWEST, *references: str) -> Mutant:
    return Mutant(f"round-robin-{slug}", RULE.slug, description, ask, parse_release(at), references)


def _but(**mistakes: Any) -> Ask:
    return but(RULE.slug, round_robin, **mistakes)


_STATIC = "https://github.com/apache/kafka/pull/6815"
_LIBRDKAFKA = (
    "https://github.com/confluentinc/librdkafka/issues/3159", "https://github.com/confluentinc/librdkafka/pull/2650",
)  # fmt: skip

MUTANTS = (
    _mutant(
        "per-topic", "the circle starts again with each topic", _dealt(_turn, restarts=True), NEWEST,
        "https://github.com/tulios/kafkajs/pull/635",
    ),
    _mutant(
        "short-circle", "the circle ends at the number of subscribers", _dealt(_among_subscribers), NEWEST, *_LIBRDKAFKA
    ),
    _mutant(
        "any-member", "members get topics that they do not subscribe to", _dealt(_turn, skips=False), NEWEST,
        "https://github.com/zendesk/ruby-kafka/pull/903",
    ),
    _mutant(
        "first-subscription", "only topics of the first member are assigned", _but(_partitions=_of_the_first), NEWEST,
        "https://github.com/tulios/kafkajs/issues/1679",
    ),
    _mutant("held-back", "a member that is skipped comes first next time", _but(round_robin_assignment=_held_back)),
    _mutant("fewest", "the member with the fewest partitions gets the next one", _but(round_robin_assignment=_fewest)),
    _mutant("nobody", "a group without members has an empty assignment", _but(round_robin_assignment=_nobody)),
    _mutant(
        "no-metadata", "a topic without metadata is a NullPointerException", _but(_partitions=_without_metadata), NEWEST,
        "https://github.com/apache/kafka/pull/1326",
    ),
    _mutant("by-number", "partitions go out by number, then by topic", _but(_partitions=_by_number)),
    _mutant("as-subscribed", "topics go out in the order of subscriptions", _but(_partitions=_as_subscribed)),
    _mutant("topic-code-points", "topics are compared by code points", _but(_partitions=_topics_by_code_points)),
    _mutant("code-points", "member ids are compared by code points", _but(in_member_order=by_code_points)),
    _mutant("as-listed", "members are not sorted", _but(in_member_order=lambda members, _: list(members))),
    _mutant("instance-or-id", "static and dynamic members are sorted together", _but(in_member_order=instance_or_id)),
    _mutant(
        "as-text", "partitions are sorted as text, 10 before 2", _but(_partitions=_as_text), NEWEST,
        "https://github.com/IBM/sarama/pull/1788",
    ),
    _mutant(
        "leaders-topics", "the topics of the leader go to all members", _but(round_robin_assignment=_of_the_leader), NEWEST,
        "https://github.com/tulios/kafkajs/pull/1776",
    ),
    _mutant(
        "last-run", "of static and dynamic members that alternate only the last of each count",
        _but(round_robin_assignment=_of_the_last), NEWEST, "https://github.com/dpkp/kafka-python/pull/2625",
    ),
    _mutant(
        "2.3-in-newest", "members are sorted by member id alone",
        with_behaviour(RULE.slug, RoundRobinAssignorBehaviour, static_members_first=False), NEWEST, _STATIC,
    ),
)  # fmt: skip
