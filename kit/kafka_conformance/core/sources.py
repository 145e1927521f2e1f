"""Where questions come from: whole spaces, Hypothesis strategies, and columns of every key up to some length.

Generating and shrinking are the same search, started from the same seed. To collect, nothing is ever found, so the
search yields all its examples; to shrink, what is looked for is a disagreement, so the search meets the same examples
up to the first one that disagrees, and goes on from there to the smallest. So a run can generate once, ask in batches,
and still shrink as Hypothesis does.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample

from kafka_conformance.core.protocol import Question
from kafka_conformance.core.rule import Rule

__all__ = ["HYPOTHESIS", "Source", "collect", "key_columns", "shrink", "source_of", "sources"]

HYPOTHESIS = "hypothesis"
"""The source of a rule's strategy."""


@dataclass(frozen=True, slots=True)
class Source:
    """Questions, the name they go by in reports, and how many there are of each kind: counted once, asked often."""

    name: str
    questions: tuple[Question, ...]
    labels: Counter[str] = field(default_factory=Counter)


def sources(rule: Rule, examples: int, seed: int) -> list[Source]:
    """The rule's spaces, whole, then ``examples`` questions of its strategy from ``seed``."""
    spaces = [source_of(rule, space.name, tuple(space.questions())) for space in rule.spaces]
    return [*spaces, source_of(rule, HYPOTHESIS, tuple(collect(rule, examples, seed)))]


def source_of(rule: Rule, name: str, questions: tuple[Question, ...]) -> Source:
    """These questions, their kinds counted."""
    return Source(name, questions, Counter(label for question in questions for label in rule.labels(question)))


def collect(rule: Rule, examples: int, seed: int) -> list[Question]:
    """What the rule's strategy gives for this seed."""
    found: list[Question] = []

    def keep(question: Question) -> bool:
        found.append(question)
        return False

    if examples:
        _search(rule, keep, examples, seed)
    return found[:examples]


def shrink(rule: Rule, wrong: Callable[[Question], bool], examples: int, seed: int) -> Question | None:
    """The smallest question that is ``wrong``, found by the same search; None if the search meets none."""
    return _search(rule, wrong, examples, seed) if examples else None


def _search(rule: Rule, condition: Callable[[Question], bool], examples: int, seed: int) -> Question | None:
    bounds = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    chance = random.Random(seed)  # noqa: S311  meant to be foreseeable
    try:
        found: Question = find(rule.strategy(), condition, settings=bounds, random=chance)
    except NoSuchExample:
        return None
    return found


def key_columns(longest: int, chunk: int = 1 << 21) -> Iterator[tuple[Any, Any]]:
    """Every key of up to ``longest`` bytes, once, in columns of ``chunk`` keys, NumPy offsets (int32) and data (uint8)."""
    import numpy as np

    yield np.zeros(2, np.int32), np.zeros(0, np.uint8)
    for length in range(1, longest + 1):
        for first in range(0, 256**length, chunk):
            numbers = np.arange(first, min(first + chunk, 256**length), dtype=">u8")
            data = numbers.view(np.uint8).reshape(-1, 8)[:, 8 - length :]
            yield np.arange(len(numbers) + 1, dtype=np.int32) * np.int32(length), np.ascontiguousarray(data).reshape(-1)
