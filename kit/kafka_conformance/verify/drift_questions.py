"""The questions that a new release and its predecessor are asked: the rule's spaces, generated ones, its frozen cases."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from kafka_conformance.cases.store import frozen
from kafka_conformance.core.protocol import Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import HYPOTHESIS, Source, source_of, sources
from kafka_reference.releases import Release

__all__ = ["LARGEST_SPACE", "drift_questions"]

LARGEST_SPACE = 4_000
"""Questions of a space that are asked; a larger space is thinned to about as many."""
_OF_EACH_KIND = 20


def drift_questions(rule: Rule, predecessor: Release, examples: int, seed: int) -> list[Source]:
    """Return the questions of a rule, each once.

    A large space is thinned to a random choice from ``seed``, with the first questions of each kind; ``examples`` questions
    are generated from ``seed``. The frozen cases are those of ``predecessor``. Raises BadInput if their file is damaged.
    """
    asked: set[Question] = set()
    made = []
    for source in (*sources(rule, rule.examples_of(examples, most=1), seed), _frozen(rule, predecessor)):
        new = tuple(question for question in dict.fromkeys(source.questions) if question not in asked)
        asked.update(new)
        if source.name != HYPOTHESIS and len(new) > LARGEST_SPACE:
            new = tuple(_thinned(rule, new, seed))
        made.append(source_of(rule, source.name, new))
    return made


def _frozen(rule: Rule, release: Release) -> Source:
    cases = frozen(rule)
    found = () if cases is None else tuple(case.typed_question(rule) for case in cases.at(str(release)))
    return Source("frozen cases", found)


def _thinned(rule: Rule, questions: tuple[Question, ...], seed: int) -> Iterator[Question]:
    """Yield a random choice, in order. Not every k-th question: a product of settings would lack whole values of one."""
    chosen = set(random.Random(seed).sample(range(len(questions)), LARGEST_SPACE))  # noqa: S311  reproducible on purpose
    seen: Counter[str] = Counter()
    for place, question in enumerate(questions):
        kinds = set(rule.labels(question))
        if place in chosen or any(seen[kind] < _OF_EACH_KIND for kind in kinds):
            seen.update(kinds)
            yield question
