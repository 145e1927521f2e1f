"""A candidate explanation of wrong answers: a known way to answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.gate.assignments import in_any_order
from kafka_reference.releases import Release

__all__ = ["Candidate", "answer_by", "line_of", "mutant_candidate"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A known way to answer.

    ``answer`` takes a question and its right answer, and returns the candidate's answer, or None if it has none.
    ``release`` is set for the reference in another release, ``is_mutant`` for a mutant of the rule. ``placing`` is set for a
    mistake about the partition of a key in a rule that has more than a key: the same mistake in ``partition-for-key``,
    whose answers can refute it. ``tries`` is the number of candidates that one stands for, chosen by the wrong answers.
    """

    slug: str
    description: str
    answer: Callable[[Question, Answer], Answer | None]
    references: tuple[str, ...] = ()
    release: Release | None = None
    is_mutant: bool = False
    placing: Ask | None = None
    tries: int = 1


def mutant_candidate(mutant: Mutant, release: Release, placing: Ask | None = None) -> Candidate:
    """Return a mutant as a candidate for answers in a release."""
    return Candidate(
        mutant.slug, mutant.description, answer_by(mutant.ask, release), mutant.references, placing=placing
    )


def answer_by(ask: Ask, release: Release) -> Callable[[Question, Answer], Answer | None]:
    """Return ``Candidate.answer`` of a rule's reference, or of one with a mistake; None where it breaks down."""

    def answer(question: Question, _: Answer) -> Answer | None:
        outcome = outcome_of(ask, question, release)
        return outcome.answer if isinstance(outcome, Answered) else None

    return answer


def line_of(answer: Answer) -> bytes:
    """Return an answer as JSON, equal answers as equal lines; an answer that JSON cannot express as its Python form.

    Assignments of the same partitions are equal, in whatever order a member's partitions are.
    """
    try:
        return to_json(in_any_order(answer))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return ascii(answer).encode()
