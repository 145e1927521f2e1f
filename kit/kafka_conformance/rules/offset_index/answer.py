"""The answer of ``offset-index``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.rules.common.index_answers import SHARED_STEPS, IndexAnswer
from kafka_conformance.rules.offset_index.question import UpperBoundStep

__all__ = ["ANSWER", "STEPS"]


class UpperBoundAnswer(AnswerType, frozen=True):
    """An entry behind what a fetch returns."""

    bound: tuple[int, int] | None
    """Offset and position; null: there is none."""


ANSWER = IndexAnswer
STEPS: StepTypes = {UpperBoundStep: UpperBoundAnswer, **SHARED_STEPS}
