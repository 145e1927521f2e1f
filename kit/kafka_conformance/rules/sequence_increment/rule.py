"""The rule ``sequence-increment``: ``{"sequence", "by"}`` gives ``{"sequence"}``, all int32."""

from __future__ import annotations

from kafka_conformance.rules.common.sequences import sequence_rule
from kafka_reference.idempotence.sequences import LAST_SEQUENCE, increment
from kafka_reference.releases import since

__all__ = ["RULE"]

RULE = sequence_rule("increment", increment, lambda sequence, by: sequence + by > LAST_SEQUENCE, since("0.11.0.0"))
