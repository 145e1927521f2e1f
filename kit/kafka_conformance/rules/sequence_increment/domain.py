"""Which questions of ``sequence-increment`` a user can bring about.

A sequence is 0 to 2^31-1. It is advanced by the records of a batch, at least one.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

__all__ = ["domain", "nearest"]


def domain(question: Any) -> str:
    """Return why nobody can bring the question about, or ""."""
    if question.sequence < 0:
        return "a sequence is 0 to 2^31-1"
    return "" if question.by >= 1 else "a batch has at least one record"


def nearest(question: Any) -> Any:
    """Return the question with both numbers in their bounds."""
    return replace(question, sequence=question.sequence & 2**31 - 1, by=max(question.by & 2**31 - 1, 1))
