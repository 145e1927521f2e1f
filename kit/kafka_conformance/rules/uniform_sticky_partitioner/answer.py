"""The answer of ``uniform-sticky-partitioner``."""

from __future__ import annotations

from kafka_conformance.rules.common.partitioner_answers import STICKY_STEPS, ScriptAnswer

__all__ = ["ANSWER", "STEPS"]

ANSWER, STEPS = ScriptAnswer, STICKY_STEPS
