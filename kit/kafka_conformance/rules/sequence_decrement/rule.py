"""The rule ``sequence-decrement``: ``{"sequence", "by"}`` gives ``{"sequence"}``, all int32."""

from __future__ import annotations

from kafka_conformance.rules.common.sequences import sequence_rule
from kafka_reference.idempotence.sequences import decrement
from kafka_reference.releases import since

__all__ = ["RULE"]

RULE = sequence_rule("decrement", decrement, lambda sequence, by: by > sequence, since("2.1.1"))
