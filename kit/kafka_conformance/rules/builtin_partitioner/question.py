"""The question of ``builtin-partitioner``: a configuration, a cluster, draws, and the steps to take.

::

    {"batch_size": 16384, "rack_aware": false, "rack": "", "cluster": C, "draws": [int32, …], "steps": [
        {"op": "peek"},                                          {"partition": 2, "drawn": 1}
        {"op": "append", "bytes": 900, "enable_switch": true},   {"partition": 2, "drawn": 1}
        {"op": "send", "bytes": 900},                            {"partition": 2}
        {"op": "load", "queue_sizes": [0, 3, 1], "partition_ids": [0, 1, 2], "racks": ["a", "a", "b"], "length": 3},
                                                                 {"range_end": 8}
        {"op": "load", "queue_sizes": null},                     {"range_end": null}: there are no statistics
        {"op": "cluster", "cluster": C}]}                        {}

``append`` peeks and then reports the bytes. Its partition, and that of ``peek``, is the one after the step; ``drawn``
counts the draws used so far, those of steps that threw included, and so distinguishes a switch to the same partition
from none.

``send`` is a record of ``bytes`` bytes without a key, and its partition is the one that this record goes to.
``RecordAccumulator.append`` peeks, appends the record to the partition it got, and then reports the bytes. So the record
that crosses the limit still goes to the old partition, and the next record is the first one at the new partition: with a
batch size of 100, records of 60 bytes switch after every second record. ``enable_switch``, true if left out, is whether
all batches of the partition are full once the record is in; a client that switches by bytes alone is asked with true.
Before it appends, RecordAccumulator completes a switch that was not allowed earlier, if all batches are full by then.
That is a report of 0 bytes, the step ``append`` with 0 bytes and the switch allowed. It changes nothing after a ``send``
with the switch allowed, for batch sizes of 1 to 2^30 - 1; for all others RecordAccumulator would repeat it for ever.

Up to 4.3.x there are no racks, and what a question says about them is ignored. A batch size below 1 is an exception since
3.3.2, which is then the whole answer.
"""

from __future__ import annotations

from kafka_conformance.core.protocol import Int32, Question
from kafka_conformance.rules.common.clusters import AskedCluster
from kafka_conformance.rules.common.scripts import ClusterStep

__all__ = ["AppendStep", "BuiltInPartitionerQuestion", "LoadStep", "PeekStep", "SendBytesStep"]


class PeekStep(Question, frozen=True, tag_field="op", tag="peek"):
    """Return the current partition, chosen now if there is none (``peekCurrentPartitionInfo``)."""


class AppendStep(Question, frozen=True, tag_field="op", tag="append"):
    """Peek, then report appended bytes (``updatePartitionInfo``). The answer is the partition after that."""

    bytes: Int32
    """Bytes appended to the current partition."""
    enable_switch: bool
    """Whether the partitioner may switch at one batch size. At two batch sizes it switches in any case."""


class SendBytesStep(Question, frozen=True, tag_field="op", tag="send", omit_defaults=True):
    """Send a record without a key. The answer is the partition that this record goes to."""

    bytes: Int32
    """Bytes of the record, which count after it has been placed."""
    enable_switch: bool = True
    """Whether the partitioner may switch at one batch size: all batches of the partition are full with this record in."""


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
    steps: tuple[PeekStep | AppendStep | SendBytesStep | LoadStep | ClusterStep, ...]
    """The calls, one after another."""
    rack_aware: bool = False
    """``partitioner.rack.aware``, since 4.4.0; it has no effect before."""
    rack: str = ""
    """``client.rack``; it has no effect before 4.4.0."""
