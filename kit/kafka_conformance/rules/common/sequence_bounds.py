"""The bounds of a step of sequence numbers: a sequence is 0 to 2^31-1, and a step is at most the records of a batch.

A batch has less than 2^31 bytes, of which 61 are its header, and a record has at least 7.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

__all__ = ["nearest_step", "step_domain"]

_MOST_RECORDS = (2**31 - 1 - 61) // 7


def step_domain(question: Any, least: int, too_small: str) -> str:
    """Return why no user can bring the question about, or ""; ``too_small`` is the reason for a step below ``least``."""
    if question.sequence < 0:
        return "a sequence is 0 to 2^31-1"
    if question.by < least:
        return too_small
    return "" if question.by <= _MOST_RECORDS else "a batch has less than 2^31 bytes, and a record at least 7"


def nearest_step(question: Any, least: int) -> Any:
    """Return the question with both numbers in their bounds."""
    by = question.by if least <= question.by <= _MOST_RECORDS else question.by % 10_000 + least
    return replace(question, sequence=question.sequence & 2**31 - 1, by=by)
