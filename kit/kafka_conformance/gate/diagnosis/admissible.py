"""Explain wrong answers of an implementation that makes its own draws: find the known mistake that admits its answers.

A mistake *admits* an answer if there are draws with which it gives that answer (``admissible``). It explains an
implementation if it

- admits every wrong answer, of at least ``WRONG`` questions, and every right one: a single answer refutes it;
- is unlikely to admit as much of a client that places every record at random: the probability is below 1/100. Each
  answer counts with the share of the partitions that the mistake allows there, after the answers before it. So a mistake
  that allows everything explains nothing.

If two mistakes explain it, the one that allows less is reported. The questions are those of ``builtin-partitioner``; only
the ``MOST`` cheapest of the wrong and of the right ones are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from kafka_conformance.core.events import Diagnosis
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.admissible import admission, admits, cost
from kafka_conformance.gate.diagnosis.candidate import mutant_candidate
from kafka_conformance.gate.diagnosis.diagnosis import Explanation
from kafka_conformance.rules.builtin_partitioner.question import BuiltInPartitionerQuestion
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.releases import Release

__all__ = ["MOST", "WRONG", "admitted_by", "diagnose_admissible"]

MOST, WRONG = 400, 3
_UNLIKELY = 0.01


def diagnose_admissible(
    rule: Rule, release: Release, wrong: Sequence[Difference], right: Iterable[tuple[Question, Answer]],
    kinds: frozenset[str] = frozenset(),
) -> tuple[Explanation, ...]:  # fmt: skip
    """Return the mistake that explains all answers, or nothing.

    ``right`` are the implementation's own answers, ``kinds`` the names of all kinds of the wrong ones.
    """
    if rule.question is not BuiltInPartitionerQuestion or len({one.question for one in wrong}) < WRONG:
        return ()
    false = _cheapest((one.question, one.actual) for one in wrong)
    true = _cheapest(right)
    chances = {
        mutant.slug: (_chance(rule, mutant, release, (*false, *true)), mutant)
        for mutant in MUTANTS
        if mutant.rule == rule.slug
    }
    found = [(chance, mutant) for chance, mutant in chances.values() if 0 < chance < _UNLIKELY]
    if not found:
        return ()
    _, best = min(found, key=lambda each: each[0])
    total = sum(one.times for one in wrong)
    counts = len(false), len(false), len(true), len(true)
    diagnosis = Diagnosis(best.slug, best.description, *counts, best.references, total if total != len(false) else 0)
    return (Explanation(mutant_candidate(best, release), diagnosis, kinds),)


def admitted_by(slug: str, rule: Rule, release: Release, question: Question, answer: Answer) -> bool:
    """Return whether the mistake of this name admits an answer; False if the rule has no such mistake."""
    mutant = next((one for one in MUTANTS if (one.rule, one.slug) == (rule.slug, slug)), None)
    if mutant is None or rule.question is not BuiltInPartitionerQuestion:
        return False
    return admits(replace(rule, ask=mutant.ask), question, release, answer) is None


def _cheapest(answers: Iterable[tuple[Question, Answer]]) -> list[tuple[Question, Answer]]:
    return sorted(answers, key=lambda each: cost(each[0]))[:MOST]


def _chance(rule: Rule, mutant: Mutant, release: Release, answers: Sequence[tuple[Question, Answer]]) -> float:
    """Return the probability that a mistake admits as much of records placed at random; 0 if it refuses an answer."""
    mistaken = replace(rule, ask=mutant.ask)

    def chances() -> Iterator[float]:
        for question, answer in answers:
            one = admission(mistaken, question, release, answer)
            yield 0 if one.refused else one.chance
            if one.refused:
                return

    return prod(chances())
