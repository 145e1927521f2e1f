"""Which questions of ``sequence-increment`` a user can bring about.

A sequence is 0 to 2^31-1. It is advanced by the records of a batch, at least one.
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
    if question.by < 1:
        return "a batch has at least one record"
    return "" if question.by <= MOST_RECORDS else "a batch has less than 2^31 bytes, and a record at least 7"


def nearest(question: Any) -> Any:
    """Return the question with both numbers in their bounds."""
    by = question.by if 1 <= question.by <= MOST_RECORDS else question.by % 10_000 + 1
    return replace(question, sequence=question.sequence & 2**31 - 1, by=by)
