"""What a mutant is caught by: which frozen cases it answers otherwise, and which questions are worth freezing to catch it.

To look for questions, the reference stands in for Java: it costs no call into a JVM. What comes of it is only a list of
questions to put to Java; that a case kills a mutant is said of Java's answer alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.cases.store import Case
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import HYPOTHESIS, Source, shrink
from kafka_reference.releases import Release, parse_release

__all__ = ["WANTED", "covering", "killers", "kills", "to_size"]

WANTED = 5
"""How many cases each mutant, and each kind of question, should have."""

# Of the spaces, so many questions are tried on a mutant that a search has already found: some take a millisecond each.
_TRIED = 2000
# What a search meets on its way to the smallest is much like it: so many of these, then others.
_NEAR = 3
# Bytes of questions for one mutant; two of them there are in any case.
_WEIGHT = 3_000


def kills(mutants: Iterable[Mutant], case: Case, question: Question) -> tuple[str, ...]:
    """The mutants, of this case's rule, that answer it otherwise than Java: in its newest release or in their own.

    A mutant that breaks down has not answered, so nothing caught it.
    """
    java = to_json(case.answer)

    def caught(mutant: Mutant) -> bool:
        meant = dict.fromkeys((case.release, str(mutant.at)))
        answers = (outcome_of(mutant.ask, question, parse_release(at)) for at in meant if at in case.releases)
        return any(isinstance(answer, Answered) and to_json(answer.answer) != java for answer in answers)

    return tuple(sorted(mutant.slug for mutant in mutants if caught(mutant)))


def killers(
    rule: Rule, mutants: Sequence[Mutant], asked: Sequence[Source], examples: int, seed: int
) -> Mapping[str, Sequence[Question]]:
    """For each mutant the smallest question it answers otherwise than the reference, and some more.

    The smallest is what Hypothesis shrinks to, or one of a space if that is smaller. Where the search finds none, every
    question of ``asked`` is tried.
    """
    known: dict[tuple[Release, Question], Answer | None] = {}
    searched = [source for source in asked if source.name == HYPOTHESIS]
    smallest = sorted({question for source in asked for question in source.questions}, key=to_size)

    def apart(mutant: Mutant, question: Question) -> bool:
        key = mutant.at, question
        if key not in known:
            known[key] = _answer(outcome_of(rule.ask, question, mutant.at))
        here, other = known[key], _answer(outcome_of(mutant.ask, question, mutant.at))
        return here is not None and other is not None and to_json(here) != to_json(other)

    def found(mutant: Mutant) -> list[Question]:
        met = set()

        def wrong(question: Question) -> bool:
            if apart(mutant, question):
                met.add(question)
                return True
            return False

        # The search makes these questions again, which takes longer than to ask them: so only where it will find one.
        if any(apart(mutant, question) for source in searched for question in source.questions):
            shrink(rule, wrong, examples, seed)
        near = sorted(met, key=to_size)
        some = smallest[:: max(1, len(smallest) // _TRIED)] if near else smallest
        others = list(islice((question for question in some if apart(mutant, question)), WANTED))
        return list(_light(sorted({*near[:_NEAR], *others}, key=to_size)[: WANTED + 1]))

    return {mutant.slug: found(mutant) for mutant in mutants}


def covering(found: Mapping[str, Sequence[Question]], more: Mapping[str, Sequence[Question]]) -> list[Question]:
    """The fewest, more or less, of the questions that show mutants, ``found`` and ``more``: each mutant WANTED times.

    First the smallest that shows each mutant. Then greedily: the next is one that shows the most mutants that are not shown
    often enough, the smallest of these.
    """
    shows: dict[Question, set[str]] = {}
    for some in (found, more):
        for mutant, questions in some.items():
            for question in questions:
                shows.setdefault(question, set()).add(mutant)
    wanted = Counter({mutant: WANTED for mutants_shown in shows.values() for mutant in mutants_shown})
    left = dict(sorted(shows.items(), key=lambda each: to_size(each[0])))
    mutants = sorted(wanted)
    taken = list(dict.fromkeys(next(question for question in left if mutant in left[question]) for mutant in mutants))
    for question in taken:
        wanted.subtract(left.pop(question))
    while left:
        best = max(
            left, key=lambda question: sum(wanted[mutant] > 0 for mutant in left[question])
        )  # the first of equals
        if not any(wanted[mutant] > 0 for mutant in left[best]):
            break
        wanted.subtract(left.pop(best))
        taken.append(best)
    return taken


def _light(questions: Sequence[Question]) -> Iterator[Question]:
    """The first two, and more as long as they are not too large together."""
    weight = 0
    for place, question in enumerate(questions):
        weight += to_size(question)[0]
        if place < 2 or weight <= _WEIGHT:
            yield question


def to_size(question: Question) -> tuple[int, bytes]:
    """Smaller questions first, and one order for all."""
    text = to_json(question)
    return len(text), text


def _answer(outcome: object) -> Answer | None:
    return outcome.answer if isinstance(outcome, Answered) else None
