"""Which questions of ``sequence-decrement`` a user can bring about.

A sequence is 0 to 2^31-1. It is set back by an offset within a batch, which is 0 for its first record.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

__all__ = ["domain", "nearest"]


def domain(question: Any) -> str:
    """Return why nobody can bring the question about, or ""."""
    if question.sequence < 0:
        return "a sequence is 0 to 2^31-1"
    return "" if question.by >= 0 else "an offset within a batch is 0 or more"


def nearest(question: Any) -> Any:
    """Return the question with both numbers in their bounds."""
    return replace(question, sequence=question.sequence & 2**31 - 1, by=max(question.by & 2**31 - 1, 0))
