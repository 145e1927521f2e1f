"""Which groups a coordinator passes to its assignor.

Consumers join with a subscription, which is a set of topic names, and perhaps an instance id and a rack. The coordinator
takes the last target assignment from its own records: each partition has one owner at most, and topics do not lose
partitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from msgspec.structs import replace

from kafka_conformance.rules.common.domains import first_reason
from kafka_conformance.rules.common.server_assignors.copied_sets import resized, without_unlike
from kafka_conformance.rules.common.server_assignors.generators import IDS
from kafka_conformance.rules.common.server_assignors.question import AskedMember, AskedTopic, ServerAssignorQuestion

__all__ = ["OPTIONAL_LABELS", "domain", "nearest", "plain"]

_LEGAL = re.compile(r"[a-zA-Z0-9._-]{1,249}")
OPTIONAL_LABELS = {
    "no member": "groups without members",
    "static members": "static members",
    "an instance twice": "static members",
    "racks": "partitions by rack",
    "a topic twice in a subscription": "subscriptions with a topic twice",
    "subscription type given": "a subscription type that is given",
    "a topic the metadata lack": "topics without metadata",
    "a partition with two owners": "assignments that are not its own",
    "a partition that is not there": "assignments that are not its own",
}


def domain(question: ServerAssignorQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason(_reasons(question))


def _reasons(question: ServerAssignorQuestion) -> Iterator[str]:
    yield from _topic_reasons(question)
    yield from _member_reasons(question.members)
    assigned = [partition for member in question.members for partition in member.assigned]
    if len(set(assigned)) < len(assigned):
        yield "a partition has one owner at most"
    counts = {topic.name: topic.partitions for topic in question.topics}
    if any(number >= (counts[name] or number + 1) for name, number in assigned):
        yield "a topic does not lose partitions"


def _topic_reasons(question: ServerAssignorQuestion) -> Iterator[str]:
    if not question.members:
        yield "the coordinator assigns partitions to at least one member"
    if question.subscription is not None:
        yield "the subscription type is the coordinator's own"
    if not all(topic.described for topic in question.topics):
        yield "the coordinator takes ids and partitions of topics from the same metadata"
    names = {topic.name for topic in question.topics} | {name for one in question.members for name in one.topics}
    if not all(map(_LEGAL.fullmatch, names)):
        yield "the name of a topic has ASCII letters, digits, dots, underscores and hyphens"
    if any(len(topic.racks) not in (0, topic.partitions) for topic in question.topics):
        yield "every partition of a topic has replicas"


def _member_reasons(members: Sequence[AskedMember]) -> Iterator[str]:
    if any(len(set(member.topics)) < len(member.topics) for member in members):
        yield "a consumer subscribes to a topic once"
    instances = [member.instance for member in members if member.instance is not None]
    if len(set(instances)) < len(instances) or "" in instances:
        yield "static members have different instance ids, which are not empty"
    if any(not member.id for member in members):
        yield "a member id is not empty"


def nearest(question: ServerAssignorQuestion) -> ServerAssignorQuestion:
    """Return the question with legal names, described topics, one owner of each partition, different instances."""
    legal: dict[str, str] = {}
    for name in (*(topic.name for topic in question.topics), *(n for one in question.members for n in one.topics)):
        legal.setdefault(name, name if _LEGAL.fullmatch(name) else f"topic-{len(legal)}")
    topics = tuple(
        replace(
            topic,
            name=legal[topic.name],
            described=True,
            racks=topic.racks if len(topic.racks) == topic.partitions else (),
        )
        for topic in question.topics
    )
    counts = {topic.name: topic.partitions for topic in question.topics}
    instances, taken, members = {"", None}, set(), []
    for place, member in enumerate(question.members or (AskedMember("a"),)):
        owned = [one for one in member.assigned if one not in taken and one[1] < (counts[one[0]] or one[1] + 1)]
        members.append(
            replace(
                member,
                id=member.id or f"member-{place}",
                instance=None if member.instance in instances else member.instance,
                topics=tuple(dict.fromkeys(legal[name] for name in member.topics)),
                assigned=without_unlike((legal[name], number) for name, number in owned),
            )
        )
        instances.add(member.instance)
        taken.update(owned)
    return resized(ServerAssignorQuestion(topics, tuple(members)))


def plain() -> Iterator[ServerAssignorQuestion]:
    """Yield groups of one to five consumers that read one to three topics, all of them or some, new or after a change."""
    names = ("orders", "payments", "refunds")
    for size, counts in product(range(1, 6), ((1,), (6,), (13,), (3, 3), (6, 4), (2, 7, 5))):
        topics = tuple(AskedTopic(name, each, n) for name, each, n in zip(names, IDS[4:], counts, strict=False))
        every = [(topic.name, number) for topic in topics for number in range(topic.partitions or 0)]
        read = tuple(topic.name for topic in topics)
        ids = [f"consumer-{place}-2f0b{place}" for place in range(size)]
        yield ServerAssignorQuestion(topics, tuple(AskedMember(each, topics=read) for each in ids))
        before = max(1, size - 1)
        yield ServerAssignorQuestion(
            topics,
            tuple(
                AskedMember(each, topics=read, assigned=tuple(every[place::before]) if place < before else ())
                for place, each in enumerate(ids)
            ),
        )
        yield ServerAssignorQuestion(
            topics,
            tuple(
                AskedMember(each, f"host-{size - place}", None, read[place % 2 :] or read)
                for place, each in enumerate(ids)
            ),
        )
