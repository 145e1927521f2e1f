"""The kinds of ``round-robin-partitioner`` questions."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_conformance.rules.common.partitioner_steps import NewBatchStep
from kafka_conformance.rules.common.scripts import cluster_labels
from kafka_conformance.rules.round_robin_partitioner.question import RoundRobinQuestion, RoundRobinStep

__all__ = ["REQUIRED_LABELS", "labels", "path"]

REQUIRED_LABELS = frozenset(
    {"no partitions", "no leader", "some led", "all led", "the cluster changes", "several topics", "keyed"}
    | {"asked once", "asked again", "a batch of another topic"}
)


def _placed(question: RoundRobinQuestion) -> Iterator[tuple[RoundRobinStep, str | None]]:
    """Return each record with the topic of the batch announced since the record before it, if any."""
    announced = None
    for step in question.steps:
        if isinstance(step, NewBatchStep):
            announced = step.topic
        elif isinstance(step, RoundRobinStep):
            yield step, announced
            announced = None


def labels(question: RoundRobinQuestion) -> Iterator[str]:
    """Return the kinds of clusters and of calls in a question."""
    yield from cluster_labels(question.cluster, question.steps)
    for step, announced in _placed(question):
        if announced is None:
            yield "asked once"
        else:
            yield "asked again" if announced == step.topic else "a batch of another topic"
        if step.key is not None:
            yield "keyed"
    if len({step.topic for step, _ in _placed(question)}) > 1:
        yield "several topics"


def path(question: RoundRobinQuestion) -> str:
    """Return what releases differ in: whether the producer calls ``partition()`` a second time for a record."""
    return "asked again" if any(announced == step.topic for step, announced in _placed(question)) else "asked once"
