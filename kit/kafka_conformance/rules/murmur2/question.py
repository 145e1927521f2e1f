"""The question of ``murmur2``: ``{"key": hex or null}`` gives ``{"hash": int32}``, or an exception for null."""

from __future__ import annotations

from kafka_conformance.core.protocol import Hex, Question

__all__ = ["Murmur2Question"]


class Murmur2Question(Question, frozen=True):
    """A serialized key, or null."""

    key: Hex | None
    """The serialized key; null: Java's null."""
