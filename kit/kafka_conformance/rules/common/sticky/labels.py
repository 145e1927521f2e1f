"""The kinds of questions that the sticky assignors distinguish, besides those of all assignors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from msgspec import UNSET

from kafka_conformance.rules.common.assignors.labels import COMMON_LABELS, RACK_LABELS, group_labels, rack_labels
from kafka_conformance.rules.common.assignors.question import AskedPartition, AssignorQuestion

__all__ = ["STICKY_LABELS", "sticky_labels", "sticky_path"]

STICKY_LABELS = frozenset(
    COMMON_LABELS
    | RACK_LABELS
    | {"nothing owned", "a partition without an owner", "two claims in one generation", "claims of two generations"}
    | {"members of two generations", "members with and without a generation", "owned without a generation"}
    | {
        "a subscription of another generation",
        "a lost generation",
        "an owned partition beyond its topic",
        "an owned topic without metadata",
    }
    | {
        "an owned topic no longer subscribed to",
        "a partition owned twice by one member",
        "more owned than a fair share",
    }
    | {"owners in another rack", "owners with different subscriptions", "a member without topics beside owners"}
)


def sticky_labels(question: AssignorQuestion) -> Iterator[str]:
    """Yield the kinds that a question belongs to."""
    yield from group_labels(question)
    yield from rack_labels(question)
    if not any(member.owned for member in question.members):
        yield "nothing owned"
        return
    yield from _claim_labels(question)
    yield from _generation_labels(question)
    yield from _partition_labels(question)


def _claims(question: AssignorQuestion) -> dict[AskedPartition, list[int | None]]:
    claims: dict[AskedPartition, list[int | None]] = {}
    for member in question.members:
        for partition in dict.fromkeys(member.owned):
            claims.setdefault(partition, []).append(member.generation)
    return claims


def _claim_labels(question: AssignorQuestion) -> Iterator[str]:
    claims = _claims(question)
    if any(max(Counter(each).values()) > 1 for each in claims.values()):
        yield "two claims in one generation"
    if any(len(set(each)) > 1 for each in claims.values()):
        yield "claims of two generations"
    if any(len(set(member.owned)) < len(member.owned) for member in question.members):
        yield "a partition owned twice by one member"
    total = sum(question.topics.values())
    if any(len(member.owned) > -(-total // len(question.members)) for member in question.members):
        yield "more owned than a fair share"
    if any((topic, number) not in claims for topic, count in question.topics.items() for number in range(count)):
        yield "a partition without an owner"


def _generation_labels(question: AssignorQuestion) -> Iterator[str]:
    generations = {member.generation for member in question.members if member.owned}
    if None in generations:
        yield "owned without a generation"
    if -1 in generations:
        yield "a lost generation"
    if any(one.subscription_generation not in (UNSET, one.generation) for one in question.members):
        yield "a subscription of another generation"
    if len(generations - {None}) > 1:
        yield "members of two generations"
    if None in generations and len(generations) > 1:
        yield "members with and without a generation"


def _partition_labels(question: AssignorQuestion) -> Iterator[str]:
    for topic, number in chain.from_iterable(member.owned for member in question.members):
        if topic not in question.topics:
            yield "an owned topic without metadata"
        elif number >= question.topics[topic]:
            yield "an owned partition beyond its topic"
    if any(topic not in member.topics for member in question.members for topic, _ in member.owned):
        yield "an owned topic no longer subscribed to"
    if len({frozenset(member.topics) for member in question.members}) > 1:
        yield "owners with different subscriptions"
        if any(not member.topics for member in question.members):
            yield "a member without topics beside owners"
    if any(
        member.rack and _elsewhere(question, member.rack, each) for member in question.members for each in member.owned
    ):
        yield "owners in another rack"


def _elsewhere(question: AssignorQuestion, rack: str, partition: AskedPartition) -> bool:
    of_topic = (question.racks or {}).get(partition[0], ())
    return partition[1] < len(of_topic) and rack not in (of_topic[partition[1]] or ())


def sticky_path(question: AssignorQuestion) -> str:
    """Return where releases part ways: at subscriptions, at conflicting claims, at racks."""
    same = len({frozenset(member.topics) for member in question.members}) <= 1
    kinds = set(_claim_labels(question))
    claims = (
        "one generation" if "two claims in one generation" in kinds
        else "two generations" if "claims of two generations" in kinds
        else "no conflict"
    )  # fmt: skip
    racks = ", racks" if question.racks and any(member.rack for member in question.members) else ""
    return f"{'equal' if same else 'different'} subscriptions, {claims}{racks}"
