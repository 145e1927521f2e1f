"""The question of ``partition-for-key``.

``{"key": hex or null, "partitions": int32}`` gives ``{"partition": n}``, or an exception for null or 0 partitions.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Hex, Int32, Question

__all__ = ["PartitionForKeyQuestion"]


class PartitionForKeyQuestion(Question, frozen=True):
    """A serialized key, or null, and a number of partitions."""

    key: Hex | None
    """The serialized key; null: Java's null."""
    partitions: Int32
    """The number of partitions of the topic."""
