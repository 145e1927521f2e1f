"""The kinds of question that ``time-index`` is asked."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.rules.common.index_labels import SHARED_LABELS, index_labels
from kafka_conformance.rules.time_index.adapter import ask
from kafka_conformance.rules.time_index.question import TimeIndexQuestion

__all__ = ["REQUIRED_LABELS", "labels"]

REQUIRED_LABELS = SHARED_LABELS | {"step maybe_append", "raises BufferOverflowException"}


def labels(question: TimeIndexQuestion) -> Iterator[str]:
    """Yield the kinds of steps in the history, and the kinds of their answers in the newest release."""
    yield from index_labels(question, newest_answer(ask, question))
