"""What a gate asks about a rule, and what is right: earlier failures, frozen cases, fresh questions.

The answer to a frozen case is Java's own, as it was frozen. Where there is no Java, the reference is: it says what is
right about the others, and it is what ``verify`` has proven to be Java's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.failures import read_failure
from kafka_conformance.cases.store import frozen
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Grade, Source
from kafka_conformance.core.protocol import Answered, Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import collect
from kafka_conformance.gate.admissible import countable
from kafka_reference.releases import Release

__all__ = ["Asked", "asked_of"]

_REFERENCE = ReferenceAnswerer()


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions from one source, each with what is right; a question may be about what the release does not have."""

    name: Source
    asked: Sequence[tuple[Question, Outcome]]


def asked_of(rule: Rule, at: Release, grade: Grade, examples: int, seed: int, folder: Path, target: str) -> list[Asked]:
    """The sources for this rule in this release, in the order they are asked. Raises BadInput for a damaged file."""
    if grade == "statistical":
        return []
    found = frozen(rule)
    cases = [] if found is None else found.at(str(at))
    return [
        Asked("earlier", _fit(rule, grade, _right(rule, at, _earlier(rule, at, folder, target)))),
        Asked("frozen", _fit(rule, grade, [(case.typed_question(rule), Answered(case.answer)) for case in cases])),
        Asked("fresh", _fit(rule, grade, _right(rule, at, _fresh(rule, examples, seed)))),
    ]


def _fresh(rule: Rule, examples: int, seed: int) -> list[Question]:
    """Each once: Hypothesis may make the smallest ones again."""
    return list(dict.fromkeys(collect(rule, rule.examples_of(examples, most=1), seed)))


def _right(rule: Rule, at: Release, questions: Sequence[Question]) -> list[tuple[Question, Outcome]]:
    return list(zip(questions, _REFERENCE.answer(rule, at, questions), strict=True))


def _fit(rule: Rule, grade: Grade, asked: list[tuple[Question, Outcome]]) -> list[tuple[Question, Outcome]]:
    """Those that can be judged: by what is admissible only where the draws that matter can all be tried."""
    if grade == "exact":
        return asked
    return [(question, right) for question, right in asked if countable(rule, question)]


def _earlier(rule: Rule, at: Release, folder: Path, target: str) -> list[Question]:
    """What this target has failed before, in this folder. A file of another kind or rule is none of ours."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        try:
            failure = read_failure(str(path))
            if (failure.rule, failure.actual.release, failure.actual.by) == (rule.slug, str(at), target):
                found[failure.id] = failure.typed_question()
        except BadInput:
            continue
    return list(found.values())
