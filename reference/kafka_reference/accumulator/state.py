"""What an accumulator is made of, for the modules that each hold one part of its rules.

Queues are one map by topic and partition to 3.2.x, and since 3.3.0 one map of topics, each with a map by partition and a
partitioner. Both are CopyOnWriteMaps, and the order in which they are walked shows: once a node is ready, what its other
partitions would have had to wait is not looked at; load statistics and expired batches come in that order.

A queue is made by the first append that asks for its partition, also if that append then raises, and stays until
everything is aborted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_reference.accumulator.backoff import Backoff, StepDraws
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.behaviour import RecordAccumulatorBehaviour
from kafka_reference.accumulator.chunks import memory_for
from kafka_reference.accumulator.compression import CLOSES_AT_ONCE, Expectations
from kafka_reference.accumulator.reasons import Reason
from kafka_reference.accumulator.sequences import SequenceTracker
from kafka_reference.java.hash_maps import CopyOnWriteMap, partition_hash, string_hash
from kafka_reference.partitioning.behaviour import BuiltInPartitionerBehaviour
from kafka_reference.partitioning.builtin import BuiltInPartitioner, LoadTable, StickyPartitionInfo
from kafka_reference.releases import Release, since

__all__ = ["CHOOSES", "AccumulatorConfig", "AccumulatorState", "NodeLatency", "Queue", "TopicInfo"]

CHOOSES = since("3.3.0")
THROTTLES = since("2.0.0", until="2.5.99")

Queue = deque[Batch]


@dataclass(frozen=True, slots=True)
class AccumulatorConfig:
    """The producer's configuration, as far as it matters here; ``delivery_timeout_ms`` is the request's up to 2.0.x."""

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


@dataclass(slots=True)
class NodeLatency:
    """When a node last had batches ready, and when it last could take them."""

    ready_ms: int
    drain_ms: int


class TopicPartitioner(BuiltInPartitioner):
    """A topic's partitioner, which shows its statistics and where it stays."""

    @property
    def table(self) -> LoadTable | None:
        """The statistics it goes by, if it has any."""
        return self._table

    @property
    def stay(self) -> StickyPartitionInfo | None:
        """The partition it is at, if it has chosen one."""
        return self._current


@dataclass(slots=True)
class TopicInfo:
    """A topic's queues and its partitioner."""

    partitioner: TopicPartitioner
    queues: CopyOnWriteMap[int, Queue] = field(default_factory=lambda: CopyOnWriteMap(lambda partition: partition))


class AccumulatorState:
    """Everything that changes."""

    def __init__(
        self, release: Release, config: AccumulatorConfig, draws: StepDraws, sequences: SequenceTracker
    ) -> None:
        self.release, self.config, self.draws, self.sequences = release, config, draws, sequences
        self.behaviour = RecordAccumulatorBehaviour.of(release)
        self.memory = memory_for(
            release, config.buffer_memory, config.batch_size, config.compression, config.allocation
        )
        self.pool = self.memory.pool
        self.expectations = Expectations(release, config.compression, config.ratio, config.achieved_per_mille)
        self.backoff = Backoff(release, config.retry_backoff_ms, config.retry_backoff_max_ms, draws)
        self.topics: CopyOnWriteMap[str, TopicInfo] = CopyOnWriteMap(string_hash)
        self.flat: CopyOnWriteMap[tuple[str, int], Queue] = CopyOnWriteMap(partition_hash)
        self.batches: list[Batch] = []
        self.incomplete: set[Batch] = set()
        self.latencies: dict[int, NodeLatency] = {}
        self.drain_index, self.drain_indices = 0, dict[int, int]()
        self.now_ms, self.flushes, self.closed = 0, 0, False
        self._muted: dict[tuple[str, int], int | None] = {}
        # Why what was decided, for who puts a list here; see ``reasons``.
        self.reasons: list[Reason] | None = None

    def topic(self, name: str) -> TopicInfo:
        """A topic, made if need be."""
        return self.topics.get_or_put(name, self._new_topic)

    def _new_topic(self) -> TopicInfo:
        rack_aware = self.config.rack_aware and BuiltInPartitionerBehaviour.of(self.release).rack_aware
        return TopicInfo(
            TopicPartitioner(self.release, self.config.batch_size, self.draws, rack_aware, self.config.rack)
        )

    def queue(self, of: tuple[str, int]) -> Queue:
        """A partition's queue, made if need be. Mirrors ``getOrCreateDeque``."""
        if self.release in CHOOSES:
            return self.topic(of[0]).queues.get_or_put(of[1], Queue)
        return self.flat.get_or_put(of, Queue)

    def queue_if_any(self, of: tuple[str, int]) -> Queue | None:
        """A partition's queue, if there is one. Mirrors ``getDeque``."""
        if self.release not in CHOOSES:
            return self.flat.get(of)
        topic = self.topics.get(of[0])
        return None if topic is None else topic.queues.get(of[1])

    def queues(self) -> Iterator[tuple[tuple[str, int], Queue]]:
        """All queues, in Java's order."""
        yield from self.flat.items()
        for name, topic in self.topics.items():
            for partition, queue in topic.queues.items():
                yield (name, partition), queue

    def forget_queues(self) -> None:
        """Queues and partitioners go; drain indices and latencies stay."""
        self.topics.clear()
        self.flat.clear()

    def close_for_appends(self, batch: Batch) -> None:
        """The batch takes no more records; to 0.10.2 that is the end of it. Mirrors ``closeForRecordAppends``."""
        if self.release in CLOSES_AT_ONCE:
            self.close(batch)
        else:
            batch.close_for_appends()
            self.memory.trim(batch)

    def close(self, batch: Batch) -> None:
        """The batch is built; one that cannot be is not observed either. Raises as it. Mirrors ``ProducerBatch.close``."""
        again = batch.closed
        batch.close()
        self.expect(self.expectations.see(batch, again))
        self.memory.trim(batch)

    def expect(self, ratio: float | None) -> None:
        """From now on, all open batches are estimated by this ratio, if it is one."""
        if ratio is not None:
            for batch in self.incomplete:
                batch.size.ratio = ratio

    def mute(self, of: tuple[str, int]) -> None:
        """Send nothing of this partition."""
        self._muted[of] = None

    def unmute(self, of: tuple[str, int], throttle_ms: int | None) -> None:
        """Send again; in 2.0 to 2.5, after the throttle, and the partition counts as muted until then.

        None is no throttle at all: that counts also where a clock that stood still says an earlier time (see ``sender``).
        """
        self._muted.pop(of, None)
        if self.release in THROTTLES and throttle_ms is not None:
            self._muted[of] = self.now_ms + throttle_ms

    @property
    def muted(self) -> dict[tuple[str, int], int | None]:
        """The partitions that are muted now, and until when, None for until they are unmuted."""
        return {of: until for of, until in self._muted.items() if self.is_muted(of)}

    def is_muted(self, of: tuple[str, int]) -> bool:
        """Whether nothing of this partition may be sent now."""
        if of not in self._muted:
            return False
        until = self._muted[of]
        return until is None or until > self.now_ms
