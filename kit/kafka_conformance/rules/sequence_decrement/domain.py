"""Which questions of ``sequence-decrement`` a user can bring about.

A sequence is 0 to 2^31-1. It is set back by an offset within a batch, which is 0 for its first record.
"""

from __future__ import annotations

from typing import Any

from kafka_conformance.rules.common.sequence_bounds import nearest_step, step_domain

__all__ = ["domain", "nearest"]


def domain(question: Any) -> str:
    """Return why no user can bring the question about, or ""."""
    return step_domain(question, 0, "an offset within a batch is 0 or more")


def nearest(question: Any) -> Any:
    """Return the question with both numbers in their bounds."""
    return nearest_step(question, 0)
