"""Questions to a ``RoundRobinPartitioner`` of the reference, and their timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep
from kafka_conformance.rules.common.scripts import Take, play
from kafka_conformance.rules.common.scripts_explain import Held, Watched, explain_script
from kafka_conformance.rules.round_robin_partitioner.question import RoundRobinQuestion, RoundRobinStep
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.releases import Release

__all__ = ["ask_of", "explain"]


def ask_of(make: Callable[[Release], RoundRobinPartitioner], question: RoundRobinQuestion, release: Release) -> Answer:
    """Return the answer of a partitioner made by ``make``."""
    return play(question.cluster, question.steps, _taker(make(release)))


def _taker(partitioner: RoundRobinPartitioner) -> Take:
    def take(step: RoundRobinStep | NewBatchStep, cluster: Cluster) -> Answer:
        if isinstance(step, NewBatchStep):
            if partitioner.has_on_new_batch:
                partitioner.on_new_batch(step.topic, cluster, step.previous)
            return {}
        return {"partition": partitioner.partition(step.topic, cluster)}

    return take


def explain(question: RoundRobinQuestion, release: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    """Return the timeline of a question with the given answers."""
    partitioner = RoundRobinPartitioner(release)

    def held() -> Held:
        found: Held = {name: ("next number", number) for name, number in partitioner.counters.items()}
        if partitioner.remembered is not None:
            found[f"announced for {partitioner.remembered[0]}"] = "partition", partitioner.remembered[1]
        return found

    return explain_script(question, answers, Watched(_taker(partitioner), held))
