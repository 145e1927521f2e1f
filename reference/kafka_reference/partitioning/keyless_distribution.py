"""How many records without a key reach each partition: the producer's loop around each release's partitioner.

A partitioner alone distributes nothing: it stays at a partition until the producer reports a new batch, or enough bytes.
So this is that loop, ``KafkaProducer.doSend`` and ``RecordAccumulator.append``, with one topic, one thread, batches
reduced to counts, and every record counting one byte:

- **Since 3.3.0, BuiltInPartitioner** (KIP-794). Peek; if no batch is open at that partition, report 0 bytes with the
  switch allowed, which completes a deferred switch, and start over if it switched; append; report the byte, with the
  switch allowed only if the batch is full now.
- **2.4.0 to 3.9.x, any other partitioner** (KIP-480; up to 3.2.x DefaultPartitioner is the default). Call
  ``partition()`` and append *if a batch is open there*. If none is, call ``onNewBatch(partition)``, call ``partition()``
  again, and append there whatever the result. The very first record is placed twice, since no batch is open: the
  partition chosen first gets nothing by it.
- **Other releases, any other partitioner.** Call ``partition()`` once for each record.

A batch is *open* until it is full, at ``batch_records`` records, or drained, that is, taken by the network thread.
Draining is given per partition as an age, ``drain_after``: None for never, otherwise a batch is drained before the record
that comes ``drain_after`` records after the one that opened it. **All records of the producer count**, whatever partition
they went to: the records are the clock. That is how ``linger.ms`` and a broker's pace behave in Kafka, where the age of
a batch is time; a clock per partition would stand still while records go elsewhere. (Only round robin shows the
difference: the other partitioners never leave an open batch behind, unless some records have a key.)

KAFKA-10888 shows here. With ``linger.ms=0`` a fast broker's batches are drained at once, a slow broker's wait and fill
up. The sticky partitioner switches when the next batch begins; every partition is visited equally often, and each visit
to the slow one takes more records. The slower, the more.

A batch size above 2^30-1 is rejected here: twice as much wraps to a negative int, BuiltInPartitioner then switches at
every report, those of 0 bytes included, and the loop never appends.

The exact shares that follow are in ``expected_distribution``.

Java source mirrored: ``KafkaProducer.doSend`` and ``RecordAccumulator.append``, every release,
https://github.com/apache/kafka/blob/3.9.2/clients/src/main/java/org/apache/kafka/clients/producer/KafkaProducer.java
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafka_reference.arguments import COUNT, checked, proven_by
from kafka_reference.behaviour import Behaviour
from kafka_reference.errors import QuestionError
from kafka_reference.java.thread_local_random import Draws
from kafka_reference.partitioning.behaviour import (
    BuiltInPartitionerBehaviour,
    DefaultPartitionerBehaviour,
    PartitionerBehaviour,
    RoundRobinPartitionerBehaviour,
    UniformStickyPartitionerBehaviour,
)
from kafka_reference.partitioning.builtin import BuiltInPartitioner
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import DefaultPartitioner, UniformStickyPartitioner
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner
from kafka_reference.releases import Release

__all__ = [
    "LARGEST_BATCH", "PARTITIONERS", "Batches", "Distribution", "check_arguments", "distribute", "load_queue_sizes",
    "partitioner_calls", "send_by_bytes", "send_by_one_call", "send_by_two_calls",
]  # fmt: skip

LARGEST_BATCH = 2**30 - 1
TOPIC = "t"
RECORD_OF: dict[str, type[Behaviour]] = {
    "default": DefaultPartitionerBehaviour,
    "uniform-sticky": UniformStickyPartitionerBehaviour,
    "round-robin": RoundRobinPartitionerBehaviour,
    "builtin": BuiltInPartitionerBehaviour,
}
PARTITIONERS = tuple(RECORD_OF)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Records by partition id, of the partitions that got any, and the number of switches.

    ``switches`` counts the calls of ``onNewBatch``, or the stays that BuiltInPartitioner ended; 0 where there is neither.
    """

    counts: dict[int, int]
    switches: int


class Batches:
    """The last batch of each partition: how many records it holds, and the number of the record that opened it."""

    def __init__(self, cluster: Cluster, batch_records: int, drain_after: Sequence[int | None] | None) -> None:
        ids = [partition.id for partition in cluster.partitions]
        self._full = batch_records
        self._drain_after = dict(zip(ids, drain_after or [None] * len(ids), strict=True))
        self._last: dict[int, tuple[int, int]] = {}
        self.counts: dict[int, int] = {}

    def is_open(self, partition: int, now: int) -> bool:
        """Return whether record number ``now``, counted from 0, finds a batch with room."""
        if partition not in self._last:
            return False
        held, opened = self._last[partition]
        drained = self._drain_after.get(partition)
        return held < self._full and (drained is None or now - opened < drained)

    def append(self, partition: int, now: int) -> bool:
        """Put record number ``now`` there, into a new batch if need be; return whether the batch is full with it."""
        held, opened = self._last[partition] if self.is_open(partition, now) else (0, now)
        self._last[partition] = held + 1, opened
        self.counts[partition] = self.counts.get(partition, 0) + 1
        return held + 1 >= self._full


@checked(records=COUNT, batch_records=COUNT, version=proven_by("sticky-distribution"))
def distribute(
    partitioner: str,
    version: str | Release,
    cluster: Cluster,
    draws: Draws,
    *,
    records: int,
    batch_records: int,
    drain_after: Sequence[int | None] | None = None,
    queue_sizes: Sequence[int] | None = None,
) -> Distribution:
    """Send ``records`` records without a key. ``partitioner`` is one of :data:`PARTITIONERS`.

    ``drain_after`` (an age in records) and ``queue_sizes`` (batches), if given, hold one entry for each partition of
    the cluster, in its order. The queue sizes are loaded once, before the first record; only BuiltInPartitioner uses
    them.

    Raises NotInThisRelease if the release lacks the partitioner; what the partitioner raises for a topic without
    partitions; QuestionError for arguments out of range. Mirrors ``KafkaProducer.doSend``.
    """
    check_arguments(partitioner, version, cluster, batch_records, drain_after, queue_sizes)
    batches = Batches(cluster, batch_records, drain_after)
    if partitioner == "builtin":
        built_in = BuiltInPartitioner(version, batch_records, draws)
        load_queue_sizes(built_in, cluster, queue_sizes)
        return Distribution(batches.counts, send_by_bytes(built_in, cluster, batches, records))
    place, on_new_batch = partitioner_calls(partitioner, version, cluster, draws)
    if PartitionerBehaviour.of(version).has_on_new_batch:
        return Distribution(batches.counts, send_by_two_calls(place, on_new_batch, batches, records))
    return Distribution(batches.counts, send_by_one_call(place, batches, records))


def send_by_one_call(place: Callable[[], int], batches: Batches, records: int) -> int:
    """Run the loop without ``onNewBatch``; return 0, since there are no switches."""
    for now in range(records):
        batches.append(place(), now)
    return 0


def send_by_two_calls(
    place: Callable[[], int], on_new_batch: Callable[[int], None], batches: Batches, records: int
) -> int:
    """Run the loop of KIP-480; return how many batches were announced."""
    switches = 0
    for now in range(records):
        partition = place()
        if not batches.is_open(partition, now):
            on_new_batch(partition)
            switches += 1
            partition = place()
        batches.append(partition, now)
    return switches


def send_by_bytes(partitioner: BuiltInPartitioner, cluster: Cluster, batches: Batches, records: int) -> int:
    """Run the loop of KIP-794; return how many stays were ended."""
    switches = 0
    for now in range(records):
        while True:
            info = partitioner.peek(cluster)
            if not batches.is_open(info.partition, now):
                partitioner.update(info, 0, cluster, enable_switch=True)
            if not partitioner.is_changed(info):
                break
            switches += 1
        is_full = batches.append(info.partition, now)
        partitioner.update(info, 1, cluster, enable_switch=is_full)
        switches += partitioner.is_changed(info)
    return switches


def load_queue_sizes(partitioner: BuiltInPartitioner, cluster: Cluster, queue_sizes: Sequence[int] | None) -> None:
    """Load the queue sizes as the accumulator does: those of partitions without a leader are left out."""
    if queue_sizes is None:
        return
    led = [(size, p.id) for size, p in zip(queue_sizes, cluster.partitions, strict=True) if p.leader is not None]
    left_out = [0] * (len(queue_sizes) - len(led))
    sizes, ids = [size for size, _ in led], [partition for _, partition in led]
    partitioner.load([*sizes, *left_out], [*ids, *left_out], [None] * len(queue_sizes), len(led))


def partitioner_calls(
    partitioner: str, version: str | Release, cluster: Cluster, draws: Draws
) -> tuple[Callable[[], int], Callable[[int], None]]:
    """Return ``partition()`` and ``onNewBatch()`` of a new partitioner, any but the built-in one."""
    if partitioner == "round-robin":
        turns = RoundRobinPartitioner(version)
        return lambda: turns.partition(TOPIC, cluster), lambda previous: turns.on_new_batch(TOPIC, cluster, previous)
    made = DefaultPartitioner(version, draws) if partitioner == "default" else UniformStickyPartitioner(version, draws)
    return lambda: made.partition(TOPIC, None, cluster), lambda previous: made.on_new_batch(TOPIC, cluster, previous)


def check_arguments(
    partitioner: str,
    version: str | Release,
    cluster: Cluster,
    batch_records: int,
    drain_after: Sequence[int | None] | None,
    queue_sizes: Sequence[int] | None,
) -> None:
    """Raise NotInThisRelease or QuestionError, as :func:`distribute` does, for arguments out of range."""
    if partitioner not in RECORD_OF:
        raise QuestionError(f"unknown partitioner {partitioner!r}: expected one of {', '.join(PARTITIONERS)}")
    RECORD_OF[partitioner].of(version)
    if not 1 <= batch_records <= LARGEST_BATCH:
        raise QuestionError(f"batch_records is {batch_records}: expected 1 to {LARGEST_BATCH}")
    partitions = len(cluster.partitions)
    for name, given in (("drain_after", drain_after), ("queue_sizes", queue_sizes)):
        if given is not None and len(given) != partitions:
            raise QuestionError(
                f"{name} has {len(given)} entries: expected one for each of the {partitions} partitions"
            )
    if any(age is not None and age < 1 for age in drain_after or ()):
        raise QuestionError(
            "drain_after holds an age below 1: expected at least 1, since the opening record is in its batch"
        )
