"""Which frozen cases kill which mutants, and which questions are worth freezing because they kill one.

The search for questions compares mutants with the reference, which costs no call into a JVM. Its result is a list of
questions for Java; that a case kills a mutant is decided by Java's answer alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice

from kafka_conformance.answerers.recorded_outcomes import CachedAnswerer, RecordedAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.store import Case
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Comparison, Difference, kind_of, search_kind
from kafka_conformance.core.protocol import Answered, Differs, Outcome, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import HYPOTHESIS, Source
from kafka_reference.releases import parse_release

__all__ = ["WANTED", "covering", "killers", "kills", "to_size"]

WANTED = 5
"""How many cases each mutant, and each kind of question, should have."""

# Questions of the spaces that are tried on a mutant for which a search has found some: a question may take a millisecond.
_TRIED = 2000
# Questions that are taken from a search, which are much the same; the others come from the spaces.
_NEAR = 3
# Bytes of questions for one mutant; the first two are taken in any case.
_WEIGHT = 3_000
# Questions that are compared at once: the search in the spaces ends when enough are found.
_BATCH = 100


class _InTurn(Comparison):
    """Asks one answerer after the other: a mutant may patch modules that the reference uses, for all threads."""

    def outcomes(self, rule: Rule, questions: Sequence[Question]) -> tuple[Sequence[Outcome], Sequence[Outcome]]:
        """Ask the expected answerer, then the actual one."""
        expected = self.expected.answer(rule, self.release, questions)
        return expected, self.actual.answer(rule, self.actual_release or self.release, questions)


def kills(
    rule: Rule, mutants: Iterable[Mutant], cases: Sequence[Case], questions: Sequence[Question]
) -> list[tuple[str, ...]]:
    """Return for each case the mutants whose answer differs from Java's: in the case's newest release or in their own.

    ``questions`` are those of the cases. A mutant that fails to answer is not killed.
    """
    killed: list[set[str]] = [set() for _ in cases]
    for mutant in mutants:
        for release in {*(case.release for case in cases), str(mutant.release)}:
            places = [
                place
                for place, case in enumerate(cases)
                if release in case.releases and release in (case.release, str(mutant.release))
            ]
            java = RecordedAnswerer("java", {questions[place]: Answered(cases[place].answer) for place in places})
            comparison = Comparison(java, ReferenceAnswerer(mutant.slug, mutant.ask), parse_release(release))
            source = Source("frozen", tuple(questions[place] for place in places))
            for place, judgement in zip(places, comparison.judgements(rule, source), strict=True):
                if isinstance(judgement.verdict, Differs):
                    killed[place].add(mutant.slug)
    return [tuple(sorted(slugs)) for slugs in killed]


def killers(
    rule: Rule, mutants: Sequence[Mutant], asked: Sequence[Source], examples: int, seed: int
) -> Mapping[str, Sequence[Question]]:
    """Return for each mutant the smallest questions that it answers differently from the reference.

    First come those that a search by Hypothesis asks on its way to the smallest of one kind; then questions of ``asked``,
    a sample of them where the search found any.
    """
    reference = CachedAnswerer(ReferenceAnswerer())
    generated = [source for source in asked if source.name == HYPOTHESIS]
    smallest = sorted({question for source in asked for question in source.questions}, key=to_size)

    def found(mutant: Mutant) -> list[Question]:
        comparison = _InTurn(reference, ReferenceAnswerer(mutant.slug, mutant.ask), mutant.release)

        def differences(source: Source) -> Iterator[Difference]:
            for judgement in comparison.judgements(rule, source, _BATCH):
                if isinstance(judgement.verdict, Differs):
                    yield Difference(judgement.question, judgement.verdict.expected, judgement.verdict.actual)

        # A search generates its questions again, which takes longer than to ask them: so only where it will find one.
        first = next(chain.from_iterable(map(differences, generated)), None)
        seen = search_kind(rule, comparison, kind_of(rule, first), examples, seed)[1] if first is not None else []
        near = sorted((each.question for each in seen), key=to_size)
        some = smallest[:: max(1, len(smallest) // _TRIED)] if near else smallest
        others = [each.question for each in islice(differences(Source("", tuple(some))), WANTED)]
        return list(_light(sorted({*near[:_NEAR], *others}, key=to_size)[: WANTED + 1]))

    return {mutant.slug: found(mutant) for mutant in mutants}


def covering(found: Mapping[str, Sequence[Question]], more: Mapping[str, Sequence[Question]]) -> list[Question]:
    """Select few of the questions that kill mutants, ``found`` and ``more``, so that each mutant is killed WANTED times.

    First the smallest question that kills each mutant. Then greedily the question that kills the most mutants that are not
    killed often enough, the smallest of those.
    """
    kills_of: dict[Question, set[str]] = {}
    for some in (found, more):
        for mutant, questions in some.items():
            for question in questions:
                kills_of.setdefault(question, set()).add(mutant)
    wanted = Counter({mutant: WANTED for killed in kills_of.values() for mutant in killed})
    left = dict(sorted(kills_of.items(), key=lambda each: to_size(each[0])))
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
    """Yield the first two questions, and more until they are too large together."""
    weight = 0
    for place, question in enumerate(questions):
        weight += to_size(question)[0]
        if place < 2 or weight <= _WEIGHT:
            yield question


def to_size(question: Question) -> tuple[int, bytes]:
    """Return a sort key: the length of the question as JSON, then the JSON."""
    text = to_json(question)
    return len(text), text
