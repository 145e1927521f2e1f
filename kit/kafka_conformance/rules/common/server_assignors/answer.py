"""The answer of the coordinator's assignors."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.rules.common.server_assignors.question import AskedPartition

__all__ = ["ServerAssignorAnswer"]


class ServerAssignorAnswer(AnswerType, frozen=True):
    """The new target assignment."""

    assignment: dict[str, tuple[AskedPartition, ...]]
    """For each member id its partitions, sorted; an empty list for a member without any."""
