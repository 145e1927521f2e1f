"""Explain why an implementation's answers are wrong: find the known mistakes that predict its answers.

The input is questions with the answers of the implementation under test. Definitions:

- **Equal** means equal as JSON. A mistake that raises for a question predicts nothing there.
- A mistake **explains a kind** of difference (``core.pipeline.kind_of``) if it gives every wrong answer of that kind.
- A mistake is **refuted** by a single right answer for which it predicts another one. A mistake about the partition of a key
  is also refuted by any answer about a key in ``partition-for-key``, right or wrong, that is not the one it predicts: the
  same implementation places the same key.
- **The scope** of a mistake is the kinds that it explains. Wrong answers of other kinds do not refute it, because another
  mistake may come first on those questions. So an implementation with two independent mistakes gets both reported, if each
  explains its own kinds.
- **The empty key** is a separate case, because many clients treat it as no key: wrong answers about it are a separate kind,
  and right ones refute a mistake only if it explains the wrong ones about it, or there are none.
- **Enough** evidence: if a guess gave these wrong answers, the probability would be below 1/20, corrected for the number of
  candidates. A guess deviates from the right answer as often as the mistake does, and about keys at least half of the time.
  It picks one of the possible wrong answers: with n partitions there are n-1 of them per partition in the answer, and for
  other answers the guess follows the frequency of each answer among all answers seen. A mistake that deviates for more than
  one key is a claim about keys, so each key counts once, however many questions have it, and there must be ``KEYS`` of them;
  a mistake about one key (null, the empty one) counts by questions.

Reported are mistakes that explain at least one kind, are not refuted, and have enough evidence; otherwise no known mistake
explains the answers. The mistake that explains most wrong answers is first; of two, the simpler one, that is the first of
``candidates``. The next one must explain kinds that are still open.

**The cost is bounded.** Of many wrong or right answers a deterministic sample is used: up to ``MOST`` of each, of every kind
and every path through the rule at least ``LEAST``, and questions of at most ``BYTES`` bytes of JSON in total, because the
cost of a question grows with its length. ``Diagnosis.sample_of`` is then the number of all wrong answers. What passes the
sample is checked against ``CHECKED`` of the other right answers.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TypeVar

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.events import Diagnosis
from kafka_conformance.core.pipeline import Difference, kind_of
from kafka_conformance.core.protocol import Answer, Answered, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.spans import runs
from kafka_conformance.gate.answer_parts import read
from kafka_conformance.gate.diagnosis.candidate import Candidate, line_of
from kafka_conformance.gate.diagnosis.candidates import candidates, pinned
from kafka_conformance.rules.eras import behaviour_in
from kafka_conformance.rules.release_mutants import difference
from kafka_reference.releases import Release

__all__ = ["BYTES", "CHECKED", "KEYS", "LEAST", "MOST", "REPORTED", "Explanation", "Placed", "diagnose", "key_of"]

T = TypeVar("T")
MOST, LEAST, BYTES, CHECKED, REPORTED, KEYS = 400, 24, 60_000, 2000, 3, 3
_UNLIKELY = 0.05
_EMPTY = ", empty key"
_RAREST = 1e-4
_BELOW_ZERO = re.compile(rb'"partition":-')
_FIELD, _CHOICE = re.compile(rb'"(\w+)":'), frozenset({b"steps", b"partition", b"drawn"})

Placed = Sequence[tuple[Question, Answer]]
"""Answers of the implementation under test to ``partition-for-key``, right and wrong ones."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A known mistake that explains kinds of difference."""

    candidate: Candidate
    diagnosis: Diagnosis
    kinds: frozenset[str]

    def explains(self, kind: str, differences: Sequence[Difference]) -> bool:
        """Whether this explains a kind, all of whose differences are given; those about the empty key are a kind apart."""
        return kind in self.kinds or (
            f"{kind}{_EMPTY}" in self.kinds and all(key_of(one.question) == "" for one in differences)
        )

    def of_kind(self, kind: str, differences: Sequence[Difference]) -> Diagnosis:
        """Return the diagnosis with the counts of one kind, all of whose differences are given."""
        one, apart = self.diagnosis, f"{kind}{_EMPTY}" not in self.kinds
        equal = sum(not (apart and key_of(each.question) == "") for each in differences)
        return Diagnosis(one.mutant, one.description, equal, len(differences), one.also, one.right, one.references, 0)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A question and its right answer; ``expected`` and ``actual`` are the right and the actual answer as JSON."""

    question: Question
    right: Answer
    expected: bytes
    actual: bytes
    kind: str = ""

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


def diagnose(rule: Rule, release: Release, wrong: Sequence[Difference], right: Sequence[tuple[Question, Answer]],
             placed: Placed = (), *,
             kind: Callable[[Difference], str] | None = None) -> tuple[Explanation, ...]:  # fmt: skip
    """Return the explanations of the ``wrong`` answers in a release, the best one first; empty if none is known.

    ``right`` are the questions that the implementation under test answers as expected, ``placed`` its answers to
    ``partition-for-key``, for a rule that has more than a key. ``kind`` names the kind of a difference; the default is
    ``kind_of``. Each further explanation covers kinds that the ones before it leave open.
    """
    if not wrong:
        return ()
    base = kind or (lambda one: kind_of(rule, one))

    def named(one: Difference) -> str:
        return f"{base(one)}{_EMPTY if key_of(one.question) == '' else ''}"

    exchanges = [
        _Exchange(one.question, one.expected, line_of(one.expected), line_of(one.actual), named(one))
        for one in _sampled(wrong, lambda one: one.question, named)
    ]
    for question, answer in _sampled(right, lambda one: one[0], lambda one: rule.path(one[0])):
        exchanges.append(_Exchange(question, answer, line_of(answer), line_of(answer)))
    given = {one.question: one.actual for one in wrong} | dict(right)
    suspects = [
        _Suspect(_fitted(rule, candidate, given) if rule.optional_parts else candidate, place)
        for place, candidate in enumerate(candidates(rule, release, wrong))
    ]
    case = _Case(rule, exchanges, suspects, right[:CHECKED], placed, release)
    total = sum(one.times for one in wrong)
    return tuple(case.explanation(suspect, total) for suspect in case.explanations())


class _Case:
    """The questions asked, those with wrong answers first, and the candidates."""

    def __init__(self, rule: Rule, exchanges: Sequence[_Exchange], suspects: Sequence[_Suspect],
                 all_right: Sequence[tuple[Question, Answer]], placed: Placed, release: Release) -> None:  # fmt: skip
        self.rule, self.exchanges, self.suspects = rule, exchanges, suspects
        self.tries = sum(one.candidate.tries for one in suspects)
        self.all_right, self.placed, self.release = all_right, placed, release
        self.wrong = [number for number, one in enumerate(exchanges) if one.is_wrong]
        self.right = [number for number, one in enumerate(exchanges) if not one.is_wrong]
        self.kinds: dict[str, list[int]] = {}
        for number in self.wrong:
            self.kinds.setdefault(exchanges[number].kind, []).append(number)
        self.answers = Counter(answer for one in exchanges for answer in {one.expected, one.actual})
        seen = self.answers.total()
        self.collisions = sum(n * (n - 1) for n in self.answers.values()) / max(1, seen * (seen - 1))

    def explanations(self) -> Iterator[_Suspect]:
        """Yield the best explanation, then the best one of the kinds it leaves open, and so on."""
        explained = {one.place: self._explained(one) for one in self.suspects}
        likely = [one for one in self.suspects if explained[one.place]]
        left = set(self.kinds)
        for _ in range(REPORTED):
            numbers = {one.place: self._numbers(explained[one.place] & left) for one in likely}
            ranked = sorted((one for one in likely if numbers[one.place]), key=lambda one: -len(numbers[one.place]))
            best = next((one for one in ranked if self._is_enough(one, numbers[one.place]) and self._holds(one)), None)
            if best is None:
                return
            yield best
            left -= explained[best.place]

    def explanation(self, suspect: _Suspect, total: int) -> Explanation:
        """Return one explanation with its counts; ``total`` is the number of all wrong answers."""
        candidate, alike = suspect.candidate, self._alike(suspect)
        links = (*candidate.references, *(link for one in alike for link in one.candidate.references))
        diagnosis = Diagnosis(
            candidate.slug,
            self._described(suspect),
            sum(self._equals(suspect, number) for number in self.wrong),
            len(self.wrong),
            sum(self._equals(suspect, number) for number in self.right),
            len(self.right),
            tuple(dict.fromkeys(links)),
            total if total != len(self.wrong) else 0,
        )
        return Explanation(candidate, diagnosis, frozenset(self._explained(suspect)))

    def _explained(self, suspect: _Suspect) -> set[str]:
        return {
            kind for kind, numbers in self.kinds.items() if all(self._equals(suspect, number) for number in numbers)
        }

    def _numbers(self, kinds: Iterable[str]) -> list[int]:
        return [number for kind in kinds for number in self.kinds[kind]]

    def _holds(self, suspect: _Suspect) -> bool:
        """Whether no right answer, and no answer of ``partition-for-key``, refutes the suspect."""
        explained = self._explained(suspect)
        apart = any(kind.endswith(_EMPTY) and kind not in explained for kind in self.kinds)
        for number in self.right:
            if not self._equals(suspect, number) and not (apart and key_of(self.exchanges[number].question) == ""):
                return False
        for question, answer in self.all_right:
            predicted = suspect.candidate.answer(question, answer)
            if (predicted is None or line_of(predicted) != line_of(answer)) and not (apart and key_of(question) == ""):
                return False
        placing = suspect.candidate.placing
        if placing is None:
            return True
        predictions = (outcome_of(placing, question, self.release) for question, _ in self.placed)
        return all(
            isinstance(predicted, Answered) and line_of(predicted.answer) == line_of(answer)
            for predicted, (_, answer) in zip(predictions, self.placed, strict=True)
        )

    def _alike(self, suspect: _Suspect) -> list[_Suspect]:
        """Return the mutants that give the same answers as the release of ``suspect`` to all questions."""
        if suspect.candidate.release is None:
            return []
        others = self.suspects[suspect.place + 1 :]
        return [one for one in others if one.candidate.is_mutant and self._same(one, suspect)]

    def _equals(self, suspect: _Suspect, number: int) -> bool:
        return suspect.answer(number, self.exchanges[number]) == self.exchanges[number].actual

    def _is_enough(self, suspect: _Suspect, numbers: Sequence[int]) -> bool:
        """Whether a guess would hardly ever give the wrong answers with these numbers."""
        asked = [
            (key_of(one.question), suspect.answer(number, one) != one.expected)
            for number, one in enumerate(self.exchanges)
        ]
        often = sum(deviates for _, deviates in asked) / len(asked)
        keys = {key for key, deviates in asked if deviates and key is not None}
        is_about_one_key = len(keys) == 1 and len({key for key, _ in asked}) >= KEYS
        guesses: dict[Hashable, float] = {}
        for number in numbers:
            exchange = self.exchanges[number]
            key = key_of(exchange.question)
            unit = number if key is None or is_about_one_key else key
            guessed = self._guess_probability(suspect.answer(number, exchange), exchange)
            guessed *= often if key is None else max(often, 0.5)
            guesses[unit] = min(guesses.get(unit, 1.0), max(guessed, _RAREST))
        enough_keys = not keys or is_about_one_key or len(guesses) >= KEYS
        return enough_keys and prod(guesses.values()) < _UNLIKELY / self.tries

    def _guess_probability(self, answer: bytes | None, exchange: _Exchange) -> float:
        """Return the probability that a wrong guess is this answer."""
        if answer is None:
            return 0.0
        partitions, named = _partitions(exchange.question), _choices(answer)
        if partitions is not None and named and not _BELOW_ZERO.search(answer):
            return 1 / max(1.0, float(max(2, partitions)) ** min(named, 30) - 1)
        others = self.answers.total() - self.answers[exchange.expected]
        often = self.answers[answer] - (answer == exchange.actual) if answer in self.answers else 0
        return min(1.0, max(often / max(1, others), self.collisions, _RAREST))

    def _described(self, suspect: _Suspect) -> str:
        """Return the description; for a release, with the span of releases that answer the same, and what differs."""
        nearest = suspect.candidate.release
        if nearest is None:
            return suspect.candidate.description
        same = [one.candidate.release for one in self.suspects if one.candidate.release and self._same(one, suspect)]
        records = [behaviour_in(self.rule, one) for one in same]
        releases = [one for one in pinned() if one in self.rule.releases and behaviour_in(self.rule, one) in records]
        first, last = _span_around(nearest, releases)
        name = suspect.candidate.description if first == last else f"answers as Kafka {first} to {last}"
        alike = self._alike(suspect)
        mistake = alike[0].candidate.description if alike else difference(self.rule, self.release, nearest)
        return f"{name}: {mistake}" if mistake else name

    def _same(self, one: _Suspect, other: _Suspect) -> bool:
        everywhere = enumerate(self.exchanges)
        return all(one.answer(number, exchange) == other.answer(number, exchange) for number, exchange in everywhere)


def _fitted(rule: Rule, candidate: Candidate, given: Mapping[Question, Answer]) -> Candidate:
    """Return a candidate that leaves out the optional parts that the answers ``given`` leave out."""

    def answer(question: Question, right: Answer) -> Answer | None:
        predicted = candidate.answer(question, right)
        if predicted is None or question not in given:
            return predicted
        return read(rule, question, predicted, given[question]).expected

    return replace(candidate, answer=answer)


def key_of(question: Question) -> str | None:
    """Return the key that a question is about, as hex; None if it has none, a null one, or several."""
    record = getattr(question, "record", question)
    key = getattr(record, "key", None)
    return key if isinstance(key, str) else None


def _span_around(release: Release, among: Sequence[Release]) -> tuple[Release, Release]:
    """Return the first and the last release of the span of pinned releases around ``release`` that are all in ``among``."""
    around = next(run for run in runs({release, *among}, pinned()) if release in run)
    return around[0], around[-1]


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


def _sampled(everything: Sequence[T], question: Callable[[T], Question], group: Callable[[T], str]) -> list[T]:
    """Return all items, or a sample that depends on their number alone: with ``LEAST`` of every group, or all of it."""
    order = list(everything)
    random.Random(len(order)).shuffle(order)  # noqa: S311  deterministic on purpose
    seen: Counter[str] = Counter()
    first: list[T] = []
    rest: list[T] = []
    for one in order:
        name = group(one)
        seen[name] += 1
        (first if seen[name] <= LEAST else rest).append(one)
    kept: list[T] = []
    bytes_left = BYTES
    for one in (*first, *rest)[: 4 * MOST]:
        size = len(to_json(question(one)))
        if len(kept) < MOST and (size <= bytes_left or not kept):
            kept.append(one)
            bytes_left -= size
    return kept
