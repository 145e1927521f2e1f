"""A target assignment in rows: what each member had before and has after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.assignors.explain import counted_partitions, partitions_in_words, partitions_of
from kafka_conformance.rules.common.server_assignors.question import AskedMember, ServerAssignorQuestion
from kafka_reference.releases import Release

__all__ = ["explain", "parts"]


def parts(question: ServerAssignorQuestion, answer: Answer) -> Sequence[Any]:
    """Return what each row shows of an answer: the partitions of each member; none if it threw."""
    if "assignment" not in answer:
        return ()
    return [answer["assignment"].get(member.id, []) for member in question.members]


def explain(question: ServerAssignorQuestion, _: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Return a row for each member: before, after, gained, lost."""
    for member, after in zip(question.members, answers, strict=True):
        yield _row(member, partitions_of(after))


def _row(member: AskedMember, after: list[tuple[str, int]]) -> Explained:
    before = sorted(member.assigned)
    state = (
        ("before", partitions_in_words(before)),
        ("after", partitions_in_words(after)),
        ("gained", partitions_in_words(one for one in after if one not in before)),
        ("lost", partitions_in_words(one for one in before if one not in after)),
    )
    settings = (("instance", member.instance), ("rack", member.rack))
    set_to = ", ".join(f"{name} {value}" for name, value in settings if value is not None)
    step = f"member {member.id}{f' ({set_to})' if set_to else ''} subscribes to {', '.join(member.topics) or 'nothing'}"
    return Explained(None, step, counted_partitions(after), member.id, (), state)
