"""Questions to a ``BuiltInPartitioner`` of the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.builtin_partitioner.question import (
    AppendStep,
    BuiltInPartitionerQuestion,
    LoadStep,
    PeekStep,
    SendBytesStep,
)
from kafka_conformance.rules.common.scripts import Take, play
from kafka_reference.java.thread_local_random import ListedDraws
from kafka_reference.partitioning.behaviour import BuiltInPartitionerBehaviour
from kafka_reference.partitioning.builtin import BuiltInPartitioner
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.releases import Release

__all__ = ["ask_of", "make", "taker"]

Made = TypeVar("Made", bound=BuiltInPartitioner)


def make(made: Callable[..., Made], question: BuiltInPartitionerQuestion, release: Release) -> tuple[Made, ListedDraws]:
    """Return a partitioner configured by the question, made by ``made``, and its draws."""
    draws = ListedDraws(question.draws)
    rack_aware = question.rack_aware and BuiltInPartitionerBehaviour.of(release).rack_aware
    return made(release, question.batch_size, draws, rack_aware, question.rack), draws


def taker(partitioner: BuiltInPartitioner, draws: ListedDraws) -> Take:
    """Return the function that takes a step with ``partitioner``."""

    def take(step: PeekStep | AppendStep | SendBytesStep | LoadStep, cluster: Cluster) -> Answer:
        if isinstance(step, LoadStep):
            return {"range_end": partitioner.load(step.queue_sizes, step.partition_ids, step.racks, step.length)}
        if isinstance(step, SendBytesStep):
            info = partitioner.peek(cluster)
            partitioner.update(info, step.bytes, cluster, step.enable_switch)
            return {"partition": info.partition}
        if isinstance(step, AppendStep):
            partitioner.update(partitioner.peek(cluster), step.bytes, cluster, step.enable_switch)
        return {"partition": partitioner.peek(cluster).partition, "drawn": draws.used}

    return take


def ask_of(made: Callable[..., BuiltInPartitioner], question: BuiltInPartitionerQuestion, release: Release) -> Answer:
    """Return the answer of a partitioner made by ``made``: the reference's own, or one with a mistake."""
    return play(question.cluster, question.steps, taker(*make(made, question, release)))
