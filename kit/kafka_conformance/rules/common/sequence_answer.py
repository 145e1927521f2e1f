"""The answer of the rules about sequence numbers."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Int32

__all__ = ["SequenceAnswer"]


class SequenceAnswer(AnswerType, frozen=True):
    """The sequence number after the step."""

    sequence: Int32
    """The sequence number; after 2^31-1 comes 0."""
