"""From wrong answers to findings: sorted into kinds, made small through the target, saved, explained, known or not.

A finding is saved before anything else is done about it, and once more when it became smaller. Looking for a smaller
question asks the target one question at a time, and stops after :data:`_SHRINK_S` seconds of a rule: what was found by
then is told.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.failures import save_failure
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.events import Diagnosis, Differed, Grade, Known, Source
from kafka_conformance.core.pipeline import Difference, Pair, kind_of, shrunk, size_of
from kafka_conformance.core.protocol import Answer, Failed, Outcome, Question, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.candidates import READ_OFF, Candidate, candidates
from kafka_conformance.gate.diagnosis import diagnose
from kafka_conformance.gate.known_failures import KnownFailures, Miss
from kafka_reference.releases import Release

__all__ = ["Finder", "Finding"]

_SHRINK_S = 15.0


@dataclass(frozen=True, slots=True)
class Finding:
    """A kind of difference: the event, and the mutant that explains all of the kind, or an empty text."""

    event: Differed
    explained: str


class _Until:
    """The target, until some time; after that it is not asked."""

    def __init__(self, target: Answerer, deadline: float) -> None:
        self._target, self._deadline, self.name = target, deadline, target.name

    def answer(self, rule: Rule, at: Release, questions: Sequence[Question]) -> list[Outcome]:
        """The target's outcomes, or Failed once time is over."""
        if time.monotonic() > self._deadline:
            return [Failed("no time left to look for a smaller question")] * len(questions)
        return self._target.answer(rule, at, questions)


class Finder:
    """Findings of one rule in one release. ``diagnoses`` is what explains all its wrong answers, once they are found."""

    def __init__(self, target: Answerer, by: str, rule: Rule, at: Release, grade: Grade, examples: int, seed: int,
                 folder: Path) -> None:  # fmt: skip
        self._rule, self._at, self._grade, self._folder = rule, at, grade, folder
        self._examples, self._seed, self._by = examples, seed, by
        self._pair = Pair(ReferenceAnswerer("kafka"), _Until(target, time.monotonic() + _SHRINK_S), at, at)
        self.diagnoses: tuple[Diagnosis, ...] = ()

    def findings(self, wrong: Sequence[tuple[Source, Difference]], right: Sequence[tuple[Question, Answer]],
                 known: KnownFailures) -> Iterator[Finding]:  # fmt: skip
        """A finding for each kind of difference: what is known apart from what is not."""
        groups: dict[tuple[str, Known | None], list[tuple[Source, Difference]]] = {}
        for source, difference in wrong:
            miss = self._miss(difference)
            groups.setdefault((miss.kind, known.covers(miss)), []).append((source, difference))
        if self._grade == "exact" and wrong:
            self.diagnoses = diagnose(self._rule, self._at, [one for _, one in wrong], right)
        for (kind, covered), group in groups.items():
            yield self._finding(kind, covered, group, right)

    def _miss(self, difference: Difference) -> Miss:
        name = question_id(self._rule.slug, str(self._at), difference.question)
        kind = kind_of(self._rule, difference)
        return Miss(
            self._rule.slug, str(self._at), name, kind, difference.actual, lambda slug: self._equals(slug, difference)
        )

    @cached_property
    def _named(self) -> dict[str, Candidate]:
        """The candidates that are there whatever the target says."""
        found: dict[str, Candidate] = {}
        for candidate in candidates(self._rule, self._at, ()):
            found.setdefault(candidate.slug, candidate)
        return found

    def _equals(self, slug: str, difference: Difference) -> bool:
        """Whether the candidate of this name gives this wrong answer."""
        candidate = self._named.get(slug)
        said = None if candidate is None else candidate.says(difference.question, difference.expected)
        return said is not None and to_json(said) == to_json(difference.actual)

    def _finding(self, kind: str, known: Known | None, group: Sequence[tuple[Source, Difference]],
                 right: Sequence[tuple[Question, Answer]]) -> Finding:  # fmt: skip
        differences = [difference for _, difference in group]
        smallest = min(differences, key=size_of)
        file = self._save(smallest, len(group))
        if known is None and self._grade == "exact":
            smaller = shrunk(self._rule, self._pair, differences, self._examples, self._seed)
            if size_of(smaller) < size_of(smallest):
                file.unlink(missing_ok=True)
                smallest, file = smaller, self._save(smaller, len(group))
        explained = diagnose(self._rule, self._at, differences, right) if self._grade == "exact" else ()
        sources = [source for source, difference in group if difference.question == smallest.question]
        event = Differed(
            self._rule.slug, str(self._at), file.stem, sources[0] if sources else "fresh", kind, len(group),
            msgspec.to_builtins(smallest.question), smallest.expected, smallest.actual, self._rule.source,
            self._rule.links[0] if self._rule.links else "", str(file), explained[0] if explained else None, known,
        )  # fmt: skip
        whole = [one.mutant for one in explained if one.equal == one.wrong]
        return Finding(event, next((mutant for mutant in whole if mutant not in READ_OFF), ""))

    def _save(self, difference: Difference, many: int) -> Path:
        said = ("reference", self._at), (self._by, self._at)
        found = {"seed": self._seed, "examples": self._examples, "of_this_kind": many, "grade": self._grade}
        return save_failure(self._rule, difference, said, found, self._folder)
