"""The answers of rules that choose a partition."""

from __future__ import annotations

from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.protocol import Answer, Int32
from kafka_conformance.rules.common.partitioner_steps import PartitionStep

__all__ = ["STICKY_STEPS", "PartitionAnswer", "ScriptAnswer"]


class PartitionAnswer(AnswerType, frozen=True):
    """The chosen partition."""

    partition: Int32
    """The id of the partition."""


class ScriptAnswer(AnswerType, frozen=True):
    """The answers to the steps."""

    steps: tuple[Answer | None, ...]
    """One answer for each step, in order."""


STICKY_STEPS: StepTypes = {PartitionStep: PartitionAnswer}
