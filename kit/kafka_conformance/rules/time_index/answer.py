"""The answer of ``time-index``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import StepTypes
from kafka_conformance.rules.common.index_answers import SHARED_STEPS, IndexAnswer

__all__ = ["ANSWER", "STEPS"]

ANSWER = IndexAnswer
STEPS: StepTypes = SHARED_STEPS
