"""The kinds of questions to the coordinator's assignors."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.server_assignors.question import ServerAssignorQuestion

__all__ = ["LABELS", "group_labels", "path"]

LABELS = frozenset(
    {"no member", "one member", "several members", "more than 12 members", "more members than partitions"}
    | {"same subscriptions", "different subscriptions", "an empty subscription", "a subscription without a topic"}
    | {"a topic twice in a subscription", "more than 12 topics", "static members", "an instance twice"}
    | {"names beyond ASCII", "a topic the metadata lack", "subscription type given", "racks", "no last assignment"}
    | {"a last assignment", "a deleted topic", "a partition with two owners", "a partition that is not there"}
    | {"a partition of a topic not subscribed to", "partitions above 15"}
)


def group_labels(question: ServerAssignorQuestion) -> Iterator[str]:
    """Yield the kinds of question that the assignors distinguish."""
    members = question.members
    yield "no member" if not members else "one member" if len(members) == 1 else "several members"
    if len(members) > 12:
        yield "more than 12 members"
    yield "different subscriptions" if len({frozenset(one.topics) for one in members}) > 1 else "same subscriptions"
    instances = [member.instance for member in members if member.instance is not None]
    if instances:
        yield "static members"
    if len(set(instances)) < len(instances):
        yield "an instance twice"
    if any(member.rack for member in members) and any(topic.racks for topic in question.topics):
        yield "racks"
    if question.subscription is not None:
        yield "subscription type given"
    yield from _topic_labels(question)
    yield from _assignment_labels(question)


def _topic_labels(question: ServerAssignorQuestion) -> Iterator[str]:
    subscribed = {name for member in question.members for name in member.topics}
    existing = {topic.name: topic for topic in question.topics if topic.partitions is not None}
    if len(question.members) > sum(existing[name].partitions or 0 for name in subscribed & existing.keys()):
        yield "more members than partitions"
    if any(not existing[name].described for name in subscribed & existing.keys()):
        yield "a topic the metadata lack"
    if len(existing) < len(question.topics):
        yield "a deleted topic"
    if len(subscribed) > 12:
        yield "more than 12 topics"
    if not all(name.isascii() for name in (*subscribed, *(member.id for member in question.members))):
        yield "names beyond ASCII"
    for member in question.members:
        if not member.topics:
            yield "an empty subscription"
        elif not existing.keys() & set(member.topics):
            yield "a subscription without a topic"
        if len(set(member.topics)) < len(member.topics):
            yield "a topic twice in a subscription"


def _assignment_labels(question: ServerAssignorQuestion) -> Iterator[str]:
    counts = {topic.name: topic.partitions for topic in question.topics}
    assigned = [partition for member in question.members for partition in member.assigned]
    yield "a last assignment" if assigned else "no last assignment"
    if len(set(assigned)) < len(assigned):
        yield "a partition with two owners"
    if any(number >= (counts[name] or number + 1) for name, number in assigned):
        yield "a partition that is not there"
    if any(number > 15 for _, number in assigned):
        yield "partitions above 15"
    if any(name not in member.topics for member in question.members for name, _ in member.assigned):
        yield "a partition of a topic not subscribed to"


def path(question: ServerAssignorQuestion) -> str:
    """Where releases part ways: at racks, at a member without topics, at different subscriptions, at old partitions."""
    kinds = set(group_labels(question))
    if kinds & {
        "a topic the metadata lack",
        "a partition with two owners",
        "a partition that is not there",
        "no member",
    }:
        return "not by a coordinator"
    if kinds & {"an empty subscription", "a subscription without a topic"}:
        return "a member without topics"
    ways = [name for name in ("racks", "different subscriptions", "a last assignment") if name in kinds]
    return ", ".join(ways) or "a new group"
