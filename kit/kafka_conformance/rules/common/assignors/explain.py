"""An assignment in rows: what each member owned before and owns after, and the unassigned partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import NOTHING, Explained
from kafka_conformance.rules.common.assignors.question import AskedMember, AssignorQuestion
from kafka_reference.releases import Release

__all__ = ["counted_partitions", "explain", "partitions_in_words", "partitions_of", "parts"]

_Partition = tuple[str, int]


def parts(question: AssignorQuestion, answer: Answer) -> Sequence[Any]:
    """Return what each row shows of an answer: the partitions of each member, then the unassigned ones; none if it threw."""
    if "assignment" not in answer:
        return ()
    owned = [answer["assignment"].get(member.id, []) for member in question.members]
    taken = {(topic, number) for each in owned for topic, number in each}
    left = (
        [topic, number]
        for topic, count in sorted(question.topics.items())
        for number in range(count)
        if (topic, number) not in taken
    )
    return [*owned, list(left)]


def explain(question: AssignorQuestion, _: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Return a row for each member, and one for the unassigned partitions."""
    *owned, left = answers
    for member, after in zip(question.members, owned, strict=True):
        yield _row(member, partitions_of(after))
    reasons = _reasons_left(question, partitions_of(left))
    yield Explained(None, "unassigned", counted_partitions(partitions_of(left)), "unassigned", tuple(reasons))


def _row(member: AskedMember, after: list[_Partition]) -> Explained:
    before = list(member.owned)
    reasons = (
        f"owned before: {partitions_in_words(before)}",
        f"owns after: {partitions_in_words(after)}",
        f"gained: {partitions_in_words(one for one in after if one not in before)}",
        f"lost: {partitions_in_words(one for one in before if one not in after)}",
    )
    shown = counted_partitions(after)
    return Explained(None, f"member {_member_in_words(member)}", shown, member.id, reasons)


def _member_in_words(member: AskedMember) -> str:
    settings = (("instance", member.instance), ("rack", member.rack), ("generation", member.generation))
    said = ", ".join(f"{name} {value}" for name, value in settings if value is not None)
    return f"{member.id}{f' ({said})' if said else ''} subscribes to {', '.join(member.topics) or 'nothing'}"


def _reasons_left(question: AssignorQuestion, left: Iterable[_Partition]) -> Iterator[str]:
    subscribed = {topic for member in question.members for topic in member.topics}
    owners = {partition: member.id for member in question.members for partition in member.owned}
    withheld: dict[str, list[_Partition]] = {}
    unsubscribed: dict[str, None] = {}
    for topic, number in left:
        if topic not in subscribed:
            unsubscribed[topic] = None
        elif (topic, number) in owners:
            withheld.setdefault(owners[topic, number], []).append((topic, number))
    yield from (f"no member subscribes to {topic}" for topic in unsubscribed)
    for owner, partitions in withheld.items():
        yield f"{owner} has to revoke {partitions_in_words(partitions)} first; the next rebalance assigns them"


def partitions_of(answer: Any) -> list[_Partition]:
    """Return the partitions of an answer; none if it is not a list of partitions."""
    return [(str(one[0]), one[1]) for one in answer] if isinstance(answer, list | tuple) else []


def counted_partitions(partitions: Sequence[_Partition]) -> str:
    """Return the number of partitions, and the partitions: ``3 partitions: orders 0, 1; payments 0``."""
    if not partitions:
        return NOTHING
    return f"{len(partitions):,} partition{'s' if len(partitions) > 1 else ''}: {partitions_in_words(partitions)}"


def partitions_in_words(partitions: Iterable[_Partition]) -> str:
    """Return partitions by topic, in their order: ``orders 0, 1; payments 0``."""
    runs = groupby(partitions, key=lambda partition: partition[0])
    return "; ".join(f"{topic} {', '.join(str(number) for _, number in run)}" for topic, run in runs) or NOTHING
