"""The question of ``round-robin-partitioner``: a cluster and the steps to take.

::

    {"cluster": C, "steps": [
        {"op": "partition", "topic": "t"},                       a record is placed: {"partition": n}
        {"op": "new_batch", "topic": "t", "previous": 2},        it needs a new batch of that partition: {}
        {"op": "cluster", "cluster": C}]}                        from here on, this is the cluster: {}

A ``partition`` step may carry a ``"key"``, which must not matter. A producer that starts a batch calls ``partition()`` a
second time: that is ``new_batch`` and the next ``partition`` of the same topic. Up to 3.9.1 the counter moves for it, in
3.9.2 it does not. Since 4.0.0 there is no ``onNewBatch``: the step does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer, Hex, Int32, Question
from kafka_conformance.core.step import Scripts, Step, Weighted
from kafka_conformance.rules.common.clusters import AskedCluster, clusters, to_reference
from kafka_conformance.rules.common.domains import cluster_domain, nearest_cluster
from kafka_conformance.rules.common.partitioner_answers import PartitionAnswer
from kafka_conformance.rules.common.scripts import CHANGES, cluster_labels, renamed
from kafka_conformance.rules.common.step_text import bytes_in_words, cluster_in_words
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner

__all__ = [
    "ClusterChange",
    "History",
    "NewBatch",
    "RoundRobinQuestion",
    "RoundRobinStep",
    "announced_topic",
    "questions",
]


class History:
    """A partitioner, and the cluster that it is called with."""

    def __init__(self, partitioner: RoundRobinPartitioner, cluster: AskedCluster) -> None:
        self.partitioner = partitioner
        self.cluster = to_reference(cluster)


class RoundRobinStep(Step, frozen=True, tag="partition", omit_defaults=True):
    """Place a record (``Partitioner.partition``)."""

    topic: str
    """The topic of the record."""
    key: Hex | None = None
    """The serialized key, which has no effect; null: none."""

    answer = PartitionAnswer

    def take(self, history: History) -> Answer:
        return {"partition": history.partitioner.partition(self.topic, history.cluster)}

    @classmethod
    def weighted(cls) -> Iterator[Weighted]:
        yield 5, cls("t")
        yield 2, cls("u")
        yield 1, cls("t", "666f6f")
        yield 1, cls("u", "")

    def words(self) -> str:
        return f"a record to {self.topic}, {'no key' if self.key is None else f'key {bytes_in_words(self.key)}'}"

    def mark(self) -> str:
        return self.topic if self.key is None else f"{self.topic}, keyed"

    def labels(self, before: Sequence[Any]) -> Iterator[str]:
        announced = announced_topic(before)
        if announced is None:
            yield "asked once"
        else:
            yield "asked again" if announced == self.topic else "a batch of another topic"
        if self.key is not None:
            yield "keyed"
        topics = {step.topic for step in before if isinstance(step, RoundRobinStep)}
        if len(topics) == 1 and self.topic not in topics:  # the first record to a second topic
            yield "several topics"


class NewBatch(Step, frozen=True, tag="new_batch"):
    """Announce that a record needs a new batch (``Partitioner.onNewBatch``)."""

    topic: str
    """The topic of the record."""
    previous: Int32
    """The partition that the record was given."""

    def take(self, history: History) -> Answer:
        if history.partitioner.has_on_new_batch:
            history.partitioner.on_new_batch(self.topic, history.cluster, self.previous)
        return {}

    @classmethod
    def weighted(cls) -> Iterator[Weighted]:
        for topic, previous in (("t", 0), ("t", 1), ("u", 0), ("t", 5), ("t", -1), ("t", 2**31 - 1), ("v", 0)):
            yield 1, cls(topic, previous)

    def words(self) -> str:
        return f"a new batch is needed for {self.topic}-{self.previous}"

    def mark(self) -> str:
        return f"new batch, {self.topic}-{self.previous}"

    def domain(self, cluster: AskedCluster) -> str:
        known = 0 <= self.previous < len(cluster.partitions)
        return "" if known else "a new batch is announced for a partition of the topic"

    def nearest(self, cluster: AskedCluster) -> NewBatch:
        return NewBatch(self.topic, self.previous % len(cluster.partitions))


class ClusterChange(Step, frozen=True, tag="cluster"):
    """Replace the cluster from here on."""

    cluster: AskedCluster
    """The new cluster."""

    def take(self, history: History) -> Answer:
        history.cluster = to_reference(self.cluster)
        return {}

    @classmethod
    def weighted(cls) -> Iterator[Weighted]:
        for change in CHANGES.values():
            yield 1, cls._drawn_by(change)
        yield 1, lambda draw, _: cls(draw(_CLUSTERS))

    @classmethod
    def _drawn_by(cls, change: Callable[[AskedCluster], AskedCluster]) -> Callable[[Any, AskedCluster], ClusterChange]:
        return lambda _, first: cls(change(first))

    def cluster_after(self, cluster: AskedCluster) -> AskedCluster:  # noqa: ARG002 (the one before does not matter)
        return self.cluster

    def words(self) -> str:
        return f"the cluster becomes\n{cluster_in_words(self.cluster)}"

    def mark(self) -> str:
        return "cluster"

    def labels(self, before: Sequence[Any]) -> Iterator[str]:
        yield from cluster_labels(self.cluster, ())
        if not any(isinstance(step, ClusterChange) for step in before):
            yield "the cluster changes"

    def domain(self, cluster: AskedCluster) -> str:  # noqa: ARG002 (the one before does not matter)
        return cluster_domain(self.cluster)

    def nearest(self, cluster: AskedCluster) -> ClusterChange:  # noqa: ARG002 (the one before does not matter)
        return ClusterChange(nearest_cluster(self.cluster))


AnyStep: TypeAlias = RoundRobinStep | NewBatch | ClusterChange


class RoundRobinQuestion(Question, frozen=True):
    """A script of calls on one partitioner. Nothing in it is random."""

    cluster: AskedCluster
    """The cluster at the first step."""
    steps: tuple[AnyStep, ...]
    """The calls, one after another."""


def announced_topic(before: Sequence[Any]) -> str | None:
    """Return the topic of the batch announced since the last record; None if no batch was announced."""
    for step in reversed(before):
        if isinstance(step, NewBatch):
            return step.topic
        if isinstance(step, RoundRobinStep):
            return None
    return None


_CLUSTERS = clusters()
_SCRIPTS = Scripts(RoundRobinStep, NewBatch, ClusterChange, longest=24)


@st.composite
def questions(draw: st.DrawFn) -> RoundRobinQuestion:
    """Return scripts in which records and new batches of three topics meet changing clusters."""
    cluster = draw(_CLUSTERS)
    return RoundRobinQuestion(cluster, tuple(renamed(_SCRIPTS.draw(draw, cluster))))
