"""Outcomes that are known already: frozen answers, or those that another answerer gave before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.protocol import Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_reference.releases import Release

__all__ = ["CachedAnswerer", "RecordedAnswerer", "RecordedBatch"]


@dataclass(frozen=True, slots=True)
class RecordedAnswerer:
    """Answers from ``outcomes``, whatever the rule and release; every question asked must be among them."""

    name: str
    outcomes: Mapping[Question, Outcome]

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:  # noqa: ARG002
        """Return the recorded outcomes."""
        return [self.outcomes[question] for question in questions]


@dataclass(frozen=True, slots=True)
class RecordedBatch:
    """Answers one batch of questions with ``outcomes``, in order."""

    name: str
    outcomes: Sequence[Outcome]

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> Sequence[Outcome]:  # noqa: ARG002
        """Return the recorded outcomes."""
        return self.outcomes


@dataclass(frozen=True, slots=True)
class CachedAnswerer:
    """Asks ``answerer`` each question about a rule and release once; :meth:`forget` drops what it keeps of a release."""

    answerer: Answerer
    _known: dict[tuple[str, Release], dict[Question, Outcome]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the answerer behind the cache."""
        return self.answerer.name

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        """Return known outcomes, and ask for the others in one batch."""
        known = self._known.setdefault((rule.slug, release), {})
        unknown = [question for question in dict.fromkeys(questions) if question not in known]
        if unknown:
            known.update(zip(unknown, self.answerer.answer(rule, release, unknown), strict=True))
        return [known[question] for question in questions]

    def forget(self, rule: Rule, release: Release) -> None:
        """Drop the outcomes of a rule in a release."""
        self._known.pop((rule.slug, release), None)
