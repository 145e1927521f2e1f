"""The question of the coordinator's assignors: a group with its last target assignment, and the topics of the cluster."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Question
from kafka_reference.assignment.server.group import SubscribedTopic, Subscriber, Uuid
from kafka_reference.errors import QuestionError

__all__ = [
    "AskedMember", "AskedPartition", "AskedTopic", "ServerAssignorQuestion", "Subscription", "members_of", "topics_of",
]  # fmt: skip

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
AskedPartition: TypeAlias = tuple[str, Number]
"""A partition: the name of its topic and its number."""
Subscription: TypeAlias = Literal["homogeneous", "heterogeneous"]


class AskedTopic(Question, frozen=True):
    """A topic of the cluster, or a deleted one of which members still have partitions."""

    name: str
    """Its name; no two topics have the same."""
    id: str
    """Its id, in base64 as Kafka prints it; no two topics have the same."""
    partitions: Count | None
    """The number of its partitions; null: the topic is deleted, and a subscription to its name finds no topic."""
    described: bool = True
    """False: the metadata that the assignor gets do not have the topic, although its name has an id."""
    racks: tuple[tuple[str, ...], ...] = ()
    """For each partition the racks of its replicas; empty: no replica has a rack. Only 3.7.x reads them."""


class AskedMember(Question, frozen=True):
    """A member of the group, with its subscription and its part of the last target assignment."""

    id: str
    """The member id; no two members have the same."""
    instance: str | None = None
    """``group.instance.id``; null: a dynamic member."""
    rack: str | None = None
    """``client.rack``; null: none. Only 3.7.x reads it."""
    topics: tuple[str, ...] = ()
    """The names of the topics that it subscribes to, in the order of the request."""
    assigned: tuple[AskedPartition, ...] = ()
    """Its partitions in the last target assignment, in the order of the record; each once."""


class ServerAssignorQuestion(Question, frozen=True):
    """A target assignment to compute, as the group coordinator asks its assignor for it."""

    topics: tuple[AskedTopic, ...]
    """The topics."""
    members: tuple[AskedMember, ...]
    """The members, in the order in which they are put into a HashMap."""
    subscription: Subscription | None = None
    """The subscription type that the assignor gets since 3.8.0; null: the coordinator's own, by names."""


def members_of(question: ServerAssignorQuestion) -> list[Subscriber]:
    """Return the members in the reference's form. Raises QuestionError for what the Java half refuses."""
    if len({member.id for member in question.members}) < len(question.members):
        raise QuestionError("two members have the same id: a group has each id once")
    ids = {topic.name: Uuid.parse(topic.id) for topic in question.topics}
    members = []
    for member in question.members:
        if len(set(member.assigned)) < len(member.assigned):
            raise QuestionError(f"member {member.id!r} has a partition twice: a target assignment is a set")
        unknown = {name for name, _ in member.assigned} - ids.keys()
        if unknown:
            raise QuestionError(f"member {member.id!r} has partitions of {min(unknown)!r}, which is not in topics")
        assigned = tuple((ids[name], number) for name, number in member.assigned)
        members.append(Subscriber(member.id, member.instance, member.rack, tuple(member.topics), assigned))
    return members


def topics_of(question: ServerAssignorQuestion) -> list[SubscribedTopic]:
    """Return the topics in the reference's form. Raises QuestionError for two of the same name or id."""
    topics = [
        SubscribedTopic(one.name, Uuid.parse(one.id), one.partitions, one.described, one.racks)
        for one in question.topics
    ]
    if len({topic.name for topic in topics}) < len(topics) or len({topic.id for topic in topics}) < len(topics):
        raise QuestionError("two topics have the same name or id: each topic has its own")
    return topics
