"""What the checks of the kit share: Java's classes of one release, a few rules, and a handful of questions of each.

The questions are frozen cases: the smallest of every required kind, and of each mutant some that it answers incorrectly. So
a check takes seconds, and Java's answers to them are known without Java.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answered, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, source_of
from kafka_conformance.oracle.jvm import Jvm
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import mutant_named
from kafka_jars.pins import load
from kafka_jars.scratch import ScratchFolder
from kafka_jars.store import default_store
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS", "NEIGHBOUR", "RELEASE", "SLUGS", "Bench", "cases_of", "open_bench", "source"]

RELEASE: Final[Release] = parse_release("3.9.2")
"""The release that is asked. RoundRobinPartitioner answers otherwise in :data:`NEIGHBOUR` (KAFKA-17632)."""
NEIGHBOUR: Final[Release] = parse_release("3.9.1")
"""The release before."""
SLUGS: Final = ("murmur2", "round-robin-partitioner", "builtin-partitioner", "idempotence-config")
"""A rule with one field, a script, a script with draws, and a rule with several fields."""
_MUTANTS = (
    "one-bit",
    "round-remembers-on",
    "round-counts-afterwards",
    "adaptive-ignored",
    "retries-0-by-default",
)
MUTANTS: Final[Sequence[Mutant]] = tuple(replace(mutant_named(slug), release=RELEASE) for slug in _MUTANTS)
"""Mutants of these rules, asked in :data:`RELEASE`.

All but the first show in no first step and in no first field: a comparison of these alone finds none of them.
"""
# Questions for each mutant that it answers incorrectly.
_WANTED = 3


@dataclass(frozen=True, slots=True)
class Bench:
    """Java's classes, and a folder for what a check writes."""

    oracle: Oracle
    folder: Path
    java: JavaAnswerer = field(init=False)
    """Asks :attr:`oracle`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "java", JavaAnswerer(self.oracle))


@contextmanager
def open_bench() -> Iterator[Bench]:
    """Open Java's classes for :data:`SLUGS`, in a JVM that ends with the block. Raises NoJava, JvmLost."""
    classes = {slug: RULES[slug].java_class(RELEASE) for slug in SLUGS}
    with ScratchFolder() as folder, Jvm() as jvm:
        known = {slug: name for slug, name in classes.items() if name is not None}
        yield Bench(Oracle(jvm, default_store(), load(), lambda _: known), Path(folder))


@cache
def cases_of(slug: str) -> dict[Question, Case]:
    """Return the handful of questions of a rule, each with its frozen case. Raises KitError if it lacks a kind."""
    rule, found = RULES[slug], frozen(RULES[slug])
    every = {case.typed_question(rule): case for case in (found.at(str(RELEASE)) if found else ())}
    chosen: dict[Question, Case] = {}
    missing = set(rule.required_labels)
    for question, case in every.items():
        if missing & (kinds := set(rule.labels(question))):
            chosen[question] = case
            missing -= kinds
    if missing:
        raise KitError(f"no frozen case of {slug} in {RELEASE} is of the kind: {', '.join(sorted(missing))}")
    for mutant in MUTANTS:
        if mutant.rule == slug:
            chosen |= dict(_killed_by(mutant, every)[:_WANTED])
    return chosen


def _killed_by(mutant: Mutant, every: dict[Question, Case]) -> list[tuple[Question, Case]]:
    """Return the cases that a mutant answers incorrectly; raises KitError if there is none."""
    outcomes = ((question, case, outcome_of(mutant.ask, question, RELEASE)) for question, case in every.items())
    found = [
        (question, case) for question, case, one in outcomes if isinstance(one, Answered) and one.answer != case.answer
    ]
    if not found:
        raise KitError(f"no frozen case finds the mutant {mutant.slug} in {RELEASE}: choose another one for this check")
    return found


def source(rule: Rule) -> Source:
    """Return the handful of questions of a rule as a source, with the counts of their kinds."""
    return source_of(rule, "frozen", tuple(cases_of(rule.slug)))
