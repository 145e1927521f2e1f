"""Sources of questions: finite spaces, Hypothesis strategies, and columns of every key up to some length.

Generating and shrinking are the same Hypothesis search from the same seed. To generate, no example satisfies the search,
so it yields all of them; to shrink, it looks for a difference, reaches the same examples up to the first one that
differs, and continues from there to the smallest. So questions are generated once, asked in batches, and still shrink.
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
    """Questions, their name in reports, and how many of them are of each kind."""

    name: str
    questions: tuple[Question, ...]
    labels: Counter[str] = field(default_factory=Counter)


def sources(rule: Rule, examples: int, seed: int) -> list[Source]:
    """Return the rule's spaces, then ``examples`` questions of its strategy, generated from ``seed``."""
    spaces = [source_of(rule, space.name, tuple(space.questions())) for space in rule.spaces]
    return [*spaces, source_of(rule, HYPOTHESIS, tuple(collect(rule, examples, seed)))]


def source_of(rule: Rule, name: str, questions: tuple[Question, ...]) -> Source:
    """Return a source of these questions, with the counts of their kinds."""
    return Source(name, questions, Counter(label for question in questions for label in rule.labels(question)))


def collect(rule: Rule, examples: int, seed: int) -> list[Question]:
    """Return the questions that the rule's strategy generates from this seed."""
    found: list[Question] = []

    def keep(question: Question) -> bool:
        found.append(question)
        return False

    if examples:
        _search(rule, keep, examples, seed)
    return found[:examples]


def shrink(rule: Rule, wrong: Callable[[Question], bool], examples: int, seed: int) -> Question | None:
    """Return the smallest question that is ``wrong``, by the same search; None if it finds none."""
    return _search(rule, wrong, examples, seed) if examples else None


def _search(rule: Rule, condition: Callable[[Question], bool], examples: int, seed: int) -> Question | None:
    bounds = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    chance = random.Random(seed)  # noqa: S311  reproducible on purpose
    try:
        found: Question = find(rule.strategy(), condition, settings=bounds, random=chance)
    except NoSuchExample:
        return None
    return found


def key_columns(longest: int, chunk: int = 1 << 21) -> Iterator[tuple[Any, Any]]:
    """Yield every key of up to ``longest`` bytes, once, in columns of ``chunk`` keys: offsets (int32) and data (uint8)."""
    import numpy as np

    yield np.zeros(2, np.int32), np.zeros(0, np.uint8)
    for length in range(1, longest + 1):
        for first in range(0, 256**length, chunk):
            numbers = np.arange(first, min(first + chunk, 256**length), dtype=">u8")
            data = numbers.view(np.uint8).reshape(-1, 8)[:, 8 - length :]
            yield np.arange(len(numbers) + 1, dtype=np.int32) * np.int32(length), np.ascontiguousarray(data).reshape(-1)
