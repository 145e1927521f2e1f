"""The answer of ``cooperative-sticky-assignor``."""

from __future__ import annotations

from kafka_conformance.rules.common.assignors.answer import AssignorAnswer

__all__ = ["ANSWER"]

ANSWER = AssignorAnswer
