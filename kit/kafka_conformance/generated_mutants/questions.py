"""The questions that generated mutants are asked: those of a gate in every release of a distinct behaviour.

First come the frozen cases, whose expected answer is Java's own, then the fresh questions of a default gate, whose expected
answer is the reference's. Each frozen case is asked once before any is asked in further releases, in an order that a seed
gives: the few that kill most mutants are found soon. A search asks more than a gate does, the smallest questions first.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.protocol import Answered, Outcome, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import sources
from kafka_conformance.gate.questions import gate_sources
from kafka_conformance.rules.eras import eras
from kafka_reference.releases import Release

__all__ = ["EXAMPLES", "FRESH", "Asked", "RuleQuestions", "Stage", "outcome_bytes"]

EXAMPLES = 200
"""Fresh questions for each rule: as many as a gate asks by default."""

_MOST_SEARCHED = 20_000

FRESH = "fresh "
"""What the name of a fresh question begins with."""

Stage: TypeAlias = Literal["frozen", "fresh", "search"]
"""Frozen cases, or the fresh questions of a gate, or many more: of each space of the rule, and of its strategy."""


class Asked(msgspec.Struct, frozen=True):
    """A question in a release, with the answer that is expected."""

    rule: str
    """The rule's slug."""
    release: str
    """The release."""
    question: bytes
    """The question, as JSON."""
    expected: bytes
    """The expected outcome, as :func:`outcome_bytes` writes it."""
    case: str
    """The id of the frozen case; empty for a fresh question."""

    @property
    def name(self) -> str:
        """The case, or the question, and the release."""
        return f"{self.case or FRESH + self.question.decode()} in {self.release}"


def outcome_bytes(outcome: Outcome) -> bytes:
    """Return an outcome as bytes: equal outcomes, equal bytes."""
    return to_json({type(outcome).__name__: outcome})


class RuleQuestions:
    """The questions of one rule, made when they are needed first."""

    def __init__(self, rule: Rule, seed: int, examples: int = 0) -> None:
        """``examples`` is how many questions of its strategy a search asks."""
        self.rule = rule
        self._examples = examples
        self._seed = seed
        self._made: dict[Stage, tuple[Asked, ...]] = {}
        self._eras = eras(rule)
        found = frozen(rule)
        self._cases: tuple[Case, ...] = () if found is None else found.cases

    def asked(self, stage: Stage) -> tuple[Asked, ...]:
        """Return what is asked about a mistake in code: one release of each behaviour."""
        if stage not in self._made:
            self._made[stage] = tuple(self._made_of(stage))
        return self._made[stage]

    def asked_at(self, release: Release, stage: Stage) -> Iterator[Asked]:
        """Yield what is asked about a mistake in a span of releases that changes one of them."""
        if release not in self.rule.releases:
            return
        if stage == "frozen":
            yield from (self._case(one, str(release)) for one in self._cases if str(release) in one.releases)
            return
        texts = dict.fromkeys(one.question for one in self.asked(stage))
        yield from self._expected((msgspec.json.decode(text, type=self.rule.question) for text in texts), release)

    def remember(self, stage: Stage, asked: tuple[Asked, ...]) -> None:
        """Take questions that were made in another process."""
        self._made[stage] = asked

    def _made_of(self, stage: Stage) -> Iterator[Asked]:
        if stage == "frozen":
            return self._rounds()
        if stage == "search":
            return self._searched()
        return (one for era in reversed(self._eras) for one in self._fresh_in(era.newest))

    def _rounds(self) -> Iterator[Asked]:
        """Yield each frozen case in its newest release, then each in the next release of another behaviour, and so on."""
        order = [(case, self._by_era(case)) for case in self._cases]
        random.Random(self._seed).shuffle(order)  # noqa: S311  reproducible on purpose
        for number in range(len(self._eras) + 1):
            for case, releases in order:
                if number < len(releases):
                    yield self._case(case, releases[number])

    def _searched(self) -> Iterator[Asked]:
        """Yield questions, the smallest first, each in the newest release and in one of another behaviour."""
        found = {to_json(one) for source in sources(self.rule, self._examples, self._seed) for one in source.questions}
        chosen = sorted(found)
        if len(chosen) > _MOST_SEARCHED:
            chosen = random.Random(self._seed).sample(chosen, _MOST_SEARCHED)  # noqa: S311  reproducible on purpose
        releases = [era.newest for era in reversed(self._eras)]
        for number, text in enumerate(sorted(chosen, key=lambda text: (len(text), text))):
            question = msgspec.json.decode(text, type=self.rule.question)
            for release in dict.fromkeys((releases[0], releases[number % len(releases)])):
                yield from self._expected([question], release)

    def _by_era(self, case: Case) -> list[str]:
        found: dict[int | None, str] = {}
        for release in reversed(case.releases):
            found.setdefault(self._era_numbers.get(release), release)
        return list(found.values())

    @cached_property
    def _era_numbers(self) -> dict[str, int]:
        return {str(release): number for number, era in enumerate(self._eras) for release in era.releases}

    def _fresh_in(self, release: Release) -> Iterator[Asked]:
        sources = gate_sources(self.rule, release, "exact", EXAMPLES, self._seed, Path("none"), "", eras=self._eras)
        for source, _ in sources:
            if source.name == "fresh":
                yield from self._expected(source.questions, release)

    def _case(self, case: Case, release: str) -> Asked:
        expected = outcome_bytes(Answered(case.answer))
        return Asked(self.rule.slug, release, bytes(case.question), expected, case.id)

    def _expected(self, questions: Iterable[Question], release: Release) -> Iterator[Asked]:
        """Yield those of the questions that have an answer in a release, with the reference's: a gate asks no others."""
        for question in questions:
            outcome = outcome_of(self.rule.ask, question, release)
            if isinstance(outcome, Answered):
                yield Asked(self.rule.slug, str(release), to_json(question), outcome_bytes(outcome), "")
