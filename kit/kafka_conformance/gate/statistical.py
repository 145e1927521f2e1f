"""Whether a target that places by chance places by the right chances: a question asked many times over.

What is asked is the first choice of a partitioner that is new, a few thousand times: each is independent of the others
in Kafka, and any client can answer it. The chances are worked out from the rule: every partition that is available alike,
or by the ends of the ranges of the load table.

The bound is Chernoff's, and needs no table: that a partition of chance p gets a share of x or more extreme in n choices is
no likelier than 2·exp(-n·KL(x, p)), with KL(x, p) = x·ln(x/p) + (1-x)·ln((1-x)/(1-p)). The ``p_value`` is that, for the
most extreme partition, times the number of partitions: an upper bound, so that a target is refused too late, never too
early. A partition of chance 0 that gets a single record makes it 0. Below :data:`UNLIKELY` the target differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.events import Distribution
from kafka_conformance.core.protocol import Answered, Failed, Lost, Question, Unsupported
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules.builtin_partitioner.question import BuiltInPartitionerQuestion, LoadStep, PeekStep
from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition
from kafka_conformance.rules.common.partitioner_steps import PartitionStep, StickyQuestion
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.releases import Release

__all__ = ["UNLIKELY", "Measured", "Scenario", "measure", "p_value", "scenarios"]

UNLIKELY = 1e-6
_CHOICES = 4000
_DRAWS = 8


@dataclass(frozen=True, slots=True)
class Scenario:
    """One question, many times; ``chances`` by partition id, and the step whose answer is the choice."""

    title: str
    questions: tuple[Question, ...]
    chances: dict[int, float]
    step: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of a scenario: the distribution, and the outcomes that were no choice at all."""

    scenario: Scenario
    distribution: Distribution
    broken: tuple[Unsupported | Failed | Lost, ...]
    elsewhere: tuple[dict[str, Any], ...]
    """Answers that are no partition of the cluster."""

    @property
    def differs(self) -> bool:
        """Whether chance does not explain it."""
        return self.distribution.p_value < UNLIKELY or bool(self.elsewhere)


_BROKERS = tuple(AskedNode(number) for number in range(6))
_ALL = AskedCluster(_BROKERS, tuple(AskedPartition(number, number) for number in range(6)))
_SOME = AskedCluster(_BROKERS, tuple(AskedPartition(n, None if n in (1, 4) else n) for n in range(6)))


def scenarios(rule: Rule, seed: int) -> list[Scenario]:
    """What is asked of a rule by its shares, in every release that has it alike; nothing if it has none."""
    if rule.question is StickyQuestion:
        return [
            _sticky("all six partitions led", _ALL, seed),
            _sticky("two of six partitions without a leader", _SOME, seed),
        ]
    if rule.question is BuiltInPartitionerQuestion:
        return [
            _builtin("all six partitions led", _ALL, seed, None),
            _builtin("two of six partitions without a leader", _SOME, seed, None),
            _builtin("queues of 0, 1, 2, 3, 4 and 5 batches", _ALL, seed, (0, 1, 2, 3, 4, 5)),
        ]
    return []


def _led(cluster: AskedCluster) -> dict[int, float]:
    led = [partition.id for partition in cluster.partitions if partition.leader is not None]
    return {partition.id: 1 / len(led) if partition.id in led else 0.0 for partition in cluster.partitions}


def _sticky(title: str, cluster: AskedCluster, seed: int) -> Scenario:
    steps = (PartitionStep("t"),)
    asked = tuple(StickyQuestion((seed + number) % 2**53, cluster, steps) for number in range(_CHOICES))
    return Scenario(title, asked, _led(cluster), 0)


def _builtin(title: str, cluster: AskedCluster, seed: int, queues: tuple[int, ...] | None) -> Scenario:
    ids = tuple(partition.id for partition in cluster.partitions)
    load = () if queues is None else (LoadStep(queues, ids, None, len(queues)),)
    asked = tuple(
        BuiltInPartitionerQuestion(16384, cluster, _draws(seed + number), (*load, PeekStep()))
        for number in range(_CHOICES)
    )
    if queues is None:
        return Scenario(title, asked, _led(cluster), 0)
    weights = [max(queues) + 1 - size for size in queues]
    return Scenario(title, asked, {i: w / sum(weights) for i, w in zip(ids, weights, strict=True)}, 1)


def _draws(seed: int) -> tuple[int, ...]:
    """For a target that does look at them."""
    draws = SeededDraws(seed)
    return tuple(draws.next() for _ in range(_DRAWS))


def measure(target: Answerer, rule: Rule, at: Release, scenario: Scenario) -> Measured:
    """Put the question, many times, and hold the choices against the chances."""
    outcomes = target.answer(rule, at, scenario.questions)
    answers = [outcome.answer for outcome in outcomes if isinstance(outcome, Answered)]
    chosen = [_choice(answer, scenario.step) for answer in answers]
    counts = Counter(choice for choice in chosen if choice in scenario.chances)
    ids = sorted(scenario.chances)
    seen, chances = [counts[i] for i in ids], [scenario.chances[i] for i in ids]
    n = sum(seen)
    found = Distribution(
        scenario.title, tuple(ids), tuple(n * chance for chance in chances), tuple(seen), p_value(seen, chances)
    )
    elsewhere = tuple(a for a, choice in zip(answers, chosen, strict=True) if choice not in scenario.chances)
    return Measured(scenario, found, tuple(one for one in outcomes if not isinstance(one, Answered)), elsewhere)


def _choice(answer: Any, step: int) -> Any:
    steps = answer.get("steps")
    one = steps[step] if isinstance(steps, list) and len(steps) == step + 1 else None
    choice = one.get("partition") if isinstance(one, dict) else None
    return choice if isinstance(choice, int) and not isinstance(choice, bool) else None


def p_value(seen: Sequence[int], chances: Sequence[float]) -> float:
    """An upper bound of how likely counts as far off as these are by chance; 1 where nothing was counted."""
    n = sum(seen)
    if not n:
        return 1.0
    bounds = [2 * exp(-n * _divergence(count / n, chance)) for count, chance in zip(seen, chances, strict=True)]
    return min(1.0, len(bounds) * min(bounds))


def _divergence(x: float, p: float) -> float:
    if p in (0.0, 1.0):
        return 0.0 if x == p else float("inf")
    parts = ((x, p), (1 - x, 1 - p))
    return sum(a * log(a / b) for a, b in parts if a > 0)
