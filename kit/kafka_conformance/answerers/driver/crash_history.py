"""Which values of a question ended a driver, so that the questions most like those are asked last.

A driver mostly breaks at one value of one field: an empty key, a null, an operation it does not have. All questions with
this value would use up the restarts, and the others would never be asked. So the values of the questions that ended the
driver are compared with the values of those that it answered.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from kafka_conformance.core.protocol import Question

__all__ = ["CrashHistory"]

_MOST_VALUES = 300
_MOST_ANSWERED = 10_000
_LONGEST = 200


class CrashHistory:
    """The values of the questions that ended a driver, and of those that it answered."""

    def __init__(self) -> None:
        self._crashed: Counter[tuple[str, str]] = Counter()
        self._answered: Counter[tuple[str, str]] = Counter()
        self._unread: deque[Question] = deque(maxlen=_MOST_ANSWERED)

    def __bool__(self) -> bool:
        return bool(self._crashed)

    def add_answered(self, questions: Iterable[Question]) -> None:
        """Add questions that the driver answered."""
        self._unread += questions

    def add_crashed(self, question: Question) -> None:
        """Add a question that ended the driver."""
        self._crashed.update(_values(question))

    def risk(self, question: Question) -> float:
        """Return how much a question is like those that ended the driver; 0 is not at all.

        It is the sum over its values of minus the logarithm of the share of answered questions with this value, so a
        value that the driver never answered weighs most.
        """
        for answered in self._unread:
            self._answered.update(_values(answered))
        self._unread.clear()
        total = 0.0
        for value in _values(question):
            if crashed := self._crashed[value]:
                answered_with = self._answered[value]
                total -= math.log((answered_with + 0.1) / (answered_with + crashed + 0.1))
        return total


def _values(question: Question) -> set[tuple[str, str]]:
    return set(islice(_walk("", msgspec.to_builtins(question)), _MOST_VALUES))


def _walk(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield each scalar in a question and its magnitude, with its path; elements of a list have the same one."""
    match value:
        case dict():
            for name, each in value.items():
                yield from _walk(f"{path}.{name}", each)
        case list() | tuple():
            yield path, f"{len(value)} elements"
            for each in value:
                yield from _walk(f"{path}[]", each)
        case _:
            yield path, repr(value)[:_LONGEST]
            if isinstance(value, str):
                yield path, f"length of {len(value).bit_length()} bits"
            elif isinstance(value, int):
                yield path, f"{'negative' if value < 0 else 'number'} of {value.bit_length()} bits"
