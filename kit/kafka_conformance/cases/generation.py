"""Freezing: questions put to the real Java of every release, and what it answers, as cases.

For each rule: questions from its spaces and its strategy (``sources``), the smallest that catch each mutant (``killing``),
Java's answers in every release that has the rule, a choice among them (``choosing``). Releases that answer alike are one
case. The reference is asked as well, once the choice is made, in the newest release of each case: as anyone who is judged.

The same seed makes the same files, with the same jars, the same JVM and the same Hypothesis, which learns constants from
the source of the kit when that is not installed but lies in a folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.mutation import covering, killers, kills
from kafka_conformance.cases.selection import QUOTAS, Candidate, choose, thinned
from kafka_conformance.cases.store import Case, Frozen, Provenance
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.pipeline import BATCH
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Answered, Question, Unsupported, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, sources
from kafka_conformance.core.version import kit_version
from kafka_conformance.rules.mutants import MUTANTS
from kafka_reference.releases import Release, parse_release

__all__ = ["Java", "Made", "Plan", "freeze"]

# Java answers about one rule while the next one's questions are made.
_ASIDE = ThreadPoolExecutor(1, "java")


class Java(Protocol):
    """The real Java: answers, and says by which jar and in which JVM."""

    @property
    def jvm(self) -> str:
        """The JVM, as text."""
        ...

    @property
    def answerer(self) -> Answerer:
        """Whom to ask."""
        ...

    def sha256(self, rule: Rule, at: Release) -> str:
        """The sha256 of the jar that answers this rule in this release."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What to freeze: everything that decides what comes out, but for Java."""

    rules: Sequence[Rule]
    releases: Sequence[Release]
    examples: int
    seed: int
    quotas: Mapping[str, int] = field(default_factory=lambda: QUOTAS)
    swept: Mapping[str, Mapping[str, Sequence[Question]]] = field(default_factory=dict)
    """By rule and mutant, questions that sweeps found to show it: candidates beside those found here."""

    def examples_of(self, rule: Rule) -> int:
        """How many examples the rule's strategy is asked for."""
        return rule.examples_of(self.examples)


@dataclass(frozen=True, slots=True)
class Made:
    """A rule's cases, and what else is to be said of them."""

    rule: Rule
    frozen: Frozen
    asked: int
    absent: int
    failed: tuple[str, ...]
    apart: tuple[str, ...]
    survivors: tuple[str, ...]
    missing_labels: tuple[str, ...]


@dataclass(slots=True)
class _Asked:
    """A rule's questions, which of them were asked for by name, and Java's answers by release."""

    rule: Rule
    questions: list[Question]
    wanted: list[Question]
    jars: dict[str, str] = field(default_factory=dict)
    answers: list[dict[bytes, list[Release]]] = field(default_factory=list)
    absent: int = 0
    failed: list[str] = field(default_factory=list)


def freeze(plan: Plan, java: Java, progress: Steps) -> Iterable[Made]:
    """Carry out the plan, rule by rule. Raises KitError or JarError when Java cannot be asked."""
    waiting: Future[_Asked] | None = None
    for rule in plan.rules:
        questions = _questions(rule, plan, progress)
        answered = waiting
        if answered is not None:
            wait([answered])  # Java has been answering about the rule before
        waiting = _ASIDE.submit(_ask, questions, plan.releases, java, progress)
        if answered is not None:
            yield _made(answered.result(), plan, java)
    if waiting is not None:
        yield _made(waiting.result(), plan, java)


def _questions(rule: Rule, plan: Plan, progress: Steps) -> _Asked:
    progress.doing(f"making questions for {rule.slug}")
    asked: Sequence[Source] = sources(rule, plan.examples_of(rule), plan.seed)
    progress.doing(f"looking for what catches the mutants of {rule.slug}")
    mutants = [mutant for mutant in MUTANTS if mutant.rule == rule.slug]
    found = killers(rule, mutants, asked, plan.examples_of(rule), plan.seed)
    wanted = list(dict.fromkeys(question for some in found.values() for question in some))
    if (swept := plan.swept.get(rule.slug)) is not None:
        wanted = covering(found, swept)
    return _Asked(rule, thinned(rule, asked, wanted, plan.quotas[rule.slug]), wanted)


def _ask(asked: _Asked, releases: Sequence[Release], java: Java, progress: Steps) -> _Asked:
    """Every question, in every release that has the rule."""
    rule = asked.rule
    asked.answers = [{} for _ in asked.questions]
    for at in sorted(releases):
        if rule.has_java(at):
            progress.doing(f"{rule.slug} in {at}")
            asked.jars[str(at)] = java.sha256(rule, at)
            _ask_one(asked, at, java.answerer)
        progress.advance()
    return asked


def _ask_one(asked: _Asked, at: Release, java: Answerer) -> None:
    for first in range(0, len(asked.questions), BATCH):
        outcomes = java.answer(asked.rule, at, asked.questions[first : first + BATCH])
        for place, outcome in enumerate(outcomes, first):
            match outcome:
                case Answered(answer):
                    asked.answers[place].setdefault(to_json(answer), []).append(at)
                case Unsupported():
                    asked.absent += 1
                case broken:
                    asked.failed.append(f"{at}: {broken}: {to_json(asked.questions[place]).decode()[:200]}")


def _made(asked: _Asked, plan: Plan, java: Java) -> Made:
    rule = asked.rule
    chosen = choose(_candidates(asked), asked.wanted, plan.quotas[rule.slug])
    mutants = [mutant for mutant in MUTANTS if mutant.rule == rule.slug]
    cases = []
    for candidate in chosen:
        for case in _cases(candidate):
            caught = kills(mutants, case, candidate.question)
            cases.append(msgspec.structs.replace(case, kills=caught))
    caught_at_all = {slug for case in cases for slug in case.kills}
    labels = {label for candidate in chosen for label in candidate.labels}
    come_from = Provenance(
        rule.slug, rule.source, asked.jars, java.jvm, kit_version(), plan.seed, plan.examples_of(rule), len(cases)
    )
    return Made(
        rule,
        Frozen(come_from, tuple(cases)),
        len(asked.questions) * len(asked.jars),
        asked.absent,
        tuple(asked.failed),
        tuple(_apart(rule, cases)),
        tuple(mutant.slug for mutant in mutants if mutant.slug not in caught_at_all),
        tuple(sorted(rule.required_labels - labels)),
    )


def _candidates(asked: _Asked) -> list[Candidate]:
    return [
        Candidate(asked.rule, question, tuple((answer, tuple(releases)) for answer, releases in answers.items()))
        for question, answers in zip(asked.questions, asked.answers, strict=True)
        if answers
    ]


def _cases(candidate: Candidate) -> Iterable[Case]:
    """A case for each different answer, the newest releases' first."""
    question = msgspec.Raw(to_json(candidate.question))
    for answer, releases in sorted(candidate.answers, key=lambda each: each[1][-1], reverse=True):
        newest = str(releases[-1])
        name = question_id(candidate.rule.slug, newest, candidate.question)
        yield Case(name, newest, tuple(map(str, releases)), question, msgspec.json.decode(answer), ())


def _apart(rule: Rule, cases: Sequence[Case]) -> Iterable[str]:
    """The cases that the reference answers otherwise, in their newest release."""
    reference = ReferenceAnswerer()
    for case in cases:
        (outcome,) = reference.answer(rule, parse_release(case.release), [case.typed_question(rule)])
        if not isinstance(outcome, Answered) or to_json(outcome.answer) != to_json(case.answer):
            yield case.id
