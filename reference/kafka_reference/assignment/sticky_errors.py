"""What the sticky assignors throw, besides ``kafka_reference.errors``."""

from __future__ import annotations

from kafka_reference.errors import JavaException

__all__ = ["NoSuchElementException"]


class NoSuchElementException(JavaException, LookupError):
    """An empty collection was asked for its first element; up to 2.5.0, for a group without members or partitions."""
