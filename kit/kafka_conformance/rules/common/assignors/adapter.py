"""Questions to an assignor of the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.assignors.question import AssignorQuestion, members_of, topics_of
from kafka_reference.assignment.members import Assignment, Member, Topic
from kafka_reference.releases import Release

__all__ = ["Assignor", "ask_of"]

Assignor: TypeAlias = Callable[[Mapping[str, Topic], Sequence[Member], Release], Assignment]
"""An assignor: topics, members and a release give the assignment."""


def ask_of(assignor: Assignor, question: AssignorQuestion, release: Release) -> Answer:
    """Return the answer of ``assignor``: the reference's own, or one with a mistake."""
    assignment = assignor(topics_of(question), members_of(question), release)
    return {"assignment": {member: [list(partition) for partition in owned] for member, owned in assignment.items()}}
