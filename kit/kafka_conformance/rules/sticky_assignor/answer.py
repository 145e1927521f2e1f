"""The answer of ``sticky-assignor``."""

from __future__ import annotations

from kafka_conformance.rules.common.assignors.answer import AssignorAnswer

__all__ = ["ANSWER"]

ANSWER = AssignorAnswer
