"""Mistakes of the Java half and of the bridge: the wrong release, other draws, steps left out, answers that are not Java's.

Those of the Java half are made in a copy of its source, which is compiled as always.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from typing import Any

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.pipeline import Comparison
from kafka_conformance.core.protocol import Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.kit_mistakes.bench import NEIGHBOUR, RELEASE, SLUGS, cases_of
from kafka_conformance.kit_mistakes.java_half import changed_java, reopened
from kafka_conformance.kit_mistakes.mistake import Mistake, Plant, patched, replacing
from kafka_conformance.oracle.oracle import OpenRelease
from kafka_conformance.rules import RULES
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["ORACLE_MISTAKES"]


def _neighbour(*more: tuple[object, str, Any]) -> Plant:
    """The release's class loader gets the jars of the release before."""
    pins = load()
    wrong = replace(pins, releases={**pins.releases, str(RELEASE): pins.clients(str(NEIGHBOUR))})
    return lambda bench: reopened(bench, (bench.oracle, "_pins", wrong), *more)


def _java(file: str, old: str, new: str) -> Plant:
    """The Java half has ``new`` in place of ``old`` in ``file``."""
    return lambda bench: changed_java(bench, (file, old, new))


def _from_reference(_: JavaAnswerer, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
    return ReferenceAnswerer("java").answer(rule, release, questions)


@cache
def _remembered() -> dict[tuple[str, Question], Outcome]:
    """Return the present answers of the reference, before a mistake changes it."""
    rules = [RULES[slug] for slug in SLUGS]
    return {
        (rule.slug, question): outcome
        for rule in rules
        for question, outcome in zip(
            cases_of(rule.slug), ReferenceAnswerer().answer(rule, RELEASE, list(cases_of(rule.slug))), strict=True
        )
    }


def _from_memory(_: JavaAnswerer, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:  # noqa: ARG001
    return [_remembered()[rule.slug, question] for question in questions]


def _remembering() -> Plant:
    """The answers are remembered before the mistake is made."""

    def plant(_: object) -> AbstractContextManager[None]:
        _remembered()
        return patched((JavaAnswerer, "answer", _from_memory))

    return plant


def _echoed(self: Comparison, rule: Rule, questions: Sequence[Question]) -> tuple[Sequence[Outcome], Sequence[Outcome]]:
    actual = self.actual.answer(rule, self.actual_release or self.release, questions)
    return actual, actual


ORACLE_MISTAKES: Sequence[Mistake] = (
    Mistake("neighbouring-release", "the class loader has the jars of the release before", ("verify", "freeze --check"),
            _neighbour()),
    Mistake("neighbouring-release-unchecked", "the same, and the loaded release is not checked",
            ("verify", "freeze --check"), _neighbour((OpenRelease, "check", lambda *_: None))),
    Mistake("swapped-draws", "every two random draws change places", ("verify", "freeze --check"),
            _java("rule/QuestionDraws.java", "draws.get(taken))",
                  "draws.get((taken ^ 1) < draws.size() ? taken ^ 1 : taken))")),
    Mistake("dropped-step", "the last step of a script is not taken", ("verify", "freeze --check"),
            _java("rule/ScriptRule.java", "answers.add(answerStep(step));",
                  'if (answers.size() + 1 < Math.max(2, ((List<?>) question.get("steps")).size())) { '
                  "answers.add(answerStep(step)); }")),
    Mistake("skipped-step", "the second step of a script is not taken, and its answer is {}",
            ("verify", "freeze --check"),
            _java("rule/ScriptRule.java", "answers.add(answerStep(step))",
                  "answers.add(answers.size() == 1 ? Map.of() : answerStep(step))")),
    Mistake("reference-for-java", "the reference answers in Java's place", ("verify, wrong reference", "verify, wrong Java"),
            replacing((JavaAnswerer, "answer", _from_reference))),
    Mistake("remembered-answers", "answers that the reference gave before are taken for Java's", ("verify, wrong Java",),
            _remembering()),
    Mistake("echo", "the answers under test are taken for Java's",
            ("verify, wrong reference", "verify, wrong Java", "selftest"),
            replacing((Comparison, "outcomes", _echoed))),
)  # fmt: skip
"""Mistakes whose checks ask Java."""
