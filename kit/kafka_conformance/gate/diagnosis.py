"""Explain why an implementation answers wrongly: find the known mistakes that give the same wrong answers.

The input is questions with the answers of the implementation under test. A mistake explains a wrong answer if it gives the
same one. It explains the implementation if it explains more wrong answers than a guess would; ties are broken by the right
answers that it also gives. Definitions:

- **Equal** means equal as JSON. A mistake that raises for a question does not explain its answer.
- **A guess** deviates from the right answer as often as the mistake does (the share of all questions for which the mistake
  deviates from the rule), and then picks one of the possible wrong answers. With n partitions there are n-1 of them per
  partition in the answer; with two partitions all wrong answers are equal. For other answers the guess follows the
  frequency of each answer among all answers seen; if all differ, a guess hardly ever matches.
- **More than chance**: the probability that a guess matches at least as often is below 1/20 by Hoeffding's bound, corrected
  for the number of candidates.
- **Enough**: a mistake that explains less than 5 % of the wrong answers is not reported.

The mistake that explains most is reported first; of two, the one that also gives more of the right answers; then the simpler
one, that is the first of ``candidates``. The remaining wrong answers are explained in the same way, so an implementation
with two mistakes gets both reported. Each has its own counts. Their sum exceeds the total where two explain the same answer,
and stays below it where some answers have no known explanation.

**The cost is bounded.** Of many wrong or right answers a deterministic sample is used: up to ``MOST`` of each, and questions
of at most ``BYTES`` bytes of JSON in total, because the cost of a question grows with its length. ``Diagnosis.sample_of`` is
then the number of all wrong answers. A candidate that matches none of the first ``LOOKED_AT`` wrong answers is not
evaluated further.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kafka_conformance.core.events import Diagnosis
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.candidates import Candidate, candidates, line_of, pinned
from kafka_reference.releases import Release

__all__ = ["BYTES", "LOOKED_AT", "MOST", "diagnose"]

T = TypeVar("T")
MOST, BYTES, LOOKED_AT, REPORTED = 400, 60_000, 24, 3
_ENOUGH, _UNLIKELY = 0.05, 0.05
_RAREST = 1e-4
_FIELD, _CHOICE = re.compile(rb'"(\w+)":'), frozenset({b"steps", b"partition", b"drawn"})


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A question and its right answer; ``expected`` and ``actual`` are the right and the actual answer as JSON."""

    question: Question
    right: Answer
    expected: bytes
    actual: bytes

    @property
    def is_wrong(self) -> bool:
        return self.actual != self.expected


@dataclass(slots=True)
class _Suspect:
    """A candidate, its position in the list, and its answers so far by the question's number."""

    candidate: Candidate
    place: int
    answers: dict[int, bytes | None] = field(default_factory=dict)

    def answer(self, number: int, exchange: _Exchange) -> bytes | None:
        """Return the candidate's answer to the question with this number as JSON; None if it has none."""
        if number not in self.answers:
            answer = self.candidate.answer(exchange.question, exchange.right)
            self.answers[number] = None if answer is None else line_of(answer)
        return self.answers[number]


def diagnose(
    rule: Rule, release: Release, wrong: Sequence[Difference], right: Sequence[tuple[Question, Answer]]
) -> tuple[Diagnosis, ...]:
    """Return the explanations of the ``wrong`` answers in a release, the best one first; empty if none is known.

    ``right`` are the questions that the implementation under test answers as expected. Each further explanation covers
    answers that the ones before it leave open.
    """
    taken = _sampled(wrong, lambda one: one.question)
    exchanges = [_Exchange(one.question, one.expected, line_of(one.expected), line_of(one.actual)) for one in taken]
    for question, answer in _sampled(right, lambda one: one[0]):
        exchanges.append(_Exchange(question, answer, line_of(answer), line_of(answer)))
    suspects = [_Suspect(candidate, place) for place, candidate in enumerate(candidates(rule, release, wrong))]
    case = _Case(exchanges, suspects)
    total = sum(one.times for one in wrong)
    return tuple(case.report(suspect, total) for suspect in case.explanations())


class _Case:
    """The questions asked, those with wrong answers first, and the candidates."""

    def __init__(self, exchanges: Sequence[_Exchange], suspects: Sequence[_Suspect]) -> None:
        self.exchanges, self.suspects = exchanges, suspects
        self.wrong = [number for number, one in enumerate(exchanges) if one.is_wrong]
        self.right = [number for number, one in enumerate(exchanges) if not one.is_wrong]
        self.answers = Counter(answer for one in exchanges for answer in {one.expected, one.actual})
        seen = self.answers.total()
        self.collisions = sum(n * (n - 1) for n in self.answers.values()) / max(1, seen * (seen - 1))

    def explanations(self) -> Iterator[_Suspect]:
        """Yield the best explanation, then the best one of the answers it leaves open, and so on."""
        left = list(self.wrong)
        for _ in range(REPORTED):
            best = self._best(left)
            if best is None:
                return
            yield best
            left = [number for number in left if not self._equals(best, number)]

    def report(self, suspect: _Suspect, total: int) -> Diagnosis:
        """Return one explanation with its counts; ``total`` is the number of all wrong answers."""
        candidate, alike = suspect.candidate, self._alike(suspect)
        mistake = next(iter(alike), None)
        return Diagnosis(
            candidate.slug,
            self._story(suspect) if mistake is None else f"{self._story(suspect)}: {mistake.candidate.story}",
            sum(self._equals(suspect, number) for number in self.wrong),
            len(self.wrong),
            self._matched_right(suspect),
            len(self.right),
            candidate.references or tuple(dict.fromkeys(link for one in alike for link in one.candidate.references)),
            total if total != len(self.wrong) else 0,
        )

    def _alike(self, suspect: _Suspect) -> list[_Suspect]:
        """Return the mutants that give the same answers as the release of ``suspect`` to all questions."""
        if suspect.candidate.release is None:
            return []
        others = self.suspects[suspect.place + 1 :]
        return [one for one in others if one.candidate.is_mutant and self._same(one, suspect)]

    def _best(self, left: Sequence[int]) -> _Suspect | None:
        looked_at = left[:LOOKED_AT]
        likely = [one for one in self.suspects if any(self._equals(one, number) for number in looked_at)]
        explained = {one.place: sum(self._equals(one, number) for number in left) for one in likely}
        for equal in sorted(set(explained.values()), reverse=True):
            if equal < _ENOUGH * len(left):
                return None
            tied = [one for one in likely if explained[one.place] == equal]
            tied.sort(key=lambda one: (-self._matched_right(one), one.place))
            best = next((one for one in tied if self._is_true(one) and self._beats_chance(one, equal, left)), None)
            if best is not None:
                return best
        return None

    def _is_true(self, suspect: _Suspect) -> bool:
        return not suspect.candidate.exhaustive or self._matched_right(suspect) == len(self.right)

    def _equals(self, suspect: _Suspect, number: int) -> bool:
        return suspect.answer(number, self.exchanges[number]) == self.exchanges[number].actual

    def _matched_right(self, suspect: _Suspect) -> int:
        return sum(self._equals(suspect, number) for number in self.right)

    def _beats_chance(self, suspect: _Suspect, equal: int, left: Sequence[int]) -> bool:
        departs = sum(suspect.answer(number, one) != one.expected for number, one in enumerate(self.exchanges))
        probabilities = [
            self._guess_probability(suspect.answer(number, self.exchanges[number]), self.exchanges[number])
            for number in left
        ]
        chance = sum(probabilities) / len(left) * departs / len(self.exchanges)
        return _at_least(equal, len(left), chance) < _UNLIKELY / len(self.suspects)

    def _guess_probability(self, answer: bytes | None, exchange: _Exchange) -> float:
        """Return the probability that a wrong guess is this answer."""
        if answer is None:
            return 0.0
        partitions, named = _partitions(exchange.question), _choices(answer)
        if partitions is not None and named:
            return 1 / max(1.0, float(max(2, partitions)) ** min(named, 30) - 1)
        others = self.answers.total() - self.answers[exchange.expected]
        often = self.answers[answer] - (answer == exchange.actual) if answer in self.answers else 0
        return min(1.0, max(often / max(1, others), self.collisions, _RAREST))

    def _story(self, suspect: _Suspect) -> str:
        """Return the description; for a release, with the span of neighbouring releases that answer the same."""
        nearest = suspect.candidate.release
        if nearest is None:
            return suspect.candidate.story
        same = [one.candidate.release for one in self.suspects if one.candidate.release and self._same(one, suspect)]
        releases = [one for one in pinned() if one in same or any(one == other for other in same)]
        first, last = _span_around(nearest, releases)
        return suspect.candidate.story if first == last else f"answers as Kafka {first} to {last}"

    def _same(self, one: _Suspect, other: _Suspect) -> bool:
        everywhere = enumerate(self.exchanges)
        return all(one.answer(number, exchange) == other.answer(number, exchange) for number, exchange in everywhere)


def _span_around(release: Release, among: Sequence[Release]) -> tuple[Release, Release]:
    """Return the first and the last release of the span of pinned releases around ``release`` that are all in ``among``."""
    every = pinned()
    first = last = every.index(release)
    while first and every[first - 1] in among:
        first -= 1
    while last + 1 < len(every) and every[last + 1] in among:
        last += 1
    return every[first], every[last]


def _partitions(question: Question) -> int | None:
    """Return the number of partitions to choose from, or None if the question has none."""
    count = getattr(question, "partitions", None)
    if isinstance(count, int):
        return abs(count)
    cluster = getattr(question, "cluster", None)
    return None if cluster is None else len(cluster.partitions)


def _choices(answer: bytes) -> int:
    """Return how many partitions an answer names if it has no other fields, else 0."""
    fields = _FIELD.findall(answer)
    return fields.count(b"partition") if _CHOICE.issuperset(fields) else 0


def _at_least(equal: int, guesses: int, chance: float) -> float:
    """Return an upper bound of the probability that ``equal`` or more of the guesses match (Hoeffding, 1956).

    ``chance`` is the mean probability that a guess matches.
    """
    share = equal / guesses
    if chance <= 0:
        return 0.0
    if share <= chance:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return math.exp(-guesses * (share * math.log(share / chance) + rest))


def _sampled(everything: Sequence[T], question: Callable[[T], Question]) -> list[T]:
    """Return all items, or a sample that depends on their number alone."""
    order = list(everything)
    random.Random(len(order)).shuffle(order)  # noqa: S311  deterministic on purpose
    kept: list[T] = []
    bytes_left = BYTES
    for one in order[: 4 * MOST]:
        size = len(to_json(question(one)))
        if len(kept) < MOST and (size <= bytes_left or not kept):
            kept.append(one)
            bytes_left -= size
    return kept
