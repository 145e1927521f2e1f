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

from kafka_conformance.core.protocol import Hex, Question
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep
from kafka_conformance.rules.common.scripts import ClusterStep

__all__ = ["RoundRobinQuestion", "RoundRobinStep"]


class RoundRobinStep(Question, frozen=True, tag_field="op", tag="partition", omit_defaults=True):
    """Place a record (``Partitioner.partition``)."""

    topic: str
    """The topic of the record."""
    key: Hex | None = None
    """The serialized key, which has no effect; null: none."""


class RoundRobinQuestion(Question, frozen=True):
    """A script of calls on one partitioner. Nothing in it is random."""

    cluster: AskedCluster
    """The cluster at the first step."""
    steps: tuple[RoundRobinStep | NewBatchStep | ClusterStep, ...]
    """The calls, one after another."""
