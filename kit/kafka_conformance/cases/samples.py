"""Sample questions of a rule: few, short, and of different kinds; from the frozen cases, then generated."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec

from kafka_conformance.cases.store import frozen
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.protocol import Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import collect
from kafka_conformance.core.suggestion import did_you_mean
from kafka_reference.releases import Release

__all__ = ["Sample", "kinds_of", "samples"]

_LOOKED_AT = 300


@dataclass(frozen=True, slots=True)
class Sample:
    """A question, the kinds of question that it belongs to, and why it is out of domain, if it is."""

    question: Question
    kinds: tuple[str, ...]
    out_of_domain: str


def samples(
    rule: Rule, release: Release, count: int, *, kind: str = "", seed: int = 0, generated: int = 200
) -> list[Sample]:
    """Return up to ``count`` questions of many different kinds, those in domain and short ones first.

    With ``kind`` all are of this kind. Questions come from the frozen cases of ``release``, then ``generated`` ones from a
    search with ``seed``. Raises BadInput for a kind without a question.
    """
    pool = (_sample(rule, question) for question in _questions(rule, release, seed, generated))
    seen = _of_kind(rule, kind, pool, count) if kind else list(islice(pool, _LOOKED_AT))
    inside = _of_different_kinds([sample for sample in seen if not sample.out_of_domain], count)
    outside = [sample for sample in seen if sample.out_of_domain]
    return inside + _of_different_kinds(outside, count - len(inside))


def kinds_of(rule: Rule, question: Question) -> frozenset[str]:
    """Return the kinds of question that a question belongs to.

    They are computed once in a process: labels run the reference, and a page, its examples and a sample label the same
    frozen cases.
    """
    return _kinds(rule.labels, rule.question, to_json(question))


@lru_cache(maxsize=65_536)  # 15,589 different questions are frozen.
def _kinds(labels: Callable[[Any], Iterable[str]], question: type[Question], line: bytes) -> frozenset[str]:
    return frozenset(labels(msgspec.json.decode(line, type=question)))


def _of_kind(rule: Rule, kind: str, pool: Iterable[Sample], count: int) -> list[Sample]:
    """Return several times ``count`` samples of a kind, those in domain counted. Raises BadInput if there is none."""
    found: list[Sample] = []
    kinds = set(rule.required_labels)
    for sample in pool:
        kinds.update(sample.kinds)
        if kind in sample.kinds:
            found.append(sample)
        if sum(not one.out_of_domain for one in found) == 5 * count:
            break
    if not found:
        raise BadInput(f"{rule.slug} has no kind of question {kind!r}: {did_you_mean(kind, sorted(kinds))}")
    return found


def _sample(rule: Rule, question: Question) -> Sample:
    return Sample(question, tuple(sorted(kinds_of(rule, question))), rule.domain(question))


def _questions(rule: Rule, release: Release, seed: int, count: int) -> Iterator[Question]:
    """Yield the questions of the frozen cases in an order by ``seed``, then generated ones."""
    cases = frozen(rule)
    usable = [] if cases is None else cases.at(str(release)) or cases.cases
    questions = {to_json(question): question for question in (case.typed_question(rule) for case in usable)}
    order = list(questions)
    random.Random(seed).shuffle(order)  # noqa: S311  reproducible on purpose
    yield from (questions[line] for line in order)
    generated = {to_json(question): question for question in collect(rule, count, seed)}
    yield from (generated[line] for line in generated if line not in questions)


def _of_different_kinds(pool: list[Sample], count: int) -> list[Sample]:
    """Choose one after another, each with as many new kinds for its length as possible."""
    rest = sorted(pool, key=_size)
    shown: set[str] = set()
    chosen: list[Sample] = []
    while rest and len(chosen) < count:
        best = max(rest, key=lambda sample: len(set(sample.kinds) - shown) / _size(sample))
        rest.remove(best)
        shown.update(best.kinds)
        chosen.append(best)
    return sorted(chosen, key=_size)


def _size(sample: Sample) -> int:
    return len(to_json(sample.question))
