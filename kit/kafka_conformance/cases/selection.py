"""The selection of questions to freeze: few enough for a quick gate, and varied enough to find mistakes.

A question is selected with the answers of all releases. In order:

1. the wanted ones, which kill a mutant or are kept;
2. in each release, every kind of question it answers (``rule.labels``) several times, smallest first;
3. one for each pair of a sort of answer and a kind of question;
4. up to the rule's quota: in turn one of each group with the same sort and kinds, smallest first.

Only 1 and 2 may exceed the quota. A large question has no advantage over a small one of the same kind, so fewer are
selected where questions are long.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest

import msgspec

from kafka_conformance.cases.mutation import WANTED, to_size
from kafka_conformance.core.pipeline import shape_of
from kafka_conformance.core.protocol import Answer, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import Source
from kafka_reference.releases import Release

__all__ = ["QUOTAS", "USUAL_QUOTA", "CaseCandidate", "choose", "thinned"]

USUAL_QUOTA = 300
"""Frozen cases of a rule that is not in :data:`QUOTAS`."""

QUOTAS: Mapping[str, int] = {
    "murmur2": 2_500,
    "partition-for-key": 4_500,
    "producer-partition": 2_500,
    "default-partitioner": 1_200,
    "uniform-sticky-partitioner": 900,
    "round-robin-partitioner": 1_500,
    "builtin-partitioner": 1_550,
    "sticky-distribution": 200,
    "record-sizes": 2_200,
    "record-accumulator": 1_400,
    "idempotence-config": 1_600,
    "sequence-increment": 700,
    "sequence-decrement": 700,
    "producer-sequences": 600,
    "broker-producer-state": 1_200,
}
"""Cases by rule."""

# Questions that Java is asked for each one that is selected.
_TO_CHOOSE_FROM = 4
# Bytes of a question with its answers: above the first it does not fill the quota, above the second it is not taken for a
# sort of answer either. The third bounds the bytes of a kind that only long questions have.
_SHORT, _LONG, _LONG_IN_ALL = 700, 2_000, 8_000


@dataclass(frozen=True, eq=False)
class CaseCandidate:
    """A question and Java's different answers to it, as JSON, each with the releases that gave it, oldest first."""

    rule: Rule
    question: Question
    answers: tuple[tuple[bytes, tuple[Release, ...]], ...]

    @cached_property
    def order(self) -> tuple[int, bytes]:
        """Smaller ones first."""
        return to_size(self.question)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The kinds of question that it belongs to."""
        return frozenset(self.rule.labels(self.question))

    @cached_property
    def sort(self) -> str:
        """The path it takes, and what sorts of answer the releases give."""
        parsed = [msgspec.json.decode(answer) for answer, _ in self.answers]
        return " | ".join((self.rule.path(self.question), *dict.fromkeys(map(_sort, parsed))))

    @cached_property
    def size(self) -> int:
        """Bytes, more or less, that its cases take."""
        return sum(self.order[0] + len(answer) for answer, _ in self.answers)


def _sort(answer: Answer) -> str:
    steps = answer.get("steps")
    if isinstance(steps, list):
        return "; ".join(sorted({_sort(step) if isinstance(step, dict) else "null" for step in steps}))
    flags = [f"{name} {value}" for name, value in sorted(answer.items()) if isinstance(value, bool)]
    return " ".join([shape_of(answer), *flags])


def thinned(rule: Rule, asked: Sequence[Source], wanted: Iterable[Question], quota: int) -> list[Question]:
    """Return the questions to ask Java: ``wanted``, the smallest of every kind, and an even sample of the others."""
    every = list(dict.fromkeys(chain.from_iterable(source.questions for source in asked)))
    kept = dict.fromkeys(wanted)
    seen: Counter[str] = Counter()
    for question in sorted(every, key=to_size):
        labels = set(rule.labels(question))
        if any(seen[label] < 2 * WANTED for label in labels):
            seen.update(labels)
            kept[question] = None
    rest = [question for question in every if question not in kept and to_size(question)[0] <= _LONG]
    step = max(1, -(-len(rest) // max(1, _TO_CHOOSE_FROM * quota - len(kept))))
    return sorted([*kept, *rest[::step]], key=to_size)


def choose(candidates: Sequence[CaseCandidate], wanted: Iterable[Question], quota: int) -> list[CaseCandidate]:
    """Return the candidates to freeze, smallest first. ``quota`` counts cases: one for each answer of a question."""
    ordered = sorted(candidates, key=lambda candidate: candidate.order)
    asked_for = set(wanted)
    taken = {candidate: None for candidate in ordered if candidate.question in asked_for}
    _every_kind(ordered, taken)
    pairs = _pairs([candidate for candidate in ordered if candidate.size <= _LONG * len(candidate.answers)], taken)
    others = _in_turn(candidate for candidate in ordered if candidate.size <= _SHORT * len(candidate.answers))
    count = sum(len(candidate.answers) for candidate in taken)
    for candidate in chain(pairs, others):
        if candidate not in taken and count + len(candidate.answers) <= quota:
            taken[candidate] = None
            count += len(candidate.answers)
    return sorted(taken, key=lambda candidate: candidate.order)


def _every_kind(ordered: Sequence[CaseCandidate], taken: dict[CaseCandidate, None]) -> None:
    """Take every kind in each release, WANTED times or as often as it exists."""
    answered: dict[Release, list[CaseCandidate]] = defaultdict(list)
    for candidate in ordered:
        for _, releases in candidate.answers:
            for release in releases:
                answered[release].append(candidate)
    for same in {tuple(map(id, some)): some for some in answered.values()}.values():
        count: Counter[str] = Counter()
        weight: Counter[str] = Counter()
        for candidate in chain((one for one in same if one in taken), (one for one in same if one not in taken)):
            if candidate in taken or any(
                count[label] < WANTED and (not count[label] or weight[label] + candidate.size <= _LONG_IN_ALL)
                for label in candidate.labels
            ):
                taken[candidate] = None
                for label in candidate.labels:
                    count[label] += 1
                    weight[label] += candidate.size


def _pairs(ordered: Sequence[CaseCandidate], taken: Iterable[CaseCandidate]) -> Iterator[CaseCandidate]:
    """Yield those with a new pair of a sort of answer and a kind of question."""
    seen = {(candidate.sort, label) for candidate in taken for label in candidate.labels}
    for candidate in ordered:
        pairs = {(candidate.sort, label) for label in candidate.labels}
        if pairs - seen:
            seen |= pairs
            yield candidate


def _in_turn(ordered: Iterable[CaseCandidate]) -> Iterator[CaseCandidate]:
    """Yield one of each group with the same sort and kinds, then another of each."""
    groups: dict[tuple[str, frozenset[str]], list[CaseCandidate]] = defaultdict(list)
    for candidate in ordered:
        groups[candidate.sort, candidate.labels].append(candidate)
    for one_of_each in zip_longest(*groups.values()):
        yield from (candidate for candidate in one_of_each if candidate is not None)
