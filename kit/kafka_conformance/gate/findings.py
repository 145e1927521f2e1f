"""Findings: wrong answers by kind, each with its smallest question, saved, and with what explains it.

A finding is saved before anything else is done with it, and again when it became smaller. Its example is of its kind, is
covered by the same known failure or by none, is explained by its diagnosis, and has its own file. The search for a smaller
question asks the target one question at a time, and stops after :data:`_SHRINK_S` seconds for each rule.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, cast

import msgspec

from kafka_conformance.cases.failures import FailureFolder, save_failure
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.events import Diagnosis, Differed, Grade, Known, Source
from kafka_conformance.core.pipeline import Difference, SearchStopped, kind_of, shrink_difference, size_of
from kafka_conformance.core.protocol import Answer, Outcome, Question, question_id
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.answer_parts import compared_part, field_kind, read
from kafka_conformance.gate.determinism import (
    NOT_DETERMINISTIC,
    about_the_same,
    changed_answers,
    diagnosis_of,
    kind_of_changed,
)
from kafka_conformance.gate.diagnosis.admissible import admitted_by, diagnose_admissible
from kafka_conformance.gate.diagnosis.candidate import Candidate, line_of
from kafka_conformance.gate.diagnosis.candidates import CONSTANT, READ_OFF, candidates
from kafka_conformance.gate.diagnosis.diagnosis import Explanation, Placed, diagnose
from kafka_conformance.gate.grades import DomainComparison
from kafka_conformance.gate.known_failures import KnownFailures, Miss
from kafka_conformance.gate.questions import EXPECTED
from kafka_conformance.gate.severity import Harm, harm_of, rank
from kafka_reference.releases import Release

__all__ = ["FLAKY", "Finder", "GateFinding"]

_SHRINK_S = 15.0
FLAKY = Known("gives another answer when it is asked again (--known-flaky)")
"""What covers answers that change, if the user accepts them."""
_Group: TypeAlias = tuple[str, Known | None]
"""The kind of a difference, and the known failure that covers it."""


@dataclass(frozen=True, slots=True)
class GateFinding:
    """A kind of difference: the event, the mutant that explains all of the kind, or an empty text, and its questions."""

    event: Differed
    explained: str
    questions: tuple[Question, ...] = ()


class _Until:
    """The target until a deadline; after it, a question ends the search."""

    def __init__(self, target: Answerer, deadline: float) -> None:
        self._target, self._deadline, self.name = target, deadline, target.name

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> Sequence[Outcome]:
        """Return the target's outcomes. Raises SearchStopped when there is no time left."""
        if self.is_over:
            raise SearchStopped
        return self._target.answer(rule, release, questions)

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() > self._deadline


class Finder:
    """Findings of one rule in one release. ``diagnoses`` explain all its wrong answers, once the findings are made."""

    def __init__(self, target: Answerer, by: str, rule: Rule, release: Release, grade: Grade, examples: int, seed: int,
                 folder: FailureFolder, *, out_of_domain: bool = False, known_flaky: bool = False) -> None:  # fmt: skip
        self._rule, self._release, self._grade, self._folder = rule, release, grade, folder
        self._examples, self._seed, self._by = examples, seed, by
        self._target, self._known_flaky = target, known_flaky
        self._until = _Until(target, time.monotonic() + _SHRINK_S)
        self._comparison = DomainComparison(EXPECTED, self._until, release, out_of_domain=out_of_domain)
        self._files: set[str] = set()
        self._explanations: tuple[Explanation, ...] = ()
        self._changed: frozenset[Question] = frozenset()
        self._changing: list[Difference] = []

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """The diagnoses of all wrong answers, the one that explains most first; answers that change are last."""
        found = tuple(one.diagnosis for one in self._explanations)
        return (*found, diagnosis_of(self._rule, self._changing, self._changing)) if self._changing else found

    def findings(self, wrong: Sequence[Difference], right: Sequence[tuple[Question, Answer]], known: KnownFailures,
                 placed: Placed = ()) -> Iterator[GateFinding]:  # fmt: skip
        """Yield a finding for each kind of difference, the most harmful first.

        Those that a known failure covers are separate findings, and so are answers that change when the target is asked
        again. ``placed`` are the target's answers to ``partition-for-key``, which can refute a diagnosis of another rule.
        """
        if self._grade == "exact":
            right = self._ask_again(wrong, right)
        groups: dict[_Group, list[Difference]] = {}
        for difference in wrong:
            groups.setdefault(self._group(difference, known.covers), []).append(difference)
        names = {one.question: str(number) for number, ones in enumerate(groups.values()) for one in ones}
        if self._grade == "exact":
            same = [one for one in wrong if one.question not in self._changed]
            self._explanations = diagnose(
                self._rule, self._release, same, right, placed, kind=lambda one: names[one.question]
            )
            if self._changing:  # answers that change are not always the same
                self._explanations = tuple(one for one in self._explanations if one.diagnosis.mutant != CONSTANT)
        elif self._grade == "admissible":
            kinds = frozenset(map(str, range(len(groups))))
            self._explanations = diagnose_admissible(self._rule, self._release, wrong, right, kinds)
        harms = {group: self._harm(differences) for group, differences in groups.items()}
        for group in sorted(groups, key=lambda group: (*rank(harms[group]), -len(groups[group]))):
            name = names[groups[group][0].question]
            explained = next((one for one in self._explanations if one.explains(name, groups[group])), None)
            diagnosis = explained.of_kind(name, groups[group]) if explained else None
            yield self._finding(group, groups[group], explained, diagnosis, harms[group], known)

    def _ask_again(
        self, wrong: Sequence[Difference], right: Sequence[tuple[Question, Answer]]
    ) -> Sequence[tuple[Question, Answer]]:
        """Find the questions whose answers change, and return the right answers that do not."""
        answers = [(one.question, one.actual) for one in wrong]
        expected = {one.question: one.expected for one in wrong} | dict(right)

        def reads(question: Question, answer: Answer) -> Answer:
            return compared_part(self._rule, question, expected[question], answer)

        changed = changed_answers(self._target, self._rule, self._release, answers, reads)
        if not changed:
            return right
        changes = about_the_same(self._rule, changed)
        self._changing = [one for one in wrong if changes(one.question)]
        self._changed = frozenset(one.question for one in self._changing)
        kept = [one for one in right if not changes(one[0])]
        lucky = changed_answers(self._target, self._rule, self._release, kept, reads)
        return [one for one in kept if one[0] not in lucky]

    def _harm(self, differences: Sequence[Difference]) -> Harm:
        return harm_of(self._rule, differences, changing=differences[0].question in self._changed)

    def _group(self, difference: Difference, covers: Callable[[Miss], Known | None]) -> _Group:
        name = question_id(self._rule.slug, str(self._release), difference.question)
        changes = difference.question in self._changed
        kind = kind_of_changed(self._rule, difference.question) if changes else self._kind(difference)
        miss = Miss(
            self._rule.slug, str(self._release), name, kind, difference.actual,
            lambda slug: self._equals(slug, difference),
        )  # fmt: skip
        covered = covers(miss)
        return kind, FLAKY if covered is None and changes and self._known_flaky else covered

    def _kind(self, difference: Difference) -> str:
        """Return the kind of a difference; one of fields that are too many or missing is the same on every path."""
        fields = ""
        if self._grade == "exact":
            fields = field_kind(self._rule, difference.question, difference.expected, difference.actual)
        return fields or kind_of(self._rule, difference)

    @cached_property
    def _named(self) -> dict[str, Candidate]:
        """The candidates that do not depend on the target's answers."""
        found: dict[str, Candidate] = {}
        for candidate in candidates(self._rule, self._release, ()):
            found.setdefault(candidate.slug, candidate)
        return found

    def _equals(self, slug: str, difference: Difference) -> bool:
        """Whether the candidate of this name gives this wrong answer, or may give it with other draws."""
        if self._grade == "admissible":
            return admitted_by(slug, self._rule, self._release, difference.question, difference.actual)
        if difference.question in self._changed:
            return slug == NOT_DETERMINISTIC
        candidate = self._named.get(slug)
        return candidate is not None and self._gives(candidate, difference)

    def _gives(self, candidate: Candidate, difference: Difference) -> bool:
        """Whether a candidate gives this wrong answer, as far as the target answers."""
        answer = candidate.answer(difference.question, difference.expected)
        if answer is None:
            return False
        answer = read(self._rule, difference.question, answer, difference.actual).expected
        return line_of(answer) == line_of(difference.actual)

    def _finding(self, group: _Group, differences: Sequence[Difference], explained: Explanation | None,
                 diagnosis: Diagnosis | None, harm: Harm, known: KnownFailures) -> GateFinding:  # fmt: skip
        kind, covered = group
        example = self._unsaved(differences)
        file = self._save(example, len(differences))
        changes = example.question in self._changed
        if covered is None and self._grade == "exact" and not changes:

            def belongs(other: Difference) -> bool:
                """Whether another difference may be the example: it has the same finding and the same explanation."""
                is_explained = explained is None or self._gives(explained.candidate, other)
                return is_explained and self._group(other, known.covering) == group

            examples = 0 if self._until.is_over else self._examples  # with none, the smallest of `differences`
            smaller = shrink_difference(
                self._rule, self._comparison, differences, examples, self._seed, belongs
            )  # fmt: skip
            if size_of(smaller) < size_of(example) and self._name(smaller) not in self._files:
                if file:
                    Path(file).unlink(missing_ok=True)
                self._files.discard(self._name(example))
                example, file = smaller, self._save(smaller, len(differences))
        sources = [difference.source for difference in differences if difference.question == example.question]
        diagnosis = diagnosis_of(self._rule, differences, self._changing) if changes else diagnosis
        event = Differed(
            self._rule.slug, str(self._release), self._name(example), cast(Source, sources[0] if sources else "fresh"), kind,
            len(differences), msgspec.to_builtins(example.question), example.expected, example.actual,
            self._rule.source, self._rule.links[0] if self._rule.links else "", file,
            diagnosis, covered, self._rule.domain(example.question), harm.severity, harm.effect, harm.keys,
            self._by if file else "",
        )  # fmt: skip
        mutant = diagnosis.mutant if diagnosis and diagnosis.equal == diagnosis.wrong else ""
        questions = tuple(one.question for one in differences)
        return GateFinding(event, "" if mutant in READ_OFF else mutant, questions)

    def _unsaved(self, differences: Sequence[Difference]) -> Difference:
        """Return the smallest difference that is not another finding's example; the smallest of all if each is one."""
        ordered = sorted(differences, key=size_of)
        return next((one for one in ordered if self._name(one) not in self._files), ordered[0])

    def _name(self, difference: Difference) -> str:
        return question_id(self._rule.slug, str(self._release), difference.question)

    def _save(self, difference: Difference, count: int) -> str:
        sides = ("reference", self._release), (self._by, self._release)
        found = {"seed": self._seed, "examples": self._examples, "of_this_kind": count, "grade": self._grade}
        self._files.add(self._name(difference))
        return self._folder.write(lambda folder: save_failure(self._rule, difference, sides, found, folder))
