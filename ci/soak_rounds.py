"""Rounds of ``verify`` in one process and one JVM: each opens every release, asks fresh questions, and closes the releases.

A round asks generated questions of a new seed. The finite spaces of a rule, the same each time, are left out: they would
take minutes of a round.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import HYPOTHESIS, Source, collect, source_of
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.verify.verification import RuleResult, VerificationPlan, Verifier
from kafka_reference.releases import Release

__all__ = ["Settings", "play_round", "round_seeds"]

# Columns of all keys of up to one byte: files that the JVM maps.
_LONGEST_KEY = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """What each round asks: rules, releases, generated questions per rule; and the seed of all rounds' seeds."""

    rules: Sequence[Rule]
    releases: Sequence[Release]
    examples: int
    seed: int


def round_seeds(seed: int) -> Iterator[int]:
    """Yield the seed of each round, without end."""
    chance = random.Random(seed)  # noqa: S311  reproducible on purpose
    while True:
        yield chance.randrange(2**32)


def play_round(oracle: Oracle, settings: Settings, seed: int, doing: Callable[[str], None]) -> int:
    """Verify each rule in each release; return how many questions matched. Raises KitError where one does not."""
    matched = 0
    for release in settings.releases:
        plan = VerificationPlan(settings.rules, [release], settings.examples, seed, _LONGEST_KEY)
        verifier = Verifier(oracle, ReferenceAnswerer(), plan, lambda rule: _fresh_questions(rule, plan))  # noqa: B023
        try:
            for rule, _ in plan.tasks():
                doing(f"{rule.slug} in {release}")
                matched += _matching(verifier.verify(rule, release), plan)
        finally:
            verifier.close()
    return matched


def _fresh_questions(rule: Rule, plan: VerificationPlan) -> list[Source]:
    return [source_of(rule, HYPOTHESIS, tuple(collect(rule, plan.examples_of(rule), plan.seed)))]


def _matching(result: RuleResult, plan: VerificationPlan) -> int:
    """Return the matching answers. Raises KitError for any other: a soak measures, ``verify`` judges."""
    tally = result.tally
    if tally.differences or tally.errors:
        raise KitError(
            f"{tally.rule.slug} in {result.release} does not match with seed {plan.seed}: kafka-conformance verify"
            f" --rules {tally.rule.slug} --kafka {result.release} --seed {plan.seed} --examples {plan.examples}"
        )
    return tally.agreed


def wall_seconds() -> Callable[[], float]:
    """Return a function that returns the seconds since now."""
    begun = time.monotonic()
    return lambda: time.monotonic() - begun
