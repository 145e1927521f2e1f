"""Questions to the reference's DefaultPartitioner and UniformStickyPartitioner, and their timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep, PartitionStep, StickyQuestion
from kafka_conformance.rules.common.scripts import Take, play
from kafka_conformance.rules.common.scripts_explain import Held, Watched, explain_script
from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import DefaultPartitioner, UniformStickyPartitioner
from kafka_reference.releases import Release

__all__ = ["ask_of", "explain_by"]

Partitioner = DefaultPartitioner | UniformStickyPartitioner
Make = Callable[[Release, DrawSource], Partitioner]


def ask_of(make: Make, question: StickyQuestion, release: Release) -> Answer:
    """Return the answer of a partitioner made by ``make``."""
    return play(question.cluster, question.steps, _taker(make(release, question.draws())))


def explain_by(
    make: Make, keys_matter: bool, question: StickyQuestion, release: Release, answers: Sequence[Any]
) -> Iterator[Explained]:
    """Return the timeline of a question; ``keys_matter`` if the partitioner places a record by its key."""
    draws = question.draws()
    partitioner = make(release, draws)

    def held() -> Held:
        state: Held = {name: ("partition", partition) for name, partition in partitioner.held.items()}
        if isinstance(partitioner, DefaultPartitioner):
            state |= {name: ("next number", number) for name, number in partitioner.counters.items()}
        return state

    watched = Watched(_taker(partitioner), held, lambda: draws.used, keys_matter=keys_matter)
    return explain_script(question, answers, watched)


def _taker(partitioner: Partitioner) -> Take:
    def take(step: PartitionStep | NewBatchStep, cluster: Cluster) -> Answer:
        if isinstance(step, NewBatchStep):
            if partitioner.has_on_new_batch:
                partitioner.on_new_batch(step.topic, cluster, step.previous)
            return {}
        key = None if step.key is None else bytes.fromhex(step.key)
        return {"partition": partitioner.partition(step.topic, key, cluster)}

    return take
