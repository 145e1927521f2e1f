"""Whether an answer is one that the rule allows, for a target that draws its own random numbers.

A client that places records without a key by chance cannot be told its draws, so its answers are none of Java's. They
can still be wrong: a partition without a leader, a switch that comes too early, a partition that follows itself. An
answer is *admissible* if there are draws with which the reference answers the same. These draws are searched for, step by
step: after each step those beginnings are kept whose answers are the target's so far, and where none is left, the step
says what would have been allowed. ``drawn``, the count of draws used, is not compared: a target cannot know it.

A draw only matters by its remainder: by the number of partitions, of available ones, or by the end of the range of a load
table. So as many draws are tried as the least common multiple of those numbers; beginnings that hold the same partitions
count once. Where there are too many numbers to try (:data:`_MOST`), the question is not asked: :func:`countable`.
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

__all__ = ["RULES_WITH_DRAWS", "Refused", "admits", "countable"]

RULES_WITH_DRAWS = frozenset({"default-partitioner", "uniform-sticky-partitioner", "builtin-partitioner"})
_MOST = 30


@dataclass(frozen=True, slots=True)
class Refused:
    """The first step whose answer no draws give, and what would have been allowed there."""

    step: int
    allowed: tuple[Answer, ...]

    def as_answer(self, actual: Sequence[Any]) -> Answer:
        """What was expected: the target's own answers up to that step, then one of those allowed."""
        return {"steps": [*actual[: self.step], {"one of": list(self.allowed)}]}


class _Drawn:
    """A sticky question whose draws are listed."""

    def __init__(self, question: StickyQuestion, steps: Sequence[Any], draws: Sequence[int]) -> None:
        self.cluster, self.steps, self._draws = question.cluster, steps, draws

    def draws(self) -> ListedDraws:
        return ListedDraws(self._draws)


def countable(rule: Rule, question: Any) -> bool:
    """Whether the draws that matter to this question are few enough to be tried."""
    return rule.slug in RULES_WITH_DRAWS and 0 < _numbers(question) <= _MOST


def admits(rule: Rule, question: Any, at: Release, actual: Answer) -> Refused | None:
    """None if the rule allows this answer. ``question`` has to be :func:`countable`."""
    said = actual.get("steps")
    if not isinstance(said, list) or len(said) != len(question.steps):
        return _whole(rule, question, at, actual)
    draws = range(_numbers(question))
    search = _Search(rule, question, at, draws)
    beginnings: list[tuple[int, ...]] = [()]
    for number, answer in enumerate(said):
        met: dict[bytes, Answer] = {}
        kept: dict[Any, tuple[int, ...]] = {}
        for beginning in beginnings:
            for drawn, here in search.step(number, beginning):
                met.setdefault(to_json(here), here)
                if _alike(here, answer):
                    kept.setdefault(search.held(number, drawn), drawn)
        if not kept:
            return Refused(number, tuple(met[line] for line in sorted(met)))
        beginnings = list(kept.values())
    return None


@dataclass(frozen=True, slots=True)
class _Search:
    rule: Rule
    question: Any
    at: Release
    draws: range

    def step(self, number: int, beginning: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Answer]]:
        """What the rule may answer at a step: without another draw, or with each that matters.

        BuiltInPartitioner draws up to twice in a step, for the stay that an append begins and for the next one. A draw
        that the sticky cache throws away, since it is the partition that is left, need not be tried: what follows it
        follows without it as well.
        """
        deep = 2 if isinstance(self.question, BuiltInPartitionerQuestion) else 1
        tried = [beginning]
        for _ in range(deep + 1):
            more = []
            for drawn in tried:
                try:
                    yield drawn, self.ask(number, drawn)
                except DrawsExhausted:
                    more.append(drawn)
            tried = [(*drawn, draw) for drawn in more for draw in self.draws]

    def ask(self, number: int, draws: tuple[int, ...], probe: Sequence[Any] = ()) -> Any:
        """The reference's answer to step ``number``, or to the probes behind it."""
        steps = (*self.question.steps[: number + 1], *probe)
        try:
            answers = self.rule.ask(_with(self.question, steps, draws), self.at)["steps"]
        except JavaException as raised:  # before the first step: there is nothing to draw
            return exception_answer(raised, with_message=False)
        return answers[number + 1 :] if probe else answers[number]

    def held(self, number: int, draws: tuple[int, ...]) -> Any:
        """What two beginnings have in common that will answer alike from here on."""
        if self.rule.slug == "default-partitioner" and not DefaultPartitionerBehaviour.of(self.at).sticks_without_key:
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
    """How many draws there are to try: 0 where that cannot be said."""
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
    """Of the whole table. A table for one rack alone has smaller ranges: those are left to :data:`_MOST` as well."""
    sizes = (step.queue_sizes or ())[: max(step.length, 0)]
    if step.racks is not None and len(set(step.racks)) > 1:
        return ()
    return tuple(accumulate(max(sizes) + 1 - size for size in sizes)) if sizes else (1,)


def _alike(ours: Any, theirs: Any) -> bool:
    return _bare(ours) == _bare(theirs)


def _bare(answer: Any) -> bytes:
    if isinstance(answer, dict):
        return to_json({name: value for name, value in answer.items() if name != "drawn"})
    return to_json(answer)


def _whole(rule: Rule, question: Any, at: Release, actual: Answer) -> Refused | None:
    """An answer that is not a list of steps: right only where the rule raises before the first of them."""
    ours: Any
    try:
        rule.ask(_with(question, (), ()), at)
        ours = {"steps": "one for each"}
    except JavaException as raised:
        ours = exception_answer(raised)
    except DrawsExhausted:
        ours = {"steps": "one for each"}
    return None if _bare(ours) == _bare(actual) else Refused(0, (ours,))
