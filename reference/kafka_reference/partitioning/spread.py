"""What many records without a key come to: the producer's loop around each era's partitioner, batches reduced to counts.

A partitioner alone spreads nothing: it sticks until the producer says that a batch is begun, or that so many bytes were
appended. So here is that loop, ``KafkaProducer.doSend`` and ``RecordAccumulator.append``, with one topic, one thread,
and every record counting one byte:

================ =======================================================================================================
to 2.3.x         ``partition()``, once for each record.
2.4.0 – 3.9.x,   Ask ``partition()`` and append *if a batch is open there*. If none is, say ``onNewBatch(partition)``, ask
a partitioner    ``partition()`` again, and append there whatever the answer (KIP-480). To 3.2.x DefaultPartitioner is
that is set,     run by this loop though nobody set it.
or the default
3.3.0 on, none   BuiltInPartitioner (KIP-794): peek; if no batch is open at that partition, report 0 bytes with the switch
is set           allowed, which completes a switch that was put off, and begin again if it switched; append; report the
                 byte, the switch allowed only if the batch is full now.
4.0.0 on, one    ``partition()``, once for each record: ``onNewBatch`` is gone.
is set
================ =======================================================================================================

A batch is *open* until it is full, at ``batch_records`` records, or drained, that is, taken by the network thread.
Draining is given per partition as an age, ``drain_after``: None for never, else a batch is drained before the record that
comes so many records after the one that opened it. **All the producer's records count**, to whatever partition they
went: the records are the clock. That is how ``linger.ms`` and a broker's pace behave in Kafka, where a batch's age is
time. A clock for each partition would stand still while records go elsewhere. (Only round robin can tell the two apart:
the others never leave an open batch behind, unless there are records with a key among them.)

That tells KAFKA-10888 as it was. With ``linger.ms=0`` a quick broker's batches are drained as soon as they are there,
a slow broker's wait and fill up. The sticky partitioner leaves when the next batch begins; every partition is visited as
often as any other, and each visit to the slow one takes more records. The slower, the more it gets.

In 2.4.0 to 3.9.x the very first record is placed twice, since no batch is open: the partition that was chosen first gets
nothing by it.

A batch size above 2^30-1 is refused here. Twice as much wraps to a negative int, at which BuiltInPartitioner switches at
every report, the report of 0 bytes too: the loop above would never come to append.

What shares follow from all that, exactly, is in ``expected_spread``.

Java source mirrored: ``KafkaProducer.doSend`` and ``RecordAccumulator.append``, 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafka_reference.errors import NotInThisRelease, QuestionError
from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.builtin import PRESENT as BUILT_IN
from kafka_reference.partitioning.builtin import BuiltInPartitioner
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import PRESENT as DEFAULT
from kafka_reference.partitioning.default import REMOVED, STICKY, DefaultPartitioner, UniformStickyPartitioner
from kafka_reference.partitioning.round_robin import NO_NEW_BATCH, RoundRobinPartitioner
from kafka_reference.partitioning.round_robin import PRESENT as ROUND_ROBIN
from kafka_reference.releases import Release, parse_release

__all__ = [
    "LARGEST_BATCH", "PARTITIONERS", "Batches", "Spread", "by_bytes", "by_one_call", "by_two_calls", "checked", "load",
    "plugged", "spread",
]  # fmt: skip

PARTITIONERS = ("default", "uniform-sticky", "round-robin", "builtin")
LARGEST_BATCH = 2**30 - 1
TOPIC = "t"

_SINCE = {"default": DEFAULT, "uniform-sticky": STICKY, "round-robin": ROUND_ROBIN, "builtin": BUILT_IN}


@dataclass(frozen=True, slots=True)
class Spread:
    """Records by partition id, of those that got any; and how often the partitioner was moved on.

    ``switches`` counts the calls of ``onNewBatch``, or the stays BuiltInPartitioner ended; 0 where there is neither.
    """

    counts: dict[int, int]
    switches: int


class Batches:
    """The last batch of each partition: how many records are in it, and which record of the producer's opened it."""

    def __init__(self, cluster: Cluster, batch_records: int, drain_after: Sequence[int | None] | None) -> None:
        ids = [partition.id for partition in cluster.partitions]
        self._full = batch_records
        self._drain_after = dict(zip(ids, drain_after or [None] * len(ids), strict=True))
        self._last: dict[int, tuple[int, int]] = {}
        self.counts: dict[int, int] = {}

    def is_open(self, partition: int, now: int) -> bool:
        """Whether record ``now``, counted from 0, finds a batch that takes it."""
        if partition not in self._last:
            return False
        held, opened = self._last[partition]
        drained = self._drain_after.get(partition)
        return held < self._full and (drained is None or now - opened < drained)

    def append(self, partition: int, now: int) -> bool:
        """Put record ``now`` there, into a new batch if need be; whether the batch is full with it."""
        held, opened = self._last[partition] if self.is_open(partition, now) else (0, now)
        self._last[partition] = held + 1, opened
        self.counts[partition] = self.counts.get(partition, 0) + 1
        return held + 1 >= self._full


def spread(
    partitioner: str,
    version: str | Release,
    cluster: Cluster,
    draws: DrawSource,
    *,
    records: int,
    batch_records: int,
    drain_after: Sequence[int | None] | None = None,
    queue_sizes: Sequence[int] | None = None,
) -> Spread:
    """Send ``records`` records without a key. ``partitioner`` is one of :data:`PARTITIONERS`.

    ``drain_after`` and ``queue_sizes``, if given, hold one entry for each partition of the cluster, in its order. The
    queue sizes are loaded once, before the first record; only the built-in partitioner looks at them.

    Raises NotInThisRelease where the release lacks the partitioner; what the partitioner raises, for a topic without
    partitions; QuestionError for arguments that make no sense. Mirrors ``KafkaProducer.doSend``.
    """
    at = checked(partitioner, version, cluster, batch_records, drain_after, queue_sizes)
    batches = Batches(cluster, batch_records, drain_after)
    if partitioner == "builtin":
        built_in = BuiltInPartitioner(at, batch_records, draws)
        load(built_in, cluster, queue_sizes)
        return Spread(batches.counts, by_bytes(built_in, cluster, batches, records))
    place, on_new_batch = plugged(partitioner, at, cluster, draws)
    if at in STICKY and at not in NO_NEW_BATCH:
        return Spread(batches.counts, by_two_calls(place, on_new_batch, batches, records))
    return Spread(batches.counts, by_one_call(place, batches, records))


def by_one_call(place: Callable[[], int], batches: Batches, records: int) -> int:
    """The loop without ``onNewBatch``; there is no switch to be counted."""
    for now in range(records):
        batches.append(place(), now)
    return 0


def by_two_calls(place: Callable[[], int], on_new_batch: Callable[[int], None], batches: Batches, records: int) -> int:
    """The loop of KIP-480; how many batches were announced."""
    switches = 0
    for now in range(records):
        partition = place()
        if not batches.is_open(partition, now):
            on_new_batch(partition)
            switches += 1
            partition = place()
        batches.append(partition, now)
    return switches


def by_bytes(partitioner: BuiltInPartitioner, cluster: Cluster, batches: Batches, records: int) -> int:
    """The loop of KIP-794; how many stays were ended."""
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


def load(partitioner: BuiltInPartitioner, cluster: Cluster, queue_sizes: Sequence[int] | None) -> None:
    """Load the queue sizes as the accumulator does: those of partitions without a leader are left out."""
    if queue_sizes is None:
        return
    led = [(size, p.id) for size, p in zip(queue_sizes, cluster.partitions, strict=True) if p.leader is not None]
    left_out = [0] * (len(queue_sizes) - len(led))
    sizes, ids = [size for size, _ in led], [partition for _, partition in led]
    partitioner.load([*sizes, *left_out], [*ids, *left_out], [None] * len(queue_sizes), len(led))


def plugged(
    partitioner: str, at: Release, cluster: Cluster, draws: DrawSource
) -> tuple[Callable[[], int], Callable[[int], None]]:
    """``partition()`` and ``onNewBatch()`` of a new partitioner, as :func:`spread` calls them; not the built-in one."""
    if partitioner == "round-robin":
        turns = RoundRobinPartitioner(at)
        return lambda: turns.partition(TOPIC, cluster), lambda previous: turns.on_new_batch(TOPIC, cluster, previous)
    made = DefaultPartitioner(at, draws) if partitioner == "default" else UniformStickyPartitioner(at, draws)
    return lambda: made.partition(TOPIC, None, cluster), lambda previous: made.on_new_batch(TOPIC, cluster, previous)


def checked(
    partitioner: str,
    version: str | Release,
    cluster: Cluster,
    batch_records: int,
    drain_after: Sequence[int | None] | None,
    queue_sizes: Sequence[int] | None,
) -> Release:
    """The release, if the question makes sense in it. Raises NotInThisRelease and QuestionError, as :func:`spread`."""
    at = parse_release(version)
    if partitioner not in PARTITIONERS:
        raise QuestionError(f"there is no partitioner {partitioner}: name one of {', '.join(PARTITIONERS)}")
    if at not in _SINCE[partitioner] or (at in REMOVED and partitioner in ("default", "uniform-sticky")):
        raise NotInThisRelease(f"Kafka {at} has no {partitioner} partitioner")
    if not 1 <= batch_records <= LARGEST_BATCH:
        raise QuestionError(f"batch_records is {batch_records}: give 1 to {LARGEST_BATCH}")
    partitions = len(cluster.partitions)
    for name, given in (("drain_after", drain_after), ("queue_sizes", queue_sizes)):
        if given is not None and len(given) != partitions:
            raise QuestionError(f"{name} has {len(given)} entries: give one for each of the {partitions} partitions")
    if any(age is not None and age < 1 for age in drain_after or ()):
        raise QuestionError("drain_after holds an age below 1: a batch is there for the record that opens it")
    return at
