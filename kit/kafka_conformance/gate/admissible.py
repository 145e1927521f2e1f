"""Whether an answer is one that the rule allows, for a target that draws its own random numbers.

A client that places records without a key by its own random numbers cannot give Java's answers. Its answers can still be
wrong: a partition without a leader, a switch that comes too early, a partition that follows itself. An answer is
*admissible* if there are draws with which the reference gives the same answer. The search for these draws goes step by
step: after each step it keeps the prefixes of draws whose answers are the target's so far; where none is left, the step
differs, and the result has the allowed answers. ``drawn``, the number of draws used, is not compared: a target cannot
know it.

A draw only matters by its remainder: by the number of partitions, of available ones, or by the end of the range of a load
table. So as many draws are tried as the least common multiple of those numbers; beginnings that hold the same partitions
count once. Where there are too many draws to try (:data:`_MOST`), the question is not asked: :func:`countable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import lcm
from typing import Any

import msgspec

from kafka_conformance.core.protocol import Answer, Question, exception_answer, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules.builtin_partitioner.question import BuiltInPartitionerQuestion, LoadStep, PeekStep
from kafka_conformance.rules.common.partitioner_steps import PartitionStep, StickyQuestion
from kafka_conformance.rules.common.scripts import stages
from kafka_reference.errors import DrawsExhausted, JavaException
from kafka_reference.java.thread_local_random import ListedDraws
from kafka_reference.partitioning.behaviour import DefaultPartitionerBehaviour
from kafka_reference.releases import Release

__all__ = ["RULES_WITH_DRAWS", "Admission", "Refused", "admission", "admits", "cost", "countable"]

RULES_WITH_DRAWS = frozenset({"default-partitioner", "uniform-sticky-partitioner", "builtin-partitioner"})
_MOST = 30


@dataclass(frozen=True, slots=True)
class Refused:
    """The first step whose answer no draws give, and the answers that are allowed there."""

    step: int
    allowed: tuple[Answer, ...]

    def as_answer(self, actual: Sequence[Any]) -> Answer:
        """Return the expected answer: the target's own answers up to that step, then those allowed."""
        return {"steps": [*actual[: self.step], {"one of": list(self.allowed)}]}


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether an answer is admissible, and how likely an answer at random is: partitions drawn for every step alone."""

    refused: Refused | None
    chance: float


class _Drawn:
    """A sticky question whose draws are listed."""

    def __init__(self, question: StickyQuestion, steps: Sequence[Any], draws: Sequence[int]) -> None:
        self.cluster, self.steps, self._draws = question.cluster, steps, draws

    def draws(self) -> ListedDraws:
        return ListedDraws(self._draws)


def countable(rule: Rule, question: Any) -> bool:
    """Return whether the draws that matter to this question are few enough to be tried."""
    return rule.slug in RULES_WITH_DRAWS and 0 < _numbers(question) <= _MOST


def cost(question: Any) -> int:
    """Return how much there is to try for a question, to compare it with others."""
    return _numbers(question) * len(question.steps)


def admits(rule: Rule, question: Any, release: Release, actual: Answer) -> Refused | None:
    """Return None if the rule allows this answer, else the step that differs. ``question`` must be :func:`countable`."""
    return admission(rule, question, release, actual).refused


def admission(rule: Rule, question: Any, release: Release, actual: Answer) -> Admission:
    """Return whether the rule allows this answer, and how much else it allows. ``question`` must be :func:`countable`."""
    answers = actual.get("steps")
    if not isinstance(answers, list) or len(answers) != len(question.steps):
        return Admission(_compare_whole(rule, question, release, actual), 1.0)
    clusters = [now for _, now in stages(question.cluster, question.steps)]
    chance = 1.0
    draws = range(_numbers(question))
    search = _Search(rule, question, release, draws)
    prefixes: list[tuple[int, ...]] = [()]
    for number, answer in enumerate(answers):
        allowed: dict[bytes, Answer] = {}
        kept: list[tuple[int, ...]] = []
        for prefix in prefixes:
            for drawn, here in search.step(number, prefix):
                allowed.setdefault(to_json(here), here)
                if _same_answer(here, answer):
                    kept.append(drawn)
        if not kept:
            return Admission(Refused(number, tuple(allowed[line] for line in sorted(allowed))), 0.0)
        prefixes = search.distinct(number, kept)
        if "partition" in answer and clusters[number].partitions:
            chance *= min(1.0, len(set(map(_bare, allowed.values()))) / len(clusters[number].partitions))
    return Admission(None, chance)


@dataclass(frozen=True, slots=True)
class _Search:
    rule: Rule
    question: Any
    release: Release
    draws: range

    def step(self, number: int, prefix: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Answer]]:
        """Yield what the rule may answer at a step: without another draw, or with each that matters.

        BuiltInPartitioner draws up to twice in a step, for the stay that an append begins and for the next one. A draw
        that the sticky cache throws away, since it is the partition that is left, need not be tried: what follows it
        follows without it as well.
        """
        deep = 2 if isinstance(self.question, BuiltInPartitionerQuestion) else 1
        tried = [prefix]
        for _ in range(deep + 1):
            more = []
            for drawn in tried:
                try:
                    yield drawn, self.ask(number, drawn)
                except DrawsExhausted:
                    more.append(drawn)
            tried = [(*drawn, draw) for drawn in more for draw in self.draws]

    def ask(self, number: int, draws: tuple[int, ...], probe: Sequence[Any] = ()) -> Any:
        """Return the reference's answer to step ``number``, or to the probes after it."""
        steps = (*self.question.steps[: number + 1], *probe)
        try:
            answers = self.rule.ask(_with(self.question, steps, draws), self.release)["steps"]
        except JavaException as raised:  # before the first step: there is nothing to draw
            return exception_answer(raised, with_message=False)
        return answers[number + 1 :] if probe else answers[number]

    def distinct(self, number: int, prefixes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """Return the first of the prefixes of each state after a step; a single prefix needs no comparison."""
        if len(prefixes) < 2:
            return prefixes
        first: dict[Any, tuple[int, ...]] = {}
        for prefix in prefixes:
            first.setdefault(self.state(number, prefix), prefix)
        return list(first.values())

    def state(self, number: int, draws: tuple[int, ...]) -> Any:
        """Return the state after a step: prefixes with the same state give the same answers from there on."""
        if (
            self.rule.slug == "default-partitioner"
            and not DefaultPartitionerBehaviour.of(self.release).sticks_without_key
        ):
            return draws  # a counter: the draw itself is what is held
        probes: tuple[Any, ...] = (PeekStep(),)
        if isinstance(self.question, StickyQuestion):
            probes = tuple(PartitionStep(topic) for topic in sorted(_topics(self.question)))
        seen = []
        for probe in probes:  # one by one: where a topic holds nothing yet, its probe would ask for a draw
            try:
                seen.append(to_json(self.ask(number, draws, (probe,))))
            except DrawsExhausted:
                seen.append(b"")
        return tuple(seen)


def _with(question: Any, steps: Sequence[Any], draws: Sequence[int]) -> Any:
    if isinstance(question, StickyQuestion):
        return _Drawn(question, steps, draws)
    return msgspec.structs.replace(question, steps=tuple(steps), draws=tuple(draws))


def _topics(question: StickyQuestion) -> set[str]:
    return {step.topic for step in question.steps if hasattr(step, "topic")}


def _numbers(question: Question) -> int:
    """Return the number of draws to try; 0 where it is unknown."""
    if not isinstance(question, StickyQuestion | BuiltInPartitionerQuestion):
        return 0
    counts = [1]
    for step, now in stages(question.cluster, question.steps):
        counts += [len(now.partitions), len(now.available)]
        if isinstance(step, LoadStep) and step.queue_sizes:
            ends = _range_ends(step)
            if not ends or min(ends) < 1 or list(ends) != sorted(ends):
                return 0
            counts.append(ends[-1])
    some: Callable[..., int] = lcm
    return some(*filter(None, counts))


def _range_ends(step: LoadStep) -> tuple[int, ...]:
    """Return the range ends of the whole table; a table of one rack alone has smaller ranges, which do not matter here."""
    sizes = (step.queue_sizes or ())[: max(step.length, 0)]
    if step.racks is not None and len(set(step.racks)) > 1:
        return ()
    return tuple(accumulate(max(sizes) + 1 - size for size in sizes)) if sizes else (1,)


def _same_answer(ours: Any, theirs: Any) -> bool:
    return _bare(ours) == _bare(theirs)


def _bare(answer: Any) -> bytes:
    if isinstance(answer, dict):
        return to_json({name: value for name, value in answer.items() if name != "drawn"})
    return to_json(answer)


def _compare_whole(rule: Rule, question: Any, release: Release, actual: Answer) -> Refused | None:
    """Judge an answer that is not a list of steps: right only where the rule raises before the first step."""
    ours: Any
    try:
        rule.ask(_with(question, (), ()), release)
        ours = {"steps": "one for each"}
    except JavaException as raised:
        ours = exception_answer(raised)
    except DrawsExhausted:
        ours = {"steps": "one for each"}
    return None if _bare(ours) == _bare(actual) else Refused(0, (ours,))
