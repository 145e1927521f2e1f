"""The answer of ``server-range-assignor``."""

from __future__ import annotations

from kafka_conformance.rules.common.server_assignors.answer import ServerAssignorAnswer

__all__ = ["ANSWER"]

ANSWER = ServerAssignorAnswer
