"""The error for scripts whose outcome no rule decides."""

from __future__ import annotations

from kafka_reference.errors import QuestionError

__all__ = ["UndeterminedHistory"]


class UndeterminedHistory(QuestionError):
    """The script leaves the outcome to chance: which session ends first, or what a broker fetched before it stopped."""
