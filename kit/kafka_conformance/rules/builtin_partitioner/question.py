"""The question of ``builtin-partitioner``: a configuration, a cluster, draws, and the steps to take.

::

    {"batch_size": 16384, "rack_aware": false, "rack": "", "cluster": C, "draws": [int32, …], "steps": [
        {"op": "peek"},                                          {"partition": 2, "drawn": 1}
        {"op": "append", "bytes": 900, "enable_switch": true},   {"partition": 2, "drawn": 1}
        {"op": "load", "queue_sizes": [0, 3, 1], "partition_ids": [0, 1, 2], "racks": ["a", "a", "b"], "length": 3},
                                                                 {"range_end": 8}
        {"op": "load", "queue_sizes": null},                     {"range_end": null}: there are no statistics
        {"op": "cluster", "cluster": C}]}                        {}

``append`` peeks and then reports the bytes. The partition of an answer is the one after the step; ``drawn`` counts the
draws used so far, those of steps that threw included, and so distinguishes a switch to the same partition from none.

Up to 4.3.x there are no racks, and what a question says about them is ignored. A batch size below 1 is an exception since
3.3.2, which is then the whole answer.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.common.scripts import ClusterStep

__all__ = ["AppendStep", "BuiltInPartitionerQuestion", "LoadStep", "PeekStep"]


class PeekStep(Question, frozen=True, tag_field="op", tag="peek"):
    """Return the current partition, chosen now if there is none (``peekCurrentPartitionInfo``)."""


class AppendStep(Question, frozen=True, tag_field="op", tag="append"):
    """Peek, then report appended bytes (``updatePartitionInfo``). The answer is the partition after that."""

    bytes: Int32
    """Bytes appended to the current partition."""
    enable_switch: bool
    """Whether the partitioner may switch at one batch size. At two batch sizes it switches in any case."""


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """Load queue sizes (``updatePartitionLoadStats``)."""

    queue_sizes: tuple[Int32, ...] | None
    """The number of batches that wait for each partition; null: no statistics."""
    partition_ids: tuple[Int32, ...] = ()
    """The partitions that these queues belong to."""
    racks: tuple[str | None, ...] | None = None
    """The racks of the leaders of these partitions, since 4.4.0; null: unknown."""
    length: Int32 = 0
    """How many entries count; those after them are left out."""


class BuiltInPartitionerQuestion(Question, frozen=True):
    """A configuration, a cluster, a script of calls on one partitioner, and its draws."""

    batch_size: Int32
    """The sticky batch size in bytes: ``batch.size`` of the producer."""
    cluster: AskedCluster
    """The cluster at the first step."""
    draws: tuple[Int32, ...]
    """The random draws, one for each choice of a partition."""
    steps: tuple[PeekStep | AppendStep | LoadStep | ClusterStep, ...]
    """The calls, one after another."""
    rack_aware: bool = False
    """``partitioner.rack.aware``, since 4.4.0; it has no effect before."""
    rack: str = ""
    """``client.rack``; it has no effect before 4.4.0."""
