"""Which questions of ``sequence-decrement`` a user can bring about.

A sequence is 0 to 2^31-1. It is set back by an offset within a batch, which is 0 for its first record.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from kafka_conformance.rules.common.sequence_bounds import MOST_RECORDS

__all__ = ["domain", "nearest"]


def domain(question: Any) -> str:
    """Return why nobody can bring the question about, or ""."""
    if question.sequence < 0:
        return "a sequence is 0 to 2^31-1"
    if question.by < 0:
        return "an offset within a batch is 0 or more"
    return "" if question.by <= MOST_RECORDS else "a batch has less than 2^31 bytes, and a record at least 7"


def nearest(question: Any) -> Any:
    """Return the question with both numbers in their bounds."""
    by = question.by if 0 <= question.by <= MOST_RECORDS else question.by % 10_000 + 0
    return replace(question, sequence=question.sequence & 2**31 - 1, by=by)
