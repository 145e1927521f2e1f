"""The answer of ``murmur2``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Int32

__all__ = ["ANSWER"]


class Murmur2Answer(AnswerType, frozen=True):
    """The hash of the key."""

    hash: Int32
    """The hash, as Java's signed int."""


ANSWER = Murmur2Answer
