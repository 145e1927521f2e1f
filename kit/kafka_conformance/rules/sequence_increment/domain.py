"""Which questions of ``sequence-increment`` a user can bring about.

A sequence is 0 to 2^31-1. It is advanced by the records of a batch, at least one.
"""

from __future__ import annotations

from typing import Any

from kafka_conformance.rules.common.sequence_bounds import nearest_step, step_domain

__all__ = ["domain", "nearest"]


def domain(question: Any) -> str:
    """Return why no user can bring the question about, or ""."""
    return step_domain(question, 1, "a batch has at least one record")


def nearest(question: Any) -> Any:
    """Return the question with both numbers in their bounds."""
    return nearest_step(question, 1)
