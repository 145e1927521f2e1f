"""The state of an accumulator, shared by the modules that each hold one part of its rules.

Since 3.3.0 queues are kept in one map of topics, each with a map by partition and a partitioner; up to 3.2.x in one map by
topic and partition. All are CopyOnWriteMaps, and the order in which they are walked shows: once a node is ready, the waits
of its other partitions are not counted; load statistics and expired batches come in that order.

A queue is made by the first append that names its partition, even if that append then throws, and stays until everything is
aborted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec, Self

from kafka_reference.accumulator.backoff import Backoff
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.behaviour import RecordAccumulatorBehaviour
from kafka_reference.accumulator.chunks import create_memory
from kafka_reference.accumulator.compression import ExpectedRatios
from kafka_reference.accumulator.reasons import Reason
from kafka_reference.accumulator.sequences import Sequences
from kafka_reference.arguments import ALLOCATIONS, SETTINGS, checked, proven_by
from kafka_reference.java.hash_maps import CopyOnWriteMap, partition_hash, string_hash
from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.behaviour import BuiltInPartitionerBehaviour
from kafka_reference.partitioning.builtin import BuiltInPartitioner, LoadTable, StickyPartitionInfo
from kafka_reference.producer_config import parse_settings
from kafka_reference.releases import NEWEST, Release

__all__ = ["AccumulatorConfig", "AccumulatorState", "NodeLatency", "Queue", "TopicInfo"]

Queue = deque[Batch]
P = ParamSpec("P")


@checked(settings=SETTINGS, allocation=ALLOCATIONS, version=proven_by("record-accumulator"))
@dataclass(frozen=True, slots=True)
class AccumulatorConfig:
    """The producer's configuration. ``delivery_timeout_ms`` is ``request.timeout.ms`` up to 2.0.x.

    ``ratio`` is the compression ratio expected at first, ``achieved_per_mille`` what the codec makes of each batch (see
    ``compression``), ``allocation`` "full" or "incremental" (see ``chunks``).

    >>> AccumulatorConfig.of({"batch.size": "100"}).batch_size
    100
    """

    batch_size: int
    linger_ms: int
    retry_backoff_ms: int
    retry_backoff_max_ms: int
    delivery_timeout_ms: int
    buffer_memory: int
    adaptive: bool
    availability_timeout_ms: int
    rack_aware: bool = False
    rack: str = ""
    compression: str = "none"
    ratio: float = 1.0
    achieved_per_mille: tuple[int, ...] = ()
    allocation: str = "full"

    # unreached: for users of the library
    @classmethod
    def of(cls, settings: Mapping[str, object], version: str | Release = NEWEST) -> Self:
        """Return what a producer of release ``version`` with these settings, by Kafka's names, gives its accumulator.

            >>> AccumulatorConfig.of({"linger.ms": "20"}).linger_ms, AccumulatorConfig.of({}, "3.9.1").linger_ms
            (20, 0)

        Unset settings have Kafka's defaults. Raises ConfigException, with Kafka's text, for an invalid value, and ValueError
        for a name with underscores. Up to 2.0.x ``request.timeout.ms`` takes the place of ``delivery.timeout.ms``.
        """
        values: dict[str, Any] = parse_settings(settings, version)
        return cls(
            batch_size=values["batch.size"],
            linger_ms=values["linger.ms"],
            retry_backoff_ms=values["retry.backoff.ms"],
            retry_backoff_max_ms=values.get("retry.backoff.max.ms", values["retry.backoff.ms"]),
            delivery_timeout_ms=values.get("delivery.timeout.ms", values["request.timeout.ms"]),
            buffer_memory=values["buffer.memory"],
            adaptive=values.get("partitioner.adaptive.partitioning.enable", False),
            availability_timeout_ms=values.get("partitioner.availability.timeout.ms", 0),
            rack_aware=values.get("partitioner.rack.aware", False),
            rack=values.get("client.rack", ""),
            compression=values["compression.type"],
        )


@dataclass(slots=True)
class NodeLatency:
    """When a node last had batches ready, and when it last could take them."""

    ready_ms: int
    drain_ms: int


class TopicPartitioner(BuiltInPartitioner):
    """A topic's partitioner whose statistics and current stay can be read."""

    @property
    def table(self) -> LoadTable | None:
        """The load statistics, if there are any."""
        return self._table

    @property
    def stay(self) -> StickyPartitionInfo | None:  # unreached: for timelines
        """The current partition, if one is chosen."""
        return self._current


@dataclass(slots=True)
class TopicInfo:
    """A topic's queues and its partitioner."""

    partitioner: TopicPartitioner
    queues: CopyOnWriteMap[int, Queue] = field(default_factory=lambda: CopyOnWriteMap(lambda partition: partition))


class AccumulatorState:
    """Everything that changes: ``now_ms`` is the clock, ``batches`` are all batches ever made, by number.

    ``reasons`` is None, or a list to which decisions are noted; see ``reasons``.
    """

    def __init__(self, release: Release, config: AccumulatorConfig, draws: DrawSource, sequences: Sequences) -> None:
        self.release, self.config, self.draws, self.sequences = release, config, draws, sequences
        self.behaviour = RecordAccumulatorBehaviour.of(release)
        self.memory = create_memory(
            release, config.buffer_memory, config.batch_size, config.compression, config.allocation
        )
        self.pool = self.memory.pool
        self.expected_ratios = ExpectedRatios(release, config.compression, config.ratio, config.achieved_per_mille)
        first_ms, max_ms = config.retry_backoff_ms, config.retry_backoff_max_ms
        self.backoff = Backoff(first_ms, max_ms, draws, exponential=self.behaviour.exponential_backoff)
        self.topics: CopyOnWriteMap[str, TopicInfo] = CopyOnWriteMap(string_hash)
        self.flat: CopyOnWriteMap[tuple[str, int], Queue] = CopyOnWriteMap(partition_hash)
        self.batches: list[Batch] = []
        self.incomplete: set[Batch] = set()
        self.latencies: dict[int, NodeLatency] = {}
        self.drain_index, self.drain_indices = 0, dict[int, int]()
        self.now_ms, self.flushes, self.closed = 0, 0, False
        self._muted: dict[tuple[str, int], int | None] = {}
        self.reasons: list[Reason] | None = None

    def note(self, reason: Callable[P, Reason], *terms: P.args, **named: P.kwargs) -> None:
        """Note ``reason`` with its terms, if the caller asked for reasons."""
        if self.reasons is not None:  # unreached: for timelines
            self.reasons.append(reason(*terms, **named))

    def topic(self, name: str) -> TopicInfo:
        """Return a topic, made if need be."""
        return self.topics.get_or_put(name, self._new_topic)

    def _new_topic(self) -> TopicInfo:
        rack_aware = self.config.rack_aware and BuiltInPartitionerBehaviour.of(self.release).rack_aware
        return TopicInfo(
            TopicPartitioner(self.release, self.config.batch_size, self.draws, rack_aware, self.config.rack)
        )

    def queue(self, topic_partition: tuple[str, int]) -> Queue:
        """Return a partition's queue, made if need be. Mirrors ``getOrCreateDeque``."""
        if self.behaviour.chooses_partition:
            topic, partition = topic_partition
            return self.topic(topic).queues.get_or_put(partition, Queue)
        return self.flat.get_or_put(topic_partition, Queue)

    def find_queue(self, topic_partition: tuple[str, int]) -> Queue | None:
        """Return a partition's queue, or None. Mirrors ``getDeque``."""
        if not self.behaviour.chooses_partition:
            return self.flat.get(topic_partition)
        topic = self.topics.get(topic_partition[0])
        return None if topic is None else topic.queues.get(topic_partition[1])

    def queues(self) -> Iterator[tuple[tuple[str, int], Queue]]:
        """Yield all queues, in Java's order."""
        yield from self.flat.items()
        for name, topic in self.topics.items():
            for partition, queue in topic.queues.items():
                yield (name, partition), queue

    def forget_queues(self) -> None:
        """Drop queues and partitioners; drain indices and latencies stay."""
        self.topics.clear()
        self.flat.clear()

    def close_for_appends(self, batch: Batch) -> None:
        """Take no more records into the batch. Mirrors ``closeForRecordAppends``, in 0.10 ``MemoryRecords.close``."""
        if self.behaviour.builds_full_batches:
            self.close(batch)
        elif not self.behaviour.keeps_full_batches_open:
            batch.close_for_appends()
            self.memory.trim(batch)

    def close(self, batch: Batch) -> None:
        """Build the batch and observe its ratio. Raises as ``Batch.close``. Mirrors ``ProducerBatch.close``."""
        again = batch.closed
        batch.close()
        self.set_ratio(self.expected_ratios.observe(batch, again))
        self.memory.trim(batch)

    def set_ratio(self, ratio: float | None) -> None:
        """Estimate all open batches by this ratio from now on, unless it is None."""
        if ratio is not None:
            for batch in self.incomplete:
                batch.size.ratio = ratio

    def mute(self, topic_partition: tuple[str, int]) -> None:
        """Stop sending from this partition. Mirrors ``mutePartition``."""
        self._muted[topic_partition] = None

    def unmute(self, topic_partition: tuple[str, int], throttle_ms: int | None) -> None:
        """Send from this partition again, from 2.0.0 to 2.5.x after the throttle. Mirrors ``unmutePartition``.

        None means no throttle, also while the clock stands at an earlier time (see ``sender``).
        """
        self._muted.pop(topic_partition, None)
        if self.behaviour.throttles_muted_partitions and throttle_ms is not None:
            self._muted[topic_partition] = self.now_ms + throttle_ms

    @property
    def muted(self) -> dict[tuple[str, int], int | None]:  # unreached: for timelines
        """The partitions that are muted now, and until when; None for until they are unmuted."""
        return {partition: until for partition, until in self._muted.items() if self.is_muted(partition)}

    def is_muted(self, topic_partition: tuple[str, int]) -> bool:
        """Return whether nothing is sent from this partition now. Mirrors ``isMuted``."""
        if topic_partition not in self._muted:
            return False
        until = self._muted[topic_partition]
        return until is None or until > self.now_ms
