"""The answer of ``builtin-partitioner``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.protocol import Int32
from kafka_conformance.rules.builtin_partitioner.question import AppendStep, LoadStep, PeekStep, SendBytesStep
from kafka_conformance.rules.common.partitioner_answers import ScriptAnswer

__all__ = ["ANSWER", "STEPS"]


class StayAnswer(AnswerType, frozen=True):
    """The current partition after the step."""

    partition: Int32
    """The id of the partition."""
    drawn: int
    """The number of draws used so far, also by steps that threw."""


class SentAnswer(AnswerType, frozen=True):
    """Where a record went."""

    partition: Int32
    """The id of the partition that this record goes to."""


class LoadAnswer(AnswerType, frozen=True):
    """The load statistics after the step."""

    range_end: Int32 | None
    """The end of the range that draws are mapped to (``loadStatsRangeEnd``); null: no statistics."""


ANSWER = ScriptAnswer
STEPS: StepTypes = {PeekStep: StayAnswer, AppendStep: StayAnswer, SendBytesStep: SentAnswer, LoadStep: LoadAnswer}
