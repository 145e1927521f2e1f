"""The kinds of question that ``offset-index`` is asked."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.core.newest_run import newest_answer
from kafka_conformance.rules.common.index_labels import SHARED_LABELS, index_labels
from kafka_conformance.rules.offset_index.adapter import ask
from kafka_conformance.rules.offset_index.question import OffsetIndexQuestion

__all__ = ["REQUIRED_LABELS", "labels"]

REQUIRED_LABELS = SHARED_LABELS | {"step append", "step upper_bound"}


def labels(question: OffsetIndexQuestion) -> Iterator[str]:
    """Yield the kinds of steps in the history, and the kinds of their answers in the newest release."""
    yield from index_labels(question, newest_answer(ask, question))
