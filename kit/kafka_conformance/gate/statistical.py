"""The distribution of a target's random choices, compared with the distribution that the rule prescribes.

The question is the first choice of a new partitioner, a few thousand times: in Kafka the choices are independent, and any
client can answer it. The expected chances follow from the rule: equal for every available partition, or by the ends of
the ranges of the load table.

The bound is Chernoff's: a partition of chance p gets a share of x or a more extreme one in n choices with a probability of
at most 2·exp(-n·KL(x, p)), with KL(x, p) = x·ln(x/p) + (1-x)·ln((1-x)/(1-p)). The ``p_value`` is that bound for the most
extreme partition, times the number of partitions: an upper bound, so that no correct target is refused. A partition of
chance 0 that gets a single record makes it 0. Below :data:`UNLIKELY` the target differs.
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

__all__ = ["UNLIKELY", "Measured", "RepeatedQuestion", "measure", "p_value", "scenarios"]

UNLIKELY = 1e-6
_CHOICES = 4000
_DRAWS = 8


@dataclass(frozen=True, slots=True)
class RepeatedQuestion:
    """One question, many times; ``chances`` by partition id, and the step whose answer is the choice.

    ``optional``: a client without what the scenario needs may report its questions as unsupported.
    """

    title: str
    questions: tuple[Question, ...]
    chances: dict[int, float]
    step: int
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of a scenario: the distribution, and the outcomes that are not a choice."""

    scenario: RepeatedQuestion
    distribution: Distribution
    broken: tuple[tuple[Question, Unsupported | Failed | Lost], ...]
    elsewhere: tuple[dict[str, Any], ...]
    """Answers that name no partition of the cluster."""

    @property
    def differs(self) -> bool:
        """Whether chance does not explain the choices."""
        return self.distribution.p_value < UNLIKELY or bool(self.elsewhere)


_BROKERS = tuple(AskedNode(number) for number in range(6))
_ALL = AskedCluster(_BROKERS, tuple(AskedPartition(number, number) for number in range(6)))
_SOME = AskedCluster(_BROKERS, tuple(AskedPartition(n, None if n in (1, 4) else n) for n in range(6)))


def scenarios(rule: Rule, seed: int) -> list[RepeatedQuestion]:
    """Return the scenarios of a rule, the same in every release; none if its answers do not depend on chance."""
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


def _sticky(title: str, cluster: AskedCluster, seed: int) -> RepeatedQuestion:
    steps = (PartitionStep("t"),)
    asked = tuple(StickyQuestion((seed + number) % 2**53, cluster, steps) for number in range(_CHOICES))
    return RepeatedQuestion(title, asked, _led(cluster), 0, cluster is not _ALL)


def _builtin(title: str, cluster: AskedCluster, seed: int, queues: tuple[int, ...] | None) -> RepeatedQuestion:
    ids = tuple(partition.id for partition in cluster.partitions)
    load = () if queues is None else (LoadStep(queues, ids, None, len(queues)),)
    asked = tuple(
        BuiltInPartitionerQuestion(16384, cluster, _draws(seed + number), (*load, PeekStep()))
        for number in range(_CHOICES)
    )
    if queues is None:
        return RepeatedQuestion(title, asked, _led(cluster), 0, cluster is not _ALL)
    weights = [max(queues) + 1 - size for size in queues]
    return RepeatedQuestion(title, asked, {i: w / sum(weights) for i, w in zip(ids, weights, strict=True)}, 1, True)


def _draws(seed: int) -> tuple[int, ...]:
    """Return draws for a target that uses them."""
    draws = SeededDraws(seed)
    return tuple(draws.next() for _ in range(_DRAWS))


def measure(target: Answerer, rule: Rule, release: Release, scenario: RepeatedQuestion) -> Measured:
    """Ask the question many times, and compare the choices with the chances."""
    outcomes = target.answer(rule, release, scenario.questions)
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
    asked = zip(scenario.questions, outcomes, strict=True)
    broken = tuple((question, outcome) for question, outcome in asked if not isinstance(outcome, Answered))
    return Measured(scenario, found, broken, elsewhere)


def _choice(answer: Any, step: int) -> Any:
    steps = answer.get("steps")
    one = steps[step] if isinstance(steps, list) and len(steps) == step + 1 else None
    choice = one.get("partition") if isinstance(one, dict) else None
    return choice if isinstance(choice, int) and not isinstance(choice, bool) else None


def p_value(seen: Sequence[int], chances: Sequence[float]) -> float:
    """Return an upper bound of the probability of counts this far off or further; 1 where nothing was counted."""
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
