"""The kinds of questions to assignors."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.assignors.question import AssignorQuestion

__all__ = ["COMMON_LABELS", "RACK_LABELS", "group_labels", "group_path", "rack_labels"]

COMMON_LABELS = frozenset(
    {"no member", "one member", "several members", "more members than partitions", "more than 12 members"}
    | {"same subscriptions", "different subscriptions", "an empty subscription", "a topic twice in a subscription"}
    | {
        "a topic without metadata",
        "a topic without partitions",
        "more than 12 topics",
        "a topic that nobody subscribes to",
    }
    | {
        "static members",
        "static and dynamic members",
        "an instance twice",
        "names beyond ASCII",
        "partitions owned before",
    }
)
RACK_LABELS = frozenset(
    {
        "racks of members",
        "members with and without a rack",
        "an empty rack",
        "replicas in all racks",
        "replicas in some racks",
    }
    | {"racks that do not meet", "topics of the same size", "racks of several topics"}
)


def group_labels(question: AssignorQuestion) -> Iterator[str]:
    """Yield the kinds of question that every assignor distinguishes."""
    members, subscribed = question.members, {topic for member in question.members for topic in member.topics}
    yield "no member" if not members else "one member" if len(members) == 1 else "several members"
    if len(members) > 12:
        yield "more than 12 members"
    if len(members) > sum(count for topic, count in question.topics.items() if topic in subscribed):
        yield "more members than partitions"
    yield "different subscriptions" if len({frozenset(one.topics) for one in members}) > 1 else "same subscriptions"
    if any(not member.topics for member in members):
        yield "an empty subscription"
    if any(len(set(member.topics)) < len(member.topics) for member in members):
        yield "a topic twice in a subscription"
    yield from _topic_labels(question, subscribed)
    yield from _member_labels(question)


def group_path(question: AssignorQuestion) -> str:
    """Return where clients part ways: at the order of names, at static members, at subscriptions; "" for none of these."""
    names = {
        *question.topics,
        *(name for each in question.members for name in (each.id, each.instance or "", *each.topics)),
    }
    if any(max(name, default="") > "\uffff" for name in names):
        return "names beyond U+FFFF"
    instances = [member.instance is not None for member in question.members]
    if any(instances):
        return "static members" if all(instances) else "static and dynamic members"
    return "different subscriptions" if len({frozenset(each.topics) for each in question.members}) > 1 else ""


def _topic_labels(question: AssignorQuestion, subscribed: set[str]) -> Iterator[str]:
    if not subscribed <= question.topics.keys():
        yield "a topic without metadata"
    if not question.topics.keys() <= subscribed:
        yield "a topic that nobody subscribes to"
    if any(question.topics.get(topic) == 0 for topic in subscribed):
        yield "a topic without partitions"
    if len(subscribed) > 12:
        yield "more than 12 topics"
    if not all(name.isascii() for name in (*subscribed, *(member.id for member in question.members))):
        yield "names beyond ASCII"


def _member_labels(question: AssignorQuestion) -> Iterator[str]:
    instances = [member.instance for member in question.members if member.instance is not None]
    if instances:
        yield "static members" if len(instances) == len(question.members) else "static and dynamic members"
    if len(set(instances)) < len(instances):
        yield "an instance twice"
    if any(member.owned for member in question.members):
        yield "partitions owned before"


def rack_labels(question: AssignorQuestion) -> Iterator[str]:
    """Yield the kinds of question that an assignor distinguishes which looks at racks."""
    of_members = [member.rack for member in question.members]
    named = {rack for rack in of_members if rack}
    if "" in of_members:
        yield "an empty rack"
    if not named:
        return
    yield "racks of members"
    if not all(of_members):
        yield "members with and without a rack"
    yield from _replica_labels(question, named)


def _replica_labels(question: AssignorQuestion, named: set[str]) -> Iterator[str]:
    by_topic = {
        topic: [frozenset(one or ()) for one in of_topic]
        for topic, of_topic in (question.racks or {}).items()
        if of_topic and any(topic in member.topics for member in question.members)
    }
    sizes = [len(of_topic) for of_topic in by_topic.values()]
    for of_topic in by_topic.values():
        everywhere = frozenset().union(*of_topic)
        if not everywhere & named:
            yield "racks that do not meet"
        else:
            yield "replicas in all racks" if set(of_topic) == {everywhere} else "replicas in some racks"
    if len(set(sizes)) < len(sizes):
        yield "topics of the same size"
    if len(sizes) > 1:
        yield "racks of several topics"
