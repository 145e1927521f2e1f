"""The answer of the client's assignors."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.rules.common.assignors.question import AskedPartition

__all__ = ["AssignorAnswer"]


class AssignorAnswer(AnswerType, frozen=True):
    """Who gets which partitions."""

    assignment: dict[str, tuple[AskedPartition, ...]]
    """For each member id its partitions, in Java's order; an empty list for a member without any."""
