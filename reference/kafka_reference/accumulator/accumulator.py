"""RecordAccumulator: records wait in batches, in a queue for each partition, until they are sent.

**Append.** A record goes into the last batch of its partition's queue if that has room. If not, that batch is closed for
appends, and a new one is made behind it, for which memory is taken from the pool; if the pool has none, the old batch still
stays closed. The result says whether the batch is now full, or not the only one: then the sender is woken.

**The partition** may be chosen here since 3.3.0, by the topic's built-in partitioner, which receives the bytes afterwards
(the batch's growth; all of it for a new batch, with its 61 bytes). It may leave its partition for another only while the
partition's last batch is full or gone. If it wanted to before, it does so at the next append, before the record is added,
and the append begins again with the next partition. The same happens after memory has been allocated, as closing the last
batch made it full. Without a partition to go on to, ArithmeticException is thrown, with the record in its batch.

**Closed**, the accumulator takes no records: KafkaException since 2.0.0, IllegalStateException up to 1.1.x.

**Queued again**, a batch goes to the front of its queue, as do the pieces of a split batch, in order; see ``reenqueue``.

**Expiry** takes from the front of every queue what has expired, up to the first batch that has not. Since 2.1.0 it goes by
``delivery.timeout.ms``, and the next expiry is the earliest among the batches then first. Up to 2.0.x it goes by
``request.timeout.ms`` (see ``batches``), muted partitions excepted; 0.10 also gives the memory back then.

**Aborting** ends all batches that are not completed, gives back their memory, and drops the queues. Since 3.9.2, 4.0.2,
4.1.2 and 4.2.0 a batch in flight keeps its memory until it is answered (KAFKA-19012). Aborting what was not drained, since
0.11.0.0, ends batches that are not closed; one that was queued again is closed, and stays. With an idempotent producer,
since 1.0.0, it ends those without a sequence.

**Compression** and the **memory** of a batch have separate modules: ``compression`` and ``chunks``.

**An idempotent producer** (see ``sequences``) is a parameter: it receives every batch that is drained, acknowledged, failed,
or split, and decides which may be drained. ``ready`` does not consult it.

Java source mirrored: ``RecordAccumulator.append``, ``ready``, ``drain``, ``reenqueue``, ``splitAndReenqueue``,
``expiredBatches``, ``deallocate``, ``abortBatches``, every release, without transactions.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from kafka_reference.accumulator.batches import Batch, BatchState, split
from kafka_reference.accumulator.drain import drain
from kafka_reference.accumulator.endless import end_endless
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.readiness import Ready, ready
from kafka_reference.accumulator.reasons import BatchNeeded, StickyUpdate
from kafka_reference.accumulator.reenqueue import put_back, track_pieces
from kafka_reference.accumulator.sequences import NO_SEQUENCES, Sequences
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import AccumulatorConfig, AccumulatorState, NodeLatency, Queue
from kafka_reference.arguments import INT32, SETTINGS, checked, proven_by
from kafka_reference.errors import IllegalStateException, KafkaException, NotInThisRelease
from kafka_reference.java.thread_local_random import Draws, draw_source
from kafka_reference.partitioning.builtin import LoadTable, StickyPartitionInfo
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["Appended", "Failure", "RecordAccumulator"]


class Failure(enum.Enum):
    """Why a batch failed for good.

    >>> Failure("expired")
    <Failure.EXPIRED: 'expired'>
    """

    EXHAUSTED = "exhausted"
    """There are no retries left."""
    EXPIRED = "expired"
    """Its time is over."""
    REFUSED = "refused"
    """The broker refused it with an error that is not retriable, and there were retries left."""


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a record went; ``bytes`` is what the partitioner received, None before 3.3.0.

    >>> Appended(partition=0, batch_full=False, new_batch=True, bytes=170).partition
    0
    """

    partition: int
    batch_full: bool
    new_batch: bool
    bytes: int | None


@checked(config=SETTINGS, partition=INT32, version=proven_by("record-accumulator"))
class RecordAccumulator:
    """The accumulator of release ``version``. ``now_ms`` is its clock; batches are numbered in the order they are made.

    ``config`` has a producer's settings by Kafka's names, None for Kafka's defaults (see :meth:`AccumulatorConfig.of`);
    ``draws`` gives the random int32 it uses, None random ones; ``sequences`` is the idempotent producer, if it is one.

        >>> from kafka_reference.accumulator import Metadata, SizedRecord
        >>> accumulator, metadata = RecordAccumulator(config={"linger.ms": "5"}), Metadata()
        >>> accumulator.append("t", 0, SizedRecord(value=100), metadata).new_batch
        True
        >>> accumulator.ready(metadata).delay_ms
        5
        >>> accumulator.now_ms += 5
        >>> accumulator.drain(metadata, accumulator.ready(metadata).nodes, max_size=1048576)
        [<Batch 0 of t-0: 1 record, 170 bytes, drained>]

    Raises ConfigException, with Kafka's text, for an invalid setting.
    """

    def __init__(
        self,
        version: str | Release = NEWEST,
        config: AccumulatorConfig | Mapping[str, object] | None = None,
        draws: Draws = None,
        sequences: Sequences = NO_SEQUENCES,
    ) -> None:
        if not isinstance(config, AccumulatorConfig):  # unreached: for users of the library
            config = AccumulatorConfig.of(config or {}, version)
        self.state = AccumulatorState(parse_release(version), config, draw_source(draws), sequences)

    def __repr__(self) -> str:  # unreached: for users of the library
        state = self.state
        return f"<RecordAccumulator {state.release} at {state.now_ms} ms: {len(state.incomplete)} incomplete batches>"

    @property
    def now_ms(self) -> int:
        """The time, in milliseconds; set it to let time pass."""
        return self.state.now_ms

    @now_ms.setter
    def now_ms(self, now_ms: int) -> None:  # unreached: for users of the library
        self.state.now_ms = now_ms

    def append(self, topic: str, partition: int | None, record: SizedRecord, metadata: Metadata) -> Appended:
        """Add a record to this partition, or to a chosen one if ``partition`` is None. Mirrors ``append``.

        Raises IllegalStateException or KafkaException if closed; as ``BufferPool.allocate``; for a partition to choose, as
        ``BuiltInPartitioner.next_partition``, and NotInThisRelease before 3.3.0; NeverReturns where Kafka's append would
        not return (:mod:`.endless`).
        """
        state = self.state
        if not state.behaviour.chooses_partition:
            if partition is None:
                release = state.release
                raise NotInThisRelease(
                    f"Kafka {release} chooses partitions before the accumulator: expected 3.3.0 or later"
                )
            return self._append_to((topic, partition), record)
        info, cluster, buffer = state.topic(topic), metadata.topic_cluster(topic), None
        try:
            while True:
                stay = info.partitioner.peek(cluster) if partition is None else None
                topic_partition = topic, stay.partition if stay is not None else partition or 0
                queue = state.queue(topic_partition)
                if self._partition_changed(topic, stay, queue, metadata):
                    continue
                appended = self._try_append(topic_partition, queue, record)
                if appended is None and self._grow(queue, record):
                    continue
                if appended is None:
                    buffer = state.memory.take(record) if buffer is None else buffer
                    if self._partition_changed(topic, stay, queue, metadata):
                        continue
                    appended, buffer = self._append_new(topic_partition, queue, record, buffer), None
                may_switch = _all_full(queue)
                info.partitioner.update(stay, appended.bytes or 0, cluster, may_switch)
                self._note_stay(topic, stay, may_switch)
                return appended
        finally:
            if buffer is not None:
                state.memory.give_back(buffer)

    def append_to_open_batch(self, topic: str, partition: int, record: SizedRecord) -> Appended | None:
        """Take a record for this partition, unless that needs a new batch: None then, and the last batch is closed.

        Raises as :meth:`append` if closed. Mirrors ``append`` with ``abortOnNewBatch``, 2.4.0 to 3.9.x.
        """
        topic_partition = topic, partition
        return self._try_append(topic_partition, self.state.queue(topic_partition), record)

    def _append_to(self, topic_partition: tuple[str, int], record: SizedRecord) -> Appended:
        queue = self.state.queue(topic_partition)
        appended = self._try_append(topic_partition, queue, record)
        if appended is None:
            appended = self._append_new(topic_partition, queue, record, self.state.memory.take(record))
        return appended

    def _grow(self, queue: Queue, record: SizedRecord) -> bool:
        """Give the last batch the memory it lacks for the record, or close it, and return whether it lacked any."""
        lacking = self.state.memory.lacking(queue[-1], record) if queue else 0
        if lacking and not self.state.memory.extend(queue[-1], lacking):
            self.state.close_for_appends(queue[-1])
        return lacking > 0

    @end_endless
    def _partition_changed(
        self, topic: str, stay: StickyPartitionInfo | None, queue: Queue, metadata: Metadata
    ) -> bool:
        """Return whether the partitioner switched partitions, if it may now. Mirrors ``partitionChanged``."""
        partitioner = self.state.topic(topic).partitioner
        if _all_full(queue):
            partitioner.update(stay, 0, metadata.topic_cluster(topic))
        changed = partitioner.is_changed(stay)
        if changed:
            self._note_stay(topic, stay, True)
        return changed

    def _note_stay(self, topic: str, stay: StickyPartitionInfo | None, may_switch: bool) -> None:
        if stay is not None and self.state.reasons is not None:  # unreached: for timelines
            switched = self.state.topic(topic).partitioner.is_changed(stay)
            terms = stay.produced, self.state.config.batch_size, may_switch, switched
            self.state.note(StickyUpdate, topic, stay.partition, *terms)

    def _try_append(self, topic_partition: tuple[str, int], queue: Queue, record: SizedRecord) -> Appended | None:
        """Add the record to the last batch; without room, close that and return None. Mirrors ``tryAppend``."""
        state = self.state
        if state.closed:
            raises_kafka_exception = state.behaviour.append_when_closed_raises_kafka_exception
            raise KafkaException if raises_kafka_exception else IllegalStateException
        if not queue:
            state.note(BatchNeeded, topic_partition, None, 0, False)
            return None
        last = queue[-1]
        if state.memory.lacking(last, record):
            return None
        before = last.estimated
        if not last.try_append(record, state.now_ms):
            state.note(BatchNeeded, topic_partition, last.number, before, last.full)
            state.close_for_appends(last)
            return None
        return self._appended(topic_partition, queue, last.estimated - before, False)

    def _append_new(self, topic_partition: tuple[str, int], queue: Queue, record: SizedRecord, buffer: int) -> Appended:
        state, number = self.state, len(self.state.batches)
        compressed = state.expected_ratios.compressed(topic_partition[0], number)
        size = state.config.batch_size
        batch = Batch(state.release, topic_partition, number, state.now_ms, size, record, False, compressed)
        batch.buffer = buffer
        state.batches.append(batch)
        state.incomplete.add(batch)
        queue.append(batch)
        return self._appended(topic_partition, queue, batch.estimated, True)

    def _appended(self, topic_partition: tuple[str, int], queue: Queue, size: int, new: bool) -> Appended:
        full = len(queue) > 1 or queue[-1].full
        return Appended(topic_partition[1], full, new, size if self.state.behaviour.chooses_partition else None)

    def ready(self, metadata: Metadata) -> Ready:
        """Return the nodes that are ready, or when to look again. Mirrors ``ready``."""
        return ready(self.state, metadata)

    def drain(self, metadata: Metadata, nodes: Iterable[int], max_size: int) -> Sequence[Batch]:
        """Take batches for these nodes, up to ``max_size`` bytes each. Mirrors ``drain``.

        Raises ArithmeticException, NullPointerException, IllegalArgumentException.
        """
        return drain(self.state, metadata, nodes, max_size)

    def reenqueue(self, batch: Batch) -> None:
        """Queue a drained batch again. Raises IllegalStateException. Mirrors ``reenqueue``."""
        batch.mark_reenqueued(self.state.now_ms)
        put_back(self.state, batch)
        batch.in_flight, batch.state = False, BatchState.QUEUED

    def split(self, batch: Batch) -> Sequence[Batch]:
        """Queue a drained batch in pieces, and return them, numbered in the order of the queue.

        Raises IllegalStateException if the producer does not know the partition. Mirrors ``splitAndReenqueue``.
        """
        state = self.state
        halves = batch.is_piece and state.behaviour.halves_split_pieces
        size = max(batch.size.max_record_size, batch.estimated // 2) if halves else state.config.batch_size
        state.expected_ratios.observe_split(batch)
        codec = partial(state.expected_ratios.compressed, batch.topic_partition[0])
        pieces = split(state.release, batch, size, len(state.batches), codec)
        track_pieces(state, batch, pieces)
        for piece in reversed(pieces):
            put_back(state, piece)
        pieces = [one for one in state.queue(batch.topic_partition) if one in pieces]
        for piece in pieces:
            piece.number = len(state.batches)
            state.batches.append(piece)
        state.incomplete.update(pieces)
        self.complete(batch)
        return pieces

    def complete(self, batch: Batch) -> None:
        """Complete a batch and give its memory back. Mirrors ``deallocate``, later ``completeAndDeallocateBatch``."""
        batch.in_flight, batch.state = False, BatchState.DONE
        self.state.incomplete.discard(batch)
        if not batch.is_piece:
            self.state.memory.give_back(batch.buffer)

    def complete_in_flight(self, batch: Batch) -> None:
        """Complete a batch that is still in flight: its memory is kept until the answer. Mirrors ``completeBatch``."""
        self.state.incomplete.discard(batch)
        batch.state = BatchState.ABORTED_IN_FLIGHT

    def acknowledge(self, batch: Batch) -> None:
        """A batch that was sent is in the log. Raises IllegalStateException. Mirrors ``Sender.completeBatch``."""
        self.state.sequences.acknowledge(batch)
        self.complete(batch)

    def fail(self, batch: Batch, failure: Failure) -> None:
        """A batch failed for good. Raises IllegalStateException. Mirrors ``Sender.failBatch``."""
        self.state.sequences.fail(batch, failure is Failure.REFUSED)
        if failure is Failure.EXPIRED and batch.attempts:
            self.state.sequences.mark_unresolved(batch)
        self.complete(batch)

    def become(self, producer_id: int | None, epoch: int) -> None:
        """The producer, if it is idempotent, has another id or epoch, or None: no id."""
        self.state.sequences.become(producer_id, epoch)

    def expire(self) -> tuple[Sequence[Batch], int | None]:
        """Take out and return what has expired, and when the next batch will, or None. Mirrors ``expiredBatches``."""
        state, expired, expiries = self.state, list[Batch](), list[int]()
        by_delivery_timeout = state.behaviour.expires_by_delivery_timeout
        for topic_partition, queue in state.queues():
            if not by_delivery_timeout and state.is_muted(topic_partition):
                continue
            last = queue[-1] if queue else None
            while queue and self._has_expired(queue[0], queue[0] is not last or queue[0].full):
                expired.append(queue.popleft())
                if state.behaviour.completes_expired_batches:
                    state.close(expired[-1])
            if queue and by_delivery_timeout:
                expiries.append(queue[0].created_ms + state.config.delivery_timeout_ms)
        for batch in expired:
            batch.state, batch.aborted = BatchState.EXPIRED, True
            state.memory.trim(batch)
            if state.behaviour.completes_expired_batches:
                self.complete(batch)
        return expired, min(expiries, default=None)

    def _has_expired(self, batch: Batch, full: bool) -> bool:
        state, config = self.state, self.state.config
        timeout_ms = config.delivery_timeout_ms
        if state.behaviour.expires_by_delivery_timeout:
            return timeout_ms <= state.now_ms - batch.created_ms
        return batch.outlived_request(timeout_ms, config.retry_backoff_ms, config.linger_ms, state.now_ms, full)

    def update_node_latency(self, node: int, can_drain: bool) -> None:
        """Record that a node has batches ready, and whether it can take them. Mirrors ``updateNodeLatencyStats``."""
        state = self.state
        if state.behaviour.chooses_partition and state.config.availability_timeout_ms > 0:
            latency = state.latencies.setdefault(node, NodeLatency(state.now_ms, state.now_ms))
            latency.ready_ms = state.now_ms
            if can_drain:
                latency.drain_ms = state.now_ms

    def load_table(self, topic: str) -> LoadTable | None:
        """Return the load statistics of a topic's partitioner, or None."""
        info = self.state.topics.get(topic)
        return None if info is None else info.partitioner.table

    def begin_flush(self) -> None:
        """Make everything sendable from here on. Mirrors ``beginFlush``."""
        self.state.flushes += 1

    def end_flush(self) -> None:
        """End a flush, once no batch is incomplete. Mirrors ``awaitFlushCompletion``."""
        self.state.flushes -= 1

    def close(self) -> None:
        """Take no more records. Mirrors ``close``."""
        self.state.closed = True
        self.state.pool.close()

    def abort(self) -> None:
        """End all batches that are not completed, and drop the queues. Mirrors ``abortIncompleteBatches``."""
        self.abort_batches()
        self.state.forget_queues()
        self.state.set_ratio(self.state.expected_ratios.reset())

    def abort_batches(self) -> None:
        """End all batches that are not completed. Mirrors ``abortBatches``."""
        self._abort(list(self.state.incomplete))

    def abort_undrained(self) -> None:
        """End all batches that were never drained. Mirrors ``abortUndrainedBatches``."""
        by_sequence = self.state.sequences.is_idempotent and self.state.behaviour.abort_undrained_by_sequence
        self._abort(
            batch
            for batch in list(self.state.incomplete)
            if (batch.sequence is None if by_sequence else not batch.closed)
        )

    def _abort(self, aborted: Iterable[Batch]) -> None:
        for batch in aborted:
            batch.aborted = True
            queue = self.state.find_queue(batch.topic_partition)
            if queue and batch in queue:
                queue.remove(batch)
            if batch.in_flight:
                self.complete_in_flight(batch)
            else:
                self.complete(batch)


def _all_full(queue: Queue) -> bool:
    return not queue or queue[-1].full
