"""Why a target answers wrongly: which known mistake gives the same wrong answers.

All that is known of a target are questions with the answers it gave. A mistake explains a wrong answer by giving the same
one. It explains the target if it explains more of the wrong answers than a guess would, and the more so if it gives the
right ones too where the target does. Questions, answers and chance, in that order:

- **Equal** is equal as JSON. A mistake that breaks down over a question does not explain it.
- **A guess** differs from the right answer as often as the mistake does (the share of all questions asked over which it
  departs from the rule), and then picks one of the wrong answers there are. Over a topic of n partitions these are n-1,
  for each partition that has to be named; with two of them whoever is wrong at all agrees with everybody else who is. Of
  other answers, how often each occurs in all answers seen tells how often it is guessed; where all differ, hardly ever.
- **More than chance**: the chance that as many or more of a guess's answers are equal, by Hoeffding's bound, is below
  1/20 even if all candidates are allowed a guess each.
- **Enough**: a mistake that explains less than 5 % of what is to be explained is not told.

The one that explains most is told first; of two, the one that also gives more of the right answers; then the simpler
one, which is the one that comes first among ``candidates``. What it leaves open is put to the others in the same way, so
a target with two mistakes is told both. Each is told with its own counts: they may add up to more than there is, where
both explain the same, or to less, which says that something is still unknown.

**Cost is bounded.** Of very many wrong answers, or right ones, a sample is looked at, the same one each time: up to
``MOST`` of each, and no more questions than make up ``BYTES`` as JSON, since what a question costs goes with its length.
``Diagnosis.sample_of`` then says how many wrong ones there were. And who equals none of the first ``LOOKED_AT`` wrong
answers is not asked any further.
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
MOST, BYTES, LOOKED_AT, TOLD = 400, 60_000, 24, 3
_ENOUGH, _UNLIKELY = 0.05, 0.05
_RAREST = 1e-4
_FIELD, _CHOICE = re.compile(rb'"(\w+)":'), frozenset({b"steps", b"partition", b"drawn"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, the right answer to it, and the target's, as JSON too."""

    question: Question
    right: Answer
    expected: bytes
    said: bytes

    @property
    def is_wrong(self) -> bool:
        return self.said != self.expected


@dataclass(slots=True)
class _Suspect:
    """A candidate, and what it has said so far."""

    candidate: Candidate
    place: int
    said: dict[int, bytes | None] = field(default_factory=dict)

    def says(self, number: int, asked: _Asked) -> bytes | None:
        """Its answer to the question of that number, as JSON."""
        if number not in self.said:
            answer = self.candidate.says(asked.question, asked.right)
            self.said[number] = None if answer is None else line_of(answer)
        return self.said[number]


def diagnose(
    rule: Rule, at: Release, wrong: Sequence[Difference], right: Sequence[tuple[Question, Answer]]
) -> tuple[Diagnosis, ...]:
    """What explains the ``wrong`` answers a target gave to a rule's questions; ``right`` are those it got right.

    The best explanation first, then what explains the rest. Nothing, if nothing known explains them.
    """
    taken = _sampled(wrong, lambda one: one.question)
    asked = [_Asked(one.question, one.expected, line_of(one.expected), line_of(one.actual)) for one in taken]
    for question, answer in _sampled(right, lambda one: one[0]):
        asked.append(_Asked(question, answer, line_of(answer), line_of(answer)))
    suspects = [_Suspect(candidate, place) for place, candidate in enumerate(candidates(rule, at, wrong))]
    case = _Case(asked, suspects)
    in_all = sum(one.times for one in wrong)
    return tuple(case.told(suspect, in_all) for suspect in case.explanations())


class _Case:
    """The questions asked, of which the first are answered wrongly, and who may be it."""

    def __init__(self, asked: Sequence[_Asked], suspects: Sequence[_Suspect]) -> None:
        self.asked, self.suspects = asked, suspects
        self.wrong = [number for number, one in enumerate(asked) if one.is_wrong]
        self.right = [number for number, one in enumerate(asked) if not one.is_wrong]
        self.answers = Counter(answer for one in asked for answer in {one.expected, one.said})
        seen = self.answers.total()
        self.collisions = sum(n * (n - 1) for n in self.answers.values()) / max(1, seen * (seen - 1))

    def explanations(self) -> Iterator[_Suspect]:
        """The best one, then the best one for what it leaves open, and so on."""
        left = list(self.wrong)
        for _ in range(TOLD):
            best = self._best(left)
            if best is None:
                return
            yield best
            left = [number for number in left if not self._equals(best, number)]

    def told(self, suspect: _Suspect, in_all: int) -> Diagnosis:
        """The counts of one explanation."""
        candidate, alike = suspect.candidate, self._alike(suspect)
        mistake = next(iter(alike), None)
        return Diagnosis(
            candidate.slug,
            self._story(suspect) if mistake is None else f"{self._story(suspect)}: {mistake.candidate.story}",
            sum(self._equals(suspect, number) for number in self.wrong),
            len(self.wrong),
            self._also(suspect),
            len(self.right),
            candidate.references or tuple(dict.fromkeys(at for one in alike for at in one.candidate.references)),
            in_all if in_all != len(self.wrong) else 0,
        )

    def _alike(self, suspect: _Suspect) -> list[_Suspect]:
        """The mistakes by which a release is known: those that say the same wherever they were asked."""
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
            tied.sort(key=lambda one: (-self._also(one), one.place))
            told = next((one for one in tied if self._is_true(one) and self._beats_chance(one, equal, left)), None)
            if told is not None:
                return told
        return None

    def _is_true(self, suspect: _Suspect) -> bool:
        return not suspect.candidate.whole or self._also(suspect) == len(self.right)

    def _equals(self, suspect: _Suspect, number: int) -> bool:
        return suspect.says(number, self.asked[number]) == self.asked[number].said

    def _also(self, suspect: _Suspect) -> int:
        return sum(self._equals(suspect, number) for number in self.right)

    def _beats_chance(self, suspect: _Suspect, equal: int, left: Sequence[int]) -> bool:
        departs = sum(suspect.says(number, one) != one.expected for number, one in enumerate(self.asked))
        guessed = [self._guessed(suspect.says(number, self.asked[number]), self.asked[number]) for number in left]
        chance = sum(guessed) / len(left) * departs / len(self.asked)
        return _at_least(equal, len(left), chance) < _UNLIKELY / len(self.suspects)

    def _guessed(self, answer: bytes | None, asked: _Asked) -> float:
        """How likely a guess that is wrong is this one."""
        if answer is None:
            return 0.0
        partitions, named = _partitions(asked.question), _choices(answer)
        if partitions is not None and named:
            return 1 / max(1.0, float(max(2, partitions)) ** min(named, 30) - 1)
        others = self.answers.total() - self.answers[asked.expected]
        often = self.answers[answer] - (answer == asked.said) if answer in self.answers else 0
        return min(1.0, max(often / max(1, others), self.collisions, _RAREST))

    def _story(self, suspect: _Suspect) -> str:
        """Of a release, those beside it that answer the same."""
        nearest = suspect.candidate.release
        if nearest is None:
            return suspect.candidate.story
        same = [one.candidate.release for one in self.suspects if one.candidate.release and self._same(one, suspect)]
        releases = [one for one in pinned() if one in same or any(one == other for other in same)]
        first, last = _run(nearest, releases)
        return suspect.candidate.story if first == last else f"answers as Kafka {first} to {last}"

    def _same(self, one: _Suspect, other: _Suspect) -> bool:
        everywhere = enumerate(self.asked)
        return all(one.says(number, asked) == other.says(number, asked) for number, asked in everywhere)


def _run(around: Release, among: Sequence[Release]) -> tuple[Release, Release]:
    """The first and the last of the pinned releases about this one that are all ``among`` these."""
    every = pinned()
    first = last = every.index(around)
    while first and every[first - 1] in among:
        first -= 1
    while last + 1 < len(every) and every[last + 1] in among:
        last += 1
    return every[first], every[last]


def _partitions(question: Question) -> int | None:
    """How many partitions there are to choose from, or None if that is not what is asked."""
    count = getattr(question, "partitions", None)
    if isinstance(count, int):
        return abs(count)
    cluster = getattr(question, "cluster", None)
    return None if cluster is None else len(cluster.partitions)


def _choices(answer: bytes) -> int:
    """How many partitions an answer names, if it says nothing else; else 0."""
    fields = _FIELD.findall(answer)
    return fields.count(b"partition") if _CHOICE.issuperset(fields) else 0


def _at_least(equal: int, of: int, chance: float) -> float:
    """A bound on the probability of so many or more, of so many guesses of this chance on average (Hoeffding, 1956)."""
    share = equal / of
    if chance <= 0:
        return 0.0
    if share <= chance:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return math.exp(-of * (share * math.log(share / chance) + rest))


def _sampled(everything: Sequence[T], question: Callable[[T], Question]) -> list[T]:
    """All of them, or a sample: the same one each time."""
    order = list(everything)
    random.Random(len(order)).shuffle(order)  # noqa: S311  meant to be foreseeable
    kept: list[T] = []
    room = BYTES
    for one in order[: 4 * MOST]:
        size = len(to_json(question(one)))
        if len(kept) < MOST and (size <= room or not kept):
            kept.append(one)
            room -= size
    return kept
