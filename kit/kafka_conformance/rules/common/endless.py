"""Questions without an end: a setting that is legal makes Kafka's producer, and so the reference, loop for ever.

:mod:`kafka_reference.accumulator.endless` ends the reference after a number of steps. Java has no such limit, so whoever
asks Java asks the reference first about the few questions that may have no end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_reference.errors import JavaException, NeverReturns, QuestionError
from kafka_reference.releases import Release

__all__ = ["endless_by"]

# From here on, twice the batch size is a negative int32.
_OVERFLOWS = 2**30


def endless_by(ask: Callable[[Any, Release], Answer]) -> Callable[[Any, Release], str]:
    """Return the function that says why a question with ``config.batch_size`` has no end, or "".

    ``ask`` is the rule's reference; it is asked only about a batch size with which an append may not return.
    """

    def endless(question: Any, release: Release) -> str:
        if question.config.batch_size < _OVERFLOWS:
            return ""
        try:
            ask(question, release)
        except NeverReturns as error:
            return str(error)
        except (JavaException, QuestionError):
            return ""
        return ""

    return endless
