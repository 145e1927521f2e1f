"""The answer of ``partition-for-key``."""

from __future__ import annotations

from kafka_conformance.rules.common.partitioner_answers import PartitionAnswer

__all__ = ["ANSWER"]

ANSWER = PartitionAnswer
