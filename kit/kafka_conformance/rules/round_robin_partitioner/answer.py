"""The answer of ``round-robin-partitioner``."""

from __future__ import annotations

from kafka_conformance.core.answer_type import StepTypes
from kafka_conformance.rules.common.partitioner_answers import PartitionAnswer, ScriptAnswer
from kafka_conformance.rules.round_robin_partitioner.question import RoundRobinStep

__all__ = ["ANSWER", "STEPS"]

ANSWER = ScriptAnswer
STEPS: StepTypes = {RoundRobinStep: PartitionAnswer}
