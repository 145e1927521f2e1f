"""Generation of frozen cases: questions go to the real Java of every release, and its answers become cases.

For each rule: questions from its spaces and its strategy (``sources``), the smallest that kill each mutant
(``mutation``), the questions of earlier cases that are kept, Java's answers in every release that has the rule, and a
selection among them (``selection``). Releases with the same answer share a case. The reference is compared with the
selected cases, in the newest release of each behaviour.

The same seed generates the same files, with the same jars, JVM and Hypothesis. Hypothesis learns constants from the
source of the kit when that is a checkout and not installed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import chain
from typing import Protocol

import msgspec

from kafka_conformance.answerers.recorded_outcomes import RecordedAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.mutation import covering, killers, kills
from kafka_conformance.cases.selection import QUOTAS, USUAL_QUOTA, CaseCandidate, choose, thinned
from kafka_conformance.cases.store import Case, Frozen, Provenance
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.pipeline import Comparison, batches
from kafka_conformance.core.progress import Steps
from kafka_conformance.core.protocol import Agrees, Answered, Outcome, Question, Unsupported, question_id, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source, sources
from kafka_conformance.core.version import kit_version
from kafka_conformance.rules.eras import eras
from kafka_conformance.rules.mutants import written_mutants
from kafka_reference.releases import Release, parse_release

__all__ = ["GenerationPlan", "Java", "RuleCases", "apart", "freeze"]

# Java answers the questions of one rule while those of the next are generated.
_JAVA_THREAD = ThreadPoolExecutor(1, "java")


class Java(Protocol):
    """The real Java, with the jars and the JVM that answer."""

    @property
    def jvm(self) -> str:
        """The JVM's version and how it was found."""
        ...

    @property
    def answerer(self) -> Answerer:
        """The answerer."""
        ...

    def sha256(self, rule: Rule, release: Release) -> str:
        """Return the sha256 of the jar that answers this rule in this release."""
        ...


@dataclass(frozen=True, slots=True)
class GenerationPlan:
    """All that decides which cases are generated, besides Java."""

    rules: Sequence[Rule]
    releases: Sequence[Release]
    examples: int
    seed: int
    quotas: Mapping[str, int] = field(default_factory=lambda: QUOTAS)
    swept: Mapping[str, Mapping[str, Sequence[Question]]] = field(default_factory=dict)
    """By rule and mutant, questions of sweeps that kill it: candidates in addition to those found here."""
    kept: Mapping[str, Mapping[Question, Collection[str]]] = field(default_factory=dict)
    """By rule, the questions of earlier cases, which become cases again whatever else is selected, each with the releases
    that its cases are named after: they keep their names."""
    extends: bool = False
    """Whether only the earlier cases are asked, in all releases, and no others are selected."""

    def examples_of(self, rule: Rule) -> int:
        """Return how many questions the rule's strategy generates."""
        return rule.examples_of(self.examples)


@dataclass(frozen=True, slots=True)
class RuleCases:
    """A rule's cases, and what the generation has to report.

    ``asked`` counts the answers asked for, ``absent`` those that do not exist in their release; ``failed`` are Java's
    errors, ``apart`` the ids of cases that the reference answers differently, ``survivors`` mutants that no case kills.
    """

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
    """A rule's questions, those of them that must be frozen, and Java's answers with their releases."""

    rule: Rule
    questions: list[Question]
    wanted: list[Question]
    jars: dict[str, str] = field(default_factory=dict)
    answers: list[dict[bytes, list[Release]]] = field(default_factory=list)
    absent: int = 0
    failed: list[str] = field(default_factory=list)


def freeze(plan: GenerationPlan, java: Java, progress: Steps) -> Iterable[RuleCases]:
    """Carry out the plan, rule by rule. Raises KitError or JarError when Java cannot be asked."""
    waiting: Future[_Asked] | None = None
    for rule in plan.rules:
        questions = _questions(rule, plan, progress)
        answered = waiting
        if answered is not None:
            wait([answered])  # Java has been answering about the rule before
        waiting = _JAVA_THREAD.submit(_ask, questions, plan.releases, java, progress)
        if answered is not None:
            yield _made(answered.result(), plan, java)
    if waiting is not None:
        yield _made(waiting.result(), plan, java)


def _questions(rule: Rule, plan: GenerationPlan, progress: Steps) -> _Asked:
    kept = plan.kept.get(rule.slug, {})
    if plan.extends:
        return _Asked(rule, list(kept), list(kept))
    progress.doing(f"making questions for {rule.slug}")
    asked: Sequence[Source] = sources(rule, plan.examples_of(rule), plan.seed)
    progress.doing(f"looking for questions that kill the mutants of {rule.slug}")
    mutants = written_mutants(rule)
    found = killers(rule, mutants, asked, plan.examples_of(rule), plan.seed)
    wanted = list(dict.fromkeys(question for some in found.values() for question in some))
    if (swept := plan.swept.get(rule.slug)) is not None:
        wanted = covering(found, swept)
    wanted = list(dict.fromkeys((*kept, *wanted)))
    return _Asked(rule, thinned(rule, asked, wanted, plan.quotas.get(rule.slug, USUAL_QUOTA)), wanted)


def _ask(asked: _Asked, releases: Sequence[Release], java: Java, progress: Steps) -> _Asked:
    """Ask every question in every release that has the rule."""
    rule = asked.rule
    asked.answers = [{} for _ in asked.questions]
    for release in sorted(releases):
        if rule.has_java(release):
            progress.doing(f"{rule.slug} in {release}")
            asked.jars[str(release)] = java.sha256(rule, release)
            outcomes = (java.answerer.answer(rule, release, batch) for batch in batches(asked.questions))
            for place, outcome in enumerate(chain.from_iterable(outcomes)):
                _record(asked, release, place, outcome)
        progress.advance()
    return asked


def _record(asked: _Asked, release: Release, place: int, outcome: Outcome) -> None:
    match outcome:
        case Answered(answer):
            asked.answers[place].setdefault(to_json(answer), []).append(release)
        case Unsupported():
            asked.absent += 1
        case failed:
            asked.failed.append(f"{release}: {failed}: {to_json(asked.questions[place]).decode()[:200]}")


def _made(asked: _Asked, plan: GenerationPlan, java: Java) -> RuleCases:
    rule = asked.rule
    quota = 0 if plan.extends else plan.quotas.get(rule.slug, USUAL_QUOTA)
    chosen = choose(_candidates(asked), asked.wanted, quota)
    kept = plan.kept.get(rule.slug, {})
    mutants = written_mutants(rule)
    pairs = [
        (candidate.question, case)
        for candidate in chosen
        for case in _cases(candidate, kept.get(candidate.question, ()))
    ]
    questions, bare = [question for question, _ in pairs], [case for _, case in pairs]
    killed = kills(rule, mutants, bare, questions)
    cases = [msgspec.structs.replace(case, kills=slugs) for case, slugs in zip(bare, killed, strict=True)]
    killed_at_all = {slug for slugs in killed for slug in slugs}
    labels = {label for candidate in chosen for label in candidate.labels}
    provenance = Provenance(
        rule.slug, rule.source, asked.jars, java.jvm, kit_version(), plan.seed, plan.examples_of(rule), len(cases)
    )
    return RuleCases(
        rule,
        Frozen(provenance, tuple(cases)),
        len(asked.questions) * len(asked.jars),
        asked.absent,
        tuple(asked.failed),
        tuple(apart(rule, cases, questions)),
        tuple(mutant.slug for mutant in mutants if mutant.slug not in killed_at_all),
        tuple(sorted(rule.required_labels - labels)),
    )


def _candidates(asked: _Asked) -> list[CaseCandidate]:
    return [
        CaseCandidate(asked.rule, question, tuple((answer, tuple(releases)) for answer, releases in answers.items()))
        for question, answers in zip(asked.questions, asked.answers, strict=True)
        if answers
    ]


def _cases(candidate: CaseCandidate, named_after: Collection[str]) -> Iterable[Case]:
    """Yield a case for each different answer, that of the newest release first.

    A case is named after its newest release, or after the newest of those in ``named_after``.
    """
    question = msgspec.Raw(to_json(candidate.question))
    for answer, releases in sorted(candidate.answers, key=lambda each: each[1][-1], reverse=True):
        versions = tuple(map(str, releases))
        namesake = next((version for version in reversed(versions) if version in named_after), versions[-1])
        name = question_id(candidate.rule.slug, namesake, candidate.question)
        yield Case(name, namesake, versions, question, msgspec.json.decode(answer), ())


def apart(rule: Rule, cases: Sequence[Case], questions: Sequence[Question]) -> Iterable[str]:
    """Yield the ids of cases that the reference answers differently, in some release of each distinct behaviour."""
    behaviour = {str(release): number for number, era in enumerate(eras(rule)) for release in era.releases}
    for case, question in zip(cases, questions, strict=True):
        java = RecordedAnswerer("java", {question: Answered(case.answer)})
        for release in {behaviour.get(release, release): release for release in case.releases}.values():
            comparison = Comparison(java, ReferenceAnswerer(), parse_release(release))
            if not isinstance(comparison.judge_one(rule, question).verdict, Agrees):
                yield case.id
                break
