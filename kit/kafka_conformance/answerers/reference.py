"""The reference as an answerer, and anything shaped like it: a mutant answers in the same way, with one thing wrong.

:class:`LabellingAnswerer` labels the questions while it answers them: most labels need the reference's run in the newest
release, which then runs once for both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_conformance.core.newest_run import keep_run
from kafka_conformance.core.protocol import Answer, Answered, Failed, Outcome, Question, Unsupported, answered
from kafka_conformance.core.rule import Rule
from kafka_reference.errors import NotInThisRelease, QuestionError
from kafka_reference.releases import Release

__all__ = ["LabellingAnswerer", "ReferenceAnswerer", "outcome_of"]


@dataclass(frozen=True, slots=True)
class ReferenceAnswerer:
    """Answers by ``rule.ask``, or by ``instead`` of it."""

    name: str = "reference"
    instead: Callable[[Any, Release], Answer] | None = None

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        """The outcomes, one for each question."""
        if release not in rule.releases:
            return [Unsupported(f"{rule.slug} is not a rule of release {release}")] * len(questions)
        ask = self.instead or rule.ask
        return [
            Failed(endless) if (endless := rule.endless(question, release)) else outcome_of(ask, question, release)
            for question in questions
        ]


@dataclass(frozen=True, slots=True)
class LabellingAnswerer:
    """Answers as ``answerer`` does, and counts in ``labels`` the labels of the questions it receives."""

    answerer: ReferenceAnswerer
    labels: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """The name of the answerer."""
        return self.answerer.name

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
        """The outcomes, one for each question."""
        return [self._answer(rule, release, question) for question in questions]

    def _answer(self, rule: Rule, release: Release, question: Question) -> Outcome:
        with keep_run() as run:
            self.labels.update(rule.labels(question))
        answer = run.answer_of(self.answerer.instead or rule.ask, question, release)
        if answer is not None and not rule.endless(question, release):
            return Answered(answer)
        return self.answerer.answer(rule, release, [question])[0]


def outcome_of(ask: Callable[[Any, Release], Answer], question: Question, release: Release) -> Outcome:
    """``ask``'s answer; what the rule raises is an answer too, what cannot be put or breaks down is not."""
    try:
        return Answered(answered(ask, question, release))
    except NotInThisRelease as absent:
        return Unsupported(str(absent))
    except QuestionError as error:
        return Failed(str(error))
    except Exception as error:  # noqa: BLE001  whatever broke in a rule is reported with its question, never lost
        return Failed(f"{type(error).__name__}: {error}")
