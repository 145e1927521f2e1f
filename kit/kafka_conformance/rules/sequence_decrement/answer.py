"""The answer of ``sequence-decrement``."""

from __future__ import annotations

from kafka_conformance.rules.common.sequence_answer import SequenceAnswer

__all__ = ["ANSWER"]

ANSWER = SequenceAnswer
