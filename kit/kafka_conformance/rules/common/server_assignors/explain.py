"""A target assignment in rows: what each member had before and has after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import NOTHING, Explained
from kafka_conformance.rules.common.server_assignors.question import AskedMember, ServerAssignorQuestion
from kafka_reference.releases import Release

__all__ = ["explain", "parts"]

_Partition = tuple[str, int]


def parts(question: ServerAssignorQuestion, answer: Answer) -> Sequence[Any]:
    """Return what each row shows of an answer: the partitions of each member; none if it threw."""
    if "assignment" not in answer:
        return ()
    return [answer["assignment"].get(member.id, []) for member in question.members]


def explain(question: ServerAssignorQuestion, _: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Return a row for each member: before, after, gained, lost."""
    for member, after in zip(question.members, answers, strict=True):
        yield _row(member, _partitions(after))


def _row(member: AskedMember, after: list[_Partition]) -> Explained:
    before = sorted(member.assigned)
    state = (
        ("before", _in_words(before)),
        ("after", _in_words(after)),
        ("gained", _in_words(one for one in after if one not in before)),
        ("lost", _in_words(one for one in before if one not in after)),
    )
    settings = (("instance", member.instance), ("rack", member.rack))
    set_to = ", ".join(f"{name} {value}" for name, value in settings if value is not None)
    step = f"member {member.id}{f' ({set_to})' if set_to else ''} subscribes to {', '.join(member.topics) or 'nothing'}"
    return Explained(None, step, _counted(after), member.id, (), state)


def _partitions(answer: Any) -> list[_Partition]:
    """Return the partitions of an answer; none if it is not a list of partitions."""
    return [(str(one[0]), one[1]) for one in answer] if isinstance(answer, list | tuple) else []


def _counted(partitions: Sequence[_Partition]) -> str:
    if not partitions:
        return NOTHING
    return f"{len(partitions):,} partition{'s' if len(partitions) > 1 else ''}: {_in_words(partitions)}"


def _in_words(partitions: Iterable[_Partition]) -> str:
    runs = groupby(partitions, key=lambda partition: partition[0])
    return "; ".join(f"{topic} {', '.join(str(number) for _, number in run)}" for topic, run in runs) or NOTHING
