"""RecordAccumulator: where records wait, in batches, in a queue for each partition, until they are sent.

**Append.** A record goes into the last batch of its partition's queue if that has room. If not, that batch is closed for
appends, and a new one is made behind it, for which memory is taken from the pool; a pool that has none leaves the old
batch closed all the same. The answer says whether the batch is now full, or not the only one: then the sender is woken.

**The partition** may be chosen here since 3.3.0: the topic's built-in partitioner is asked, and told the bytes afterwards
(the batch's growth, all of it for a new batch, with its 61 bytes). It may leave its partition for another only while the
partition's last batch is full or gone; if it wanted to before, it does so at the next append, before the record is placed,
and the append begins again with the next partition. The same happens once memory is at hand, as closing the last batch
made it full. If there is no partition to go on to, ArithmeticException is raised, with the record in its batch.

**Closed**, the accumulator takes nothing: IllegalStateException to 1.1.x, KafkaException since 2.0.0.

**Coming back.** A batch to be sent again goes to the front of its queue. Pieces of a split batch go there too, in order.

**Expiry** takes from the front of every queue what has expired, up to the first that has not. Since 2.1.0 that goes by
``delivery.timeout.ms``, and the next expiry is the earliest among the batches then first; to 2.0.x by the request's
timeout (see ``batches``), muted partitions excepted. Only 0.10 also gives the memory back then.

**Aborting** ends all batches that are not done, wherever they are, gives back their memory, and forgets the queues. Since
3.9.2, 4.0.2, 4.1.2 and 4.2.0 the memory of a batch in flight is kept until it is answered (KAFKA-19012). Aborting what was
not drained, since 0.11.0.0, ends batches that are not closed for good; one that came back is, and stays. With an idempotent
producer, since 1.0.0, those end that have no sequence.

**Compression** and where the **memory** of a batch comes from have modules of their own: ``compressed`` and ``chunks``.

**With an idempotent producer** it is told of every batch that is drained, acknowledged, failed, or split, and says which
may go: see ``idempotence.client``, ``draining`` and ``returning``. ``ready`` knows nothing of that: only a transaction that
completes makes it hurry.

Java source mirrored: ``org.apache.kafka.clients.producer.internals.RecordAccumulator``, 0.10.0.1 to 4.4.0, without
transactions.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from kafka_reference.accumulator import batches
from kafka_reference.accumulator.backoff import StepDraws
from kafka_reference.accumulator.batches import Batch, split
from kafka_reference.accumulator.draining import drain
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.accumulator.readiness import Ready, ready
from kafka_reference.accumulator.reasons import Placed, Stay
from kafka_reference.accumulator.reenqueue import put_back, track_pieces
from kafka_reference.accumulator.sequences import NO_SEQUENCES, SequenceTracker
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.accumulator.state import CHOOSES, AccumulatorConfig, AccumulatorState, NodeLatency, Queue
from kafka_reference.errors import IllegalStateException, KafkaException, NotInThisRelease
from kafka_reference.partitioning.builtin import LoadTable, StickyPartitionInfo
from kafka_reference.releases import Release, parse_release, since

__all__ = ["AccumulatorConfig", "Appended", "Failure", "RecordAccumulator"]

RAISES_KAFKA_EXCEPTION = since("2.0.0")
SPLITS_SMALLER = since("4.2.0")


class Failure(enum.Enum):
    """Why a batch failed for good."""

    EXHAUSTED = "exhausted"  # there are no retries left
    EXPIRED = "expired"  # its time is over
    REFUSED = "refused"  # the broker will never take it, and there were retries left


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a record went; ``bytes`` is what the partitioner was told, None before 3.3.0."""

    partition: int
    batch_full: bool
    new_batch: bool
    bytes: int | None


class RecordAccumulator:
    """The accumulator of a release. ``state.now_ms`` is its clock; batches go by their number, in order of making."""

    def __init__(
        self,
        version: str | Release,
        config: AccumulatorConfig,
        draws: StepDraws | None = None,
        sequences: SequenceTracker = NO_SEQUENCES,
    ) -> None:
        self.state = AccumulatorState(parse_release(version), config, draws or StepDraws(), sequences)

    def append(self, topic: str, partition: int | None, record: SizedRecord, metadata: Metadata) -> Appended:
        """Take a record, for this partition, or None to have one chosen. Mirrors ``append``.

        Raises IllegalStateException or KafkaException if closed; as ``BufferPool.allocate`` does, and, if it is to choose,
        as ``BuiltInPartitioner.next_partition``; NotInThisRelease if it is to choose and the release does not.
        """
        state = self.state
        if partition is None and state.release not in CHOOSES:
            raise NotInThisRelease(
                f"Kafka {state.release} chooses partitions before the accumulator: ask about {CHOOSES}"
            )
        if state.release not in CHOOSES:
            return self._append_to((topic, partition or 0), record)
        info, cluster, buffer = state.topic(topic), metadata.of_topic(topic), None
        try:
            while True:
                stay, of = None, (topic, partition or 0)
                if partition is None:
                    stay = info.partitioner.peek(cluster)
                    of = (topic, stay.partition)
                queue = state.queue(of)
                if self._left(topic, stay, queue, metadata):
                    continue
                appended = self._try_append(of, queue, record)
                if appended is None and self._grow(queue, record):
                    continue
                if appended is None:
                    buffer = state.memory.take(record) if buffer is None else buffer
                    if self._left(topic, stay, queue, metadata):
                        continue
                    appended, buffer = self._append_new(of, queue, record, buffer), None
                may_leave = _all_full(queue)
                info.partitioner.update(stay, appended.bytes or 0, cluster, may_leave)
                self._note_stay(topic, stay, may_leave)
                return appended
        finally:
            if buffer is not None:
                state.memory.give_back(buffer)

    def _append_to(self, of: tuple[str, int], record: SizedRecord) -> Appended:
        queue = self.state.queue(of)
        appended = self._try_append(of, queue, record)
        if appended is None:
            appended = self._append_new(of, queue, record, self.state.memory.take(record))
        return appended

    def _grow(self, queue: Queue, record: SizedRecord) -> bool:
        """Whether the last batch had room for the record and lacked memory: now it has it, or is closed for appends."""
        lacking = self.state.memory.lacking(queue[-1], record) if queue else 0
        if lacking and not self.state.memory.extend(queue[-1], lacking):
            self.state.close_for_appends(queue[-1])
        return lacking > 0

    def _left(self, topic: str, stay: StickyPartitionInfo | None, queue: Queue, metadata: Metadata) -> bool:
        """Whether the partitioner left its partition, since it may now. Mirrors ``partitionChanged``."""
        partitioner = self.state.topic(topic).partitioner
        if _all_full(queue):
            partitioner.update(stay, 0, metadata.of_topic(topic))
        changed = partitioner.is_changed(stay)
        if changed:
            self._note_stay(topic, stay, True)
        return changed

    def _note_stay(self, topic: str, stay: StickyPartitionInfo | None, may_leave: bool) -> None:
        state = self.state
        if state.reasons is not None and stay is not None:
            size, left = state.config.batch_size, state.topic(topic).partitioner.is_changed(stay)
            state.reasons.append(Stay(topic, stay.partition, stay.produced, size, may_leave, left))

    def _try_append(self, of: tuple[str, int], queue: Queue, record: SizedRecord) -> Appended | None:
        state = self.state
        if state.closed:
            raise KafkaException if state.release in RAISES_KAFKA_EXCEPTION else IllegalStateException
        last = queue[-1] if queue else None
        if last is not None and state.memory.lacking(last, record):
            return None
        before = 0 if last is None else last.estimated
        if last is None or not last.try_append(record, state.now_ms):
            if state.reasons is not None:
                number, full = (None, False) if last is None else (last.number, last.full)
                state.reasons.append(Placed(of, number, before, full))
            if last is not None:
                state.close_for_appends(last)
            return None
        return self._appended(of, queue, last.estimated - before, False)

    def _append_new(self, of: tuple[str, int], queue: Queue, record: SizedRecord, buffer: int) -> Appended:
        state, number = self.state, len(self.state.batches)
        compressed = state.expectations.compressed(of[0], number)
        batch = Batch(state.release, of, number, state.now_ms, state.config.batch_size, record, False, compressed)
        batch.buffer = buffer
        state.batches.append(batch)
        state.incomplete.add(batch)
        queue.append(batch)
        return self._appended(of, queue, batch.estimated, True)

    def _appended(self, of: tuple[str, int], queue: Queue, size: int, new: bool) -> Appended:
        full = len(queue) > 1 or queue[-1].full
        return Appended(of[1], full, new, size if self.state.release in CHOOSES else None)

    def ready(self, metadata: Metadata) -> Ready:
        """Which nodes have something to be sent to. Mirrors ``ready``."""
        return ready(self.state, metadata)

    def drain(self, metadata: Metadata, nodes: Iterable[int], max_size: int) -> Sequence[Batch]:
        """Take batches out for these nodes. Raises ArithmeticException, NullPointerException. Mirrors ``drain``."""
        return drain(self.state, metadata, nodes, max_size)

    def reenqueue(self, batch: Batch) -> None:
        """A drained batch is to be sent again. Raises as ``put_back``. Mirrors ``reenqueue``."""
        batch.come_back(self.state.now_ms)
        put_back(self.state, batch)
        batch.in_flight, batch.state = False, batches.BatchState.QUEUED

    def split(self, batch: Batch) -> Sequence[Batch]:
        """A drained batch was too large; its pieces are queued in its place. Mirrors ``splitAndReenqueue``.

        They are given, and numbered, as they are queued. Raises IllegalStateException if the producer forgot the partition.
        """
        state = self.state
        smaller = batch.is_piece and state.release in SPLITS_SMALLER
        size = max(batch.size.max_record_size, batch.estimated // 2) if smaller else state.config.batch_size
        state.expectations.see_split(batch)
        pieces = split(
            state.release,
            batch,
            size,
            len(state.batches),
            partial(state.expectations.compressed, batch.topic_partition[0]),
        )
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
        """A batch is done with: its memory goes back. Mirrors ``deallocate``, later ``completeAndDeallocateBatch``."""
        batch.in_flight, batch.state = False, batches.BatchState.DONE
        self.state.incomplete.discard(batch)
        if not batch.is_piece:
            self.state.memory.give_back(batch.buffer)

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
        """What has expired in the queues, and when the next one will, None if unknown. Mirrors ``expiredBatches``."""
        state, expired, nexts = self.state, list[Batch](), list[int]()
        delivery = state.behaviour.expires_by_delivery_timeout
        for of, queue in state.queues():
            if not delivery and state.is_muted(of):
                continue
            last = queue[-1] if queue else None
            while queue and self._has_expired(queue[0], queue[0] is not last or queue[0].full):
                expired.append(queue.popleft())
                if state.behaviour.completes_expired_batches:
                    state.close(expired[-1])
            if queue and delivery:
                nexts.append(queue[0].created_ms + state.config.delivery_timeout_ms)
        for batch in expired:
            batch.state, batch.aborted = batches.BatchState.EXPIRED, True
            state.memory.trim(batch)
            if state.behaviour.completes_expired_batches:
                self.complete(batch)
        return expired, min(nexts, default=None)

    def _has_expired(self, batch: Batch, full: bool) -> bool:
        state, config = self.state, self.state.config
        timeout_ms = config.delivery_timeout_ms
        if state.behaviour.expires_by_delivery_timeout:
            return timeout_ms <= state.now_ms - batch.created_ms
        return batch.outlived_request(timeout_ms, config.retry_backoff_ms, config.linger_ms, state.now_ms, full)

    def update_node_latency(self, node: int, can_drain: bool) -> None:
        """A node with batches ready could take them now, or not. Mirrors ``updateNodeLatencyStats``."""
        state = self.state
        if state.release in CHOOSES and state.config.availability_timeout_ms > 0:
            latency = state.latencies.setdefault(node, NodeLatency(state.now_ms, state.now_ms))
            latency.ready_ms = state.now_ms
            if can_drain:
                latency.drain_ms = state.now_ms

    def load_table(self, topic: str) -> LoadTable | None:
        """The partitioner's statistics of a topic, if it has any."""
        info = self.state.topics.get(topic)
        return None if info is None else info.partitioner.table

    def begin_flush(self) -> None:
        """Everything is sendable from here on. Mirrors ``beginFlush``."""
        self.state.flushes += 1

    def end_flush(self) -> None:
        """With nothing incomplete there is nothing to wait for. Mirrors ``awaitFlushCompletion``."""
        self.state.flushes -= 1

    def close(self) -> None:
        """Take nothing any more. Mirrors ``close``."""
        self.state.closed = True
        self.state.pool.close()

    def abort(self) -> None:
        """End all batches that are not done, and forget the queues. Mirrors ``abortIncompleteBatches``."""
        self.abort_batches()
        self.state.forget_queues()
        self.state.expect(self.state.expectations.start_again())

    def abort_batches(self) -> None:
        """End all batches that are not done. Mirrors ``abortBatches``."""
        self._end(list(self.state.incomplete))

    def abort_undrained(self) -> None:
        """End all batches that are not closed for good. Mirrors ``abortUndrainedBatches``."""
        by_sequence = self.state.sequences.is_idempotent and self.state.behaviour.abort_undrained_by_sequence
        self._end(
            batch
            for batch in list(self.state.incomplete)
            if (batch.sequence is None if by_sequence else not batch.closed)
        )

    def _end(self, ended: Iterable[Batch]) -> None:
        for batch in ended:
            batch.aborted = True
            queue = self.state.queue_if_any(batch.topic_partition)
            if queue and batch in queue:
                queue.remove(batch)
            if batch.in_flight:
                self.state.incomplete.discard(batch)
                batch.state = batches.BatchState.ABORTED_IN_FLIGHT
            else:
                self.complete(batch)


def _all_full(queue: Queue) -> bool:
    return not queue or queue[-1].full
