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
    """The current partition?"""


class AppendStep(Question, frozen=True, tag_field="op", tag="append"):
    """Bytes appended to the current partition; ``enable_switch`` allows the switch at one batch size."""

    bytes: Int32
    enable_switch: bool


class LoadStep(Question, frozen=True, tag_field="op", tag="load", omit_defaults=True):
    """How many batches wait for each partition, of which the first ``length`` count. None: no statistics."""

    queue_sizes: tuple[Int32, ...] | None
    partition_ids: tuple[Int32, ...] = ()
    racks: tuple[str | None, ...] | None = None
    length: Int32 = 0


class BuiltInPartitionerQuestion(Question, frozen=True):
    """A configuration, a cluster, a script, and its draws, one for each choice of a partition."""

    batch_size: Int32
    cluster: AskedCluster
    draws: tuple[Int32, ...]
    steps: tuple[PeekStep | AppendStep | LoadStep | ClusterStep, ...]
    rack_aware: bool = False
    rack: str = ""
