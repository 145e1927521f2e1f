"""The answer of ``server-uniform-assignor``."""

from __future__ import annotations

from kafka_conformance.rules.common.server_assignors.answer import ServerAssignorAnswer

__all__ = ["ANSWER"]

ANSWER = ServerAssignorAnswer
