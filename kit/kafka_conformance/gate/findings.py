"""Findings: wrong answers by kind, each with its smallest question, saved, and with what explains it.

A finding is saved before anything else is done with it, and again when it became smaller. The search for a smaller
question asks the target one question at a time, and stops after :data:`_SHRINK_S` seconds for each rule.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import msgspec

from kafka_conformance.cases.failures import FailureFolder, save_failure
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.events import Diagnosis, Differed, Grade, Known, Source
from kafka_conformance.core.pipeline import Difference, kind_of, shrink_difference, size_of
from kafka_conformance.core.protocol import Answer, Failed, Outcome, Question, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.candidates import READ_OFF, Candidate, candidates
from kafka_conformance.gate.diagnosis import diagnose
from kafka_conformance.gate.grading import DomainComparison
from kafka_conformance.gate.known_failures import KnownFailures, Miss
from kafka_conformance.gate.questions import EXPECTED
from kafka_reference.releases import Release

__all__ = ["Finder", "Finding"]

_SHRINK_S = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of difference: the event, and the mutant that explains all of the kind, or an empty text."""

    event: Differed
    explained: str


class _Until:
    """The target until a deadline; after it, every outcome is Failed."""

    def __init__(self, target: Answerer, deadline: float) -> None:
        self._target, self._deadline, self.name = target, deadline, target.name

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> Sequence[Outcome]:
        """Return the target's outcomes while there is time."""
        if time.monotonic() > self._deadline:
            return [Failed("no time left to search for a smaller question")] * len(questions)
        return self._target.answer(rule, release, questions)


class Finder:
    """Findings of one rule in one release. ``diagnoses`` explain all its wrong answers, once the findings are made."""

    def __init__(self, target: Answerer, by: str, rule: Rule, release: Release, grade: Grade, examples: int, seed: int,
                 folder: FailureFolder, *, out_of_domain: bool = False) -> None:  # fmt: skip
        self._rule, self._release, self._grade, self._folder = rule, release, grade, folder
        self._examples, self._seed, self._by = examples, seed, by
        until = _Until(target, time.monotonic() + _SHRINK_S)
        self._comparison = DomainComparison(EXPECTED, until, release, out_of_domain=out_of_domain)
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def findings(self, wrong: Sequence[Difference], right: Sequence[tuple[Question, Answer]],
                 known: KnownFailures) -> Iterator[Finding]:  # fmt: skip
        """Yield a finding for each kind of difference; those that a known failure covers are findings of their own."""
        groups: dict[tuple[str, Known | None], list[Difference]] = {}
        for difference in wrong:
            miss = self._miss(difference)
            groups.setdefault((miss.kind, known.covers(miss)), []).append(difference)
        if self._grade == "exact" and wrong:
            self.diagnoses = diagnose(self._rule, self._release, wrong, right)
        for (kind, covered), differences in groups.items():
            yield self._finding(kind, covered, differences, right)

    def _miss(self, difference: Difference) -> Miss:
        name = question_id(self._rule.slug, str(self._release), difference.question)
        kind = kind_of(self._rule, difference)
        return Miss(
            self._rule.slug, str(self._release), name, kind, difference.actual,
            lambda slug: self._equals(slug, difference),
        )  # fmt: skip

    @cached_property
    def _named(self) -> dict[str, Candidate]:
        """The candidates that do not depend on the target's answers."""
        found: dict[str, Candidate] = {}
        for candidate in candidates(self._rule, self._release, ()):
            found.setdefault(candidate.slug, candidate)
        return found

    def _equals(self, slug: str, difference: Difference) -> bool:
        """Whether the candidate of this name gives this wrong answer."""
        candidate = self._named.get(slug)
        answer = None if candidate is None else candidate.answer(difference.question, difference.expected)
        return answer is not None and to_json(answer) == to_json(difference.actual)

    def _finding(self, kind: str, known: Known | None, differences: Sequence[Difference],
                 right: Sequence[tuple[Question, Answer]]) -> Finding:  # fmt: skip
        smallest = min(differences, key=size_of)
        file = self._save(smallest, len(differences))
        if known is None and self._grade == "exact":
            smaller = shrink_difference(self._rule, self._comparison, differences, self._examples, self._seed)
            if size_of(smaller) < size_of(smallest):
                if file:
                    Path(file).unlink(missing_ok=True)
                smallest, file = smaller, self._save(smaller, len(differences))
        explained = diagnose(self._rule, self._release, differences, right) if self._grade == "exact" else ()
        sources = [difference.source for difference in differences if difference.question == smallest.question]
        name = question_id(self._rule.slug, str(self._release), smallest.question)
        event = Differed(
            self._rule.slug, str(self._release), name, cast(Source, sources[0] if sources else "fresh"), kind,
            len(differences), msgspec.to_builtins(smallest.question), smallest.expected, smallest.actual,
            self._rule.source, self._rule.links[0] if self._rule.links else "", file,
            explained[0] if explained else None, known, self._rule.domain(smallest.question),
        )  # fmt: skip
        whole = [one.mutant for one in explained if one.equal == one.wrong]
        return Finding(event, next((mutant for mutant in whole if mutant not in READ_OFF), ""))

    def _save(self, difference: Difference, count: int) -> str:
        sides = ("reference", self._release), (self._by, self._release)
        found = {"seed": self._seed, "examples": self._examples, "of_this_kind": count, "grade": self._grade}
        return self._folder.write(lambda folder: save_failure(self._rule, difference, sides, found, folder))
