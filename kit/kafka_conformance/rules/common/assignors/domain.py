"""Which groups a user can bring about.

The coordinator makes member ids of a client id, any text, and a random part, and lets no two members have the same
``group.instance.id``. A consumer keeps its subscription as a set. Topics have legal names and at least one partition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from msgspec.structs import replace

from kafka_conformance.rules.common.assignors.question import AskedMember, AskedPartition, AssignorQuestion
from kafka_conformance.rules.common.domains import first_reason

__all__ = ["GROUP_OPTIONAL_LABELS", "RACK_OPTIONAL_LABELS", "domain", "nearest", "plain"]

_LEGAL = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_STATIC, _RACKS = "static members", "partitions by rack"
GROUP_OPTIONAL_LABELS = {
    **dict.fromkeys(("static members", "static and dynamic members", "an instance twice"), _STATIC),
    "no member": "groups without members",
    "a topic without partitions": "topics without partitions",
    "a topic without metadata": "topics without metadata",
    "an empty subscription": "subscriptions to no topic",
    "a topic twice in a subscription": "subscriptions with a topic twice",
}
RACK_OPTIONAL_LABELS = dict.fromkeys(
    (
        "racks of members", "members with and without a rack", "an empty rack", "replicas in all racks",
        "replicas in some racks", "racks that do not meet", "topics of the same size", "racks of several topics",
    ),
    _RACKS,
)  # fmt: skip


def domain(question: AssignorQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return first_reason(_reasons(question))


def _reasons(question: AssignorQuestion) -> Iterator[str]:
    if not question.members:
        yield "a leader assigns: a group has at least one member"
    if not all(map(_LEGAL.fullmatch, _names(question))):
        yield "the name of a topic has ASCII letters, digits, dots, underscores and hyphens"
    if 0 in question.topics.values():
        yield "a topic has at least one partition"
    if any(len(set(member.topics)) < len(member.topics) for member in question.members):
        yield "a consumer subscribes to a topic once"
    instances = [member.instance for member in question.members if member.instance is not None]
    if len(set(instances)) < len(instances) or "" in instances:
        yield "static members have different instance ids, which are not empty"
    if any(not member.id for member in question.members):
        yield "a member id is not empty"
    yield from map(_owning, question.members)


def _names(question: AssignorQuestion) -> set[str]:
    return {
        *question.topics,
        *(topic for member in question.members for topic in (*member.topics, *_owned_topics(member))),
    }


def _owned_topics(member: AskedMember) -> tuple[str, ...]:
    return tuple(topic for topic, _ in member.owned)


def _owning(member: AskedMember) -> str:
    if len(set(member.owned)) < len(member.owned):
        return "a member owns a partition once"
    if any(number < 0 for _, number in member.owned):
        return "the number of a partition is 0 or more"
    return "a generation is 0 or more" if member.generation is not None and member.generation < 0 else ""


@dataclass(slots=True)
class _Renamed:
    """Legal names for topics, one each."""

    names: dict[str, str]

    def __call__(self, topic: str) -> str:
        return self.names.setdefault(topic, topic if _LEGAL.fullmatch(topic) else f"topic-{len(self.names)}")

    def partition(self, owned: AskedPartition) -> AskedPartition:
        return self(owned[0]), max(0, owned[1])


def nearest(question: AssignorQuestion) -> AssignorQuestion:
    """Return the question with legal names, partitions in all topics, different instances, and topics once."""
    legal, seen = _Renamed({}), set[str]()
    topics = {legal(topic): max(1, count) for topic, count in question.topics.items()}
    racks = {legal(topic): of or (None,) for topic, of in (question.racks or {}).items()}
    members = []
    for place, member in enumerate(question.members or (AskedMember("a"),)):
        instance = None if member.instance in seen or not member.instance else member.instance
        seen |= {instance} if instance is not None else set()
        members.append(
            replace(
                member,
                id=member.id or f"member-{place}",
                instance=instance,
                topics=tuple(dict.fromkeys(map(legal, member.topics))),
                owned=tuple(dict.fromkeys(map(legal.partition, member.owned))),
                generation=None if member.generation is None else max(0, member.generation),
            )
        )
    return AssignorQuestion(topics, tuple(members), None if question.racks is None else racks)


def plain() -> Iterator[AssignorQuestion]:
    """Yield groups of one to five consumers that read one to three topics, all of them or some, in racks or not."""
    names = ("orders", "payments", "refunds")
    for size, counts in product(range(1, 6), ((1,), (6,), (12,), (3, 3), (6, 4), (2, 7, 5))):
        topics = dict(zip(names, counts, strict=False))
        ids = [f"consumer-{place}-2f0b{place}" for place in range(size)]
        yield AssignorQuestion(topics, tuple(AskedMember(each, topics=tuple(topics)) for each in ids))
        members = (
            AskedMember(each, topics=tuple(topics)[place % 2 :] or tuple(topics)) for place, each in enumerate(ids)
        )
        yield AssignorQuestion(topics, tuple(members))
        instances = (AskedMember(each, f"host-{size - place}", None, tuple(topics)) for place, each in enumerate(ids))
        yield AssignorQuestion(topics, tuple(instances))
        racks = (AskedMember(each, None, f"rack-{place % 3}", tuple(topics)) for place, each in enumerate(ids))
        of = {
            topic: tuple((f"rack-{n % 3}", f"rack-{(n + 1) % 3}") for n in range(count))
            for topic, count in topics.items()
        }
        yield AssignorQuestion(topics, tuple(racks), of)
        yield AssignorQuestion({**topics, "unread": 2}, (AskedMember("one", topics=(*topics, "deleted")),))
