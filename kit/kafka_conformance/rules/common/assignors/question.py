"""The question of the client's assignors: a group, what each member subscribes to, and the topics of the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import msgspec

from kafka_conformance.core.protocol import Int32, Question, to_json
from kafka_reference.assignment.members import Member, Topic
from kafka_reference.errors import QuestionError

__all__ = [
    "AskedMember", "AskedPartition", "AssignorQuestion", "Count", "RacksOfPartition", "members_of", "topics_of",
]  # fmt: skip

AskedPartition: TypeAlias = tuple[str, Int32]
"""A partition: its topic and its number."""
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
RacksOfPartition: TypeAlias = tuple[str, ...] | None
"""The racks of a partition's replicas; null: its replicas are on brokers without a rack, or not known."""


class AskedMember(Question, frozen=True):
    """A member of the group, with its subscription."""

    id: str
    """The member id that the group coordinator gave; no two members have the same."""
    instance: str | None = None
    """``group.instance.id``; null: a dynamic member. Releases up to 2.3.x do not know it."""
    rack: str | None = None
    """``client.rack``; null: none. Releases up to 3.4.x do not use it."""
    topics: tuple[str, ...] = ()
    """The topics of its subscription, in order."""
    owned: tuple[AskedPartition, ...] = ()
    """The partitions that it owned before, in order. Only the sticky assignors read them."""
    generation: Int32 | None = None
    """The generation in which it got ``owned``; null: it has none. Only the sticky assignors read it."""
    subscription_generation: Int32 | msgspec.UnsetType = msgspec.UNSET
    """The generation that its subscription states since 3.4.0, below 0: none; absent: ``generation``. A consumer that lost
    its generation states -1, while the user data of its sticky assignor keep ``generation``."""


class AssignorQuestion(Question, frozen=True):
    """An assignment to compute, as the leader of a group is asked for it."""

    topics: Mapping[str, Count]
    """The topics that the cluster's metadata know, each with its number of partitions. A topic that is not here has none."""
    members: tuple[AskedMember, ...]
    """The members, in the order in which the coordinator listed them."""
    racks: Mapping[str, tuple[RacksOfPartition, ...]] | None = None
    """For each topic the racks of the replicas of each partition; null, or a topic that is not here: no racks."""

    def __hash__(self) -> int:
        return hash(to_json(self))


def members_of(question: AssignorQuestion) -> list[Member]:
    """Return the members in the reference's form. Raises QuestionError for a member id that stands twice."""
    if len({member.id for member in question.members}) < len(question.members):
        raise QuestionError("two members have the same id: a group has each id once")
    return [
        Member(
            one.id, one.topics, one.instance, one.rack, one.owned, one.generation,
            None if one.subscription_generation is msgspec.UNSET else one.subscription_generation,
        )
        for one in question.members
    ]  # fmt: skip


def topics_of(question: AssignorQuestion) -> dict[str, Topic]:
    """Return the topics of the cluster in the reference's form. Raises QuestionError for racks that do not fit them."""
    racks = question.racks or {}
    for name, of_partitions in racks.items():
        if len(of_partitions) != question.topics.get(name, 0):
            raise QuestionError(
                f"racks of {len(of_partitions)} partitions of topic {name!r}: give those of each partition"
            )
    return {
        name: Topic(count, tuple(tuple(of_one or ()) for of_one in racks.get(name, ((),) * count)))
        for name, count in question.topics.items()
    }
