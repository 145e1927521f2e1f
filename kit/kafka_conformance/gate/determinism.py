"""Ask again what differs: an implementation that then gives another answer is not deterministic.

This is a separate finding, because no mistake can explain answers that change. A question is asked again once; where any
answer changed, the unchanged ones are asked until :data:`QUIET_ROUNDS` rounds in a row change none, 60 rounds at most, since
a random choice of two repeats itself half of the time; and all answers about the same key are taken to change, right ones
too. Only the grade ``exact`` is asked again: a target with another grade has declared that it makes its own draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.events import Diagnosis
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Answered, Lost, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.admissible import RULES_WITH_DRAWS
from kafka_conformance.gate.diagnosis.candidate import line_of
from kafka_conformance.gate.diagnosis.diagnosis import key_of
from kafka_reference.releases import Release

__all__ = ["NOT_DETERMINISTIC", "QUIET_ROUNDS", "about_the_same", "changed_answers", "diagnosis_of", "kind_of_changed"]

NOT_DETERMINISTIC = "not-deterministic"
"""The diagnosis of answers that change."""
QUIET_ROUNDS = 12
"""The number of rounds without a change after which the remaining answers count as deterministic."""
_MOST_ROUNDS = 60

_EMPTY_KEY = ("https://github.com/confluentinc/librdkafka/issues/4510",)


def changed_answers(
    target: Answerer, rule: Rule, release: Release, answers: Sequence[tuple[Question, Answer]],
    reads: Callable[[Question, Answer], Answer] = lambda _, answer: answer,
) -> frozenset[Question]:  # fmt: skip
    """Return the questions to which the target gives another answer, or none, when it is asked again.

    ``reads`` takes out of an answer what is not compared: only an unexpected field may change.
    """
    changed: set[Question] = set()
    left = {question: line_of(reads(question, answer)) for question, answer in answers}
    quiet = 0
    for _ in range(_MOST_ROUNDS):
        if not left or quiet == QUIET_ROUNDS:
            break
        found = _changed(target, rule, release, left, reads)
        if not found and not changed:
            break
        quiet = 0 if found else quiet + 1
        changed |= found
        left = {question: line for question, line in left.items() if question not in found}
    return frozenset(changed)


def _changed(
    target: Answerer, rule: Rule, release: Release, lines: Mapping[Question, bytes],
    reads: Callable[[Question, Answer], Answer],
) -> set[Question]:  # fmt: skip
    questions = list(lines)
    outcomes = target.answer(rule, release, questions)
    return {
        question
        for question, outcome in zip(questions, outcomes, strict=True)
        if not isinstance(outcome, Lost)
        and not (isinstance(outcome, Answered) and line_of(reads(question, outcome.answer)) == lines[question])
    }


def about_the_same(rule: Rule, changed: Iterable[Question]) -> Callable[[Question], bool]:
    """Return whether a question is one of ``changed``, or about a key of one of them on the same path through the rule."""
    questions = frozenset(changed)
    keys = {(rule.path(one), key_of(one)) for one in questions if key_of(one) is not None}
    return lambda one: one in questions or (rule.path(one), key_of(one)) in keys


def kind_of_changed(rule: Rule, question: Question) -> str:
    """Return the kind of a difference whose answer changes."""
    path = rule.path(question)
    return f"{path}: not deterministic" if path else "not deterministic"


def diagnosis_of(rule: Rule, differences: Sequence[Difference], changing: Sequence[Difference]) -> Diagnosis:
    """Return the diagnosis of answers that change, of one kind; ``changing`` are those of all kinds."""
    description = "gives another answer when it is asked the same question again"
    references: tuple[str, ...] = ()
    if all(key_of(one.question) == "" for one in changing):
        description += "; librdkafka draws a partition for the empty key"
        references = _EMPTY_KEY
    elif rule.slug in RULES_WITH_DRAWS:
        description += "; if it draws its own random numbers, name a grade for this rule in the hello"
    count = len(differences)
    return Diagnosis(NOT_DETERMINISTIC, description, count, count, references=references)
