"""The sequences of an idempotent producer: its state for each partition, and which batch may be sent next.

A producer has an id and an epoch, or none yet. Each partition has the next sequence, the last acknowledged sequence, and the
batches in flight. A batch is in flight from its first drain until it ends: also while it waits to be sent again.

**Numbering.** A batch gets its base sequence when it is first drained, keeps it when it is sent again, and the next sequence
advances by its records. In 0.11 the next sequence advances when the batch is acknowledged.

**Waiting.** The first batch of a queue must not be drained (:meth:`SequenceTracker.waits_for`)

- without a producer id;
- with a sequence, while another batch is first in flight (since 1.0.0);
- without a sequence, while the partition is unresolved (since 1.0.0);
- without a sequence, while batches of an older id or epoch are in flight (since 2.5.0; KAFKA-12152).

**Another id or epoch.** A partition begins at 0 again when it is drained with nothing in flight. From 2.5.0 to 2.7.0 it
does so when its last batch in flight is acknowledged, so an idle partition continues with its old sequences (KAFKA-12152).
Up to 2.4.x a producer that loses its id forgets all partitions.

**Acknowledged**, a batch leaves the batches in flight, and its last sequence becomes the last acknowledged one if it is
higher. Up to 2.4.x a batch of another id or epoch does not count, and in 2.3 and 2.4 it even stays in flight.

**Failed**, a batch leaves the batches in flight, except for those of another id or epoch in 2.3 and 2.4. Up to 2.4.x, if the
broker refused it, the sequences behind it and the next sequence decrease by its records: IllegalStateException if one would
be negative. Since 2.5.0 the transaction manager begins another epoch instead.

**Unresolved** is a partition with a batch that expired after it had been sent: it may be in the log or not. In 0.11 the
producer loses its id instead.

**Forgotten partitions.** Since 2.3.0 nothing of a forgotten partition can be acknowledged or put in flight:
IllegalStateException. From 1.0.0 to 2.2.x its sequences cannot begin again: NullPointerException if nothing of it was in
flight since, IllegalStateException if only pieces of a split batch were. In 0.11 its next sequence cannot advance:
IllegalStateException, unless a batch of it was retried, since the line that logs the retry makes the next sequence 0.

Java source mirrored: ``TransactionManager.java`` without a transactional id, since 0.11.0.0, with
``TxnPartitionMap.java`` since 3.3.0 (both in ``clients/src/main/java/org/apache/kafka/clients/producer/internals``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka_reference.errors import IllegalStateException
from kafka_reference.idempotence.behaviour import PartitionRestart, TransactionManagerBehaviour, UnknownPartition
from kafka_reference.idempotence.sequence_order import Sequenced, SequenceHeap, SequenceSet, batches_by_sequence
from kafka_reference.idempotence.sequences import added, increment
from kafka_reference.releases import Release

__all__ = ["NO_PRODUCER", "Partition", "Producer", "SequenceTracker"]

NO_PRODUCER = (-1, -1)
"""The producer id and epoch of a producer that has none."""


@dataclass(frozen=True, slots=True)
class Producer:
    """A producer: its id, None for none yet, its epoch, and by partition how many records were sent and acknowledged."""

    id: int | None
    epoch: int = 0
    next_sequences: Mapping[tuple[str, int], int] = field(default_factory=dict)


@dataclass(slots=True)
class Partition:
    """A partition's sequences. Mirrors ``TxnPartitionEntry``.

    ``next`` is None until it is read, ``last_acknowledged`` and ``last_offset`` are -1 for none. ``was_in_flight``: a batch
    was, since the producer last forgot all partitions; up to 2.2.x the queue of batches in flight exists only then.
    """

    in_flight: SequenceHeap | SequenceSet
    next: int | None = None
    last_acknowledged: int = -1
    producer: tuple[int, int] = NO_PRODUCER
    last_offset: int = -1
    was_in_flight: bool = False


class SequenceTracker:
    """The sequences of a producer.

    ``current`` is its id and epoch; ``unresolved`` has, by partition, the sequence that follows the unresolved batches, None
    up to 2.4.x.
    """

    is_idempotent = True

    def __init__(self, release: Release, producer: Producer) -> None:
        self.behaviour = TransactionManagerBehaviour.of(release)
        self.current = _identity(producer.id, producer.epoch)
        self.partitions: dict[tuple[str, int], Partition] = {}
        self.unresolved: dict[tuple[str, int], int | None] = {}
        for topic_partition, sequence in producer.next_sequences.items():
            self.begin(topic_partition, sequence)

    def begin(self, topic_partition: tuple[str, int], next_sequence: int) -> None:
        """Begin as if ``next_sequence`` records had been sent to this partition and acknowledged."""
        last = next_sequence - 1 if self.behaviour.tracks_in_flight_batches else -1
        self.partitions[topic_partition] = Partition(self._nothing_in_flight(), next_sequence, last, self.current)

    def become(self, producer_id: int | None, epoch: int) -> None:
        """Take another id and epoch, or None for none. Mirrors ``setProducerIdAndEpoch``, after a reset up to 2.4.x."""
        if not self.behaviour.bumps_epoch:
            self._reset()
        self.current = _identity(producer_id, epoch)

    def _reset(self) -> None:
        """Lose the id and forget all partitions. Mirrors ``resetProducerId``."""
        self.current = NO_PRODUCER
        self.partitions, self.unresolved = {}, {}

    def has_in_flight(self, topic_partition: tuple[str, int]) -> bool:
        """Return whether batches of this partition are in flight. Mirrors ``hasInflightBatches``."""
        return self._first(topic_partition) is not None

    def is_stale(self, batch: Sequenced) -> bool:
        """Return whether the batch is of another id or epoch. Mirrors ``hasProducerIdAndEpoch``."""
        return batch.producer != self.current

    def waits_for(self, batch: Sequenced) -> str | None:
        """Return what this batch, the first of its queue, must wait for before it is drained; None for nothing.

        Mirrors ``RecordAccumulator.shouldStopDrainBatchesForPartition``, which returns only whether.
        """
        if self.current[0] < 0:
            return "a producer id"
        if not self.behaviour.tracks_in_flight_batches:
            return None
        first = self._first(batch.topic_partition)
        if batch.sequence is not None:
            return None if first is None or batch.sequence == first.sequence else "an earlier batch in flight"
        if self._is_of_another(first):
            return "batches in flight of another id or epoch"
        return "the unresolved batches of its partition" if batch.topic_partition in self.unresolved else None

    def _is_of_another(self, first: Sequenced | None) -> bool:
        if first is None or self.behaviour.partition_restart is PartitionRestart.NEVER:
            return False
        if self.behaviour.partition_restart is PartitionRestart.DRAINED:
            return self.partitions[first.topic_partition].producer != self.current
        return self.is_stale(first)

    def number(self, batch: Sequenced, sent_before: bool) -> None:
        """Give a drained batch its sequence, unless it has one. Mirrors a part of ``RecordAccumulator.drain``.

        ``sent_before``: the batch is drained again, which in 0.11 decides whether it has one.
        """
        tracks = self.behaviour.tracks_in_flight_batches
        if (batch.sequence is not None) if tracks else sent_before:
            return
        partition = self._known(batch.topic_partition)
        if self.behaviour.partition_restart is PartitionRestart.DRAINED and partition.producer != self.current:
            self._restart_idle(partition)
        partition.next = partition.next or 0
        batch.producer, batch.sequence = self.current, partition.next
        if tracks:
            partition.next = self._after(partition.next, batch.record_count)
            self._track(partition, batch)

    def _after(self, sequence: int, records: int) -> int:
        """Return the next sequence after a number of records. Mirrors ``incrementSequenceNumber``."""
        return increment(sequence, records) if self.behaviour.next_sequence_wraps else added(sequence, records)

    def _restart_idle(self, partition: Partition) -> None:
        partition.producer, partition.next, partition.last_acknowledged = self.current, 0, -1

    def number_pieces(self, batch: Sequenced, pieces: Iterable[Sequenced]) -> None:
        """Number the pieces of a split batch from its sequence on; not in 0.11. Mirrors ``ProducerBatch.split``."""
        if self.behaviour.tracks_in_flight_batches and batch.sequence is not None:
            sequence = batch.sequence
            for piece in pieces:
                piece.producer, piece.sequence = batch.producer, sequence
                sequence = added(sequence, piece.record_count)

    def track(self, batch: Sequenced) -> None:
        """Put a piece of a split batch in flight. Raises IllegalStateException. Mirrors ``addInFlightBatch``."""
        self._track(self._existing(batch.topic_partition), batch)

    def _track(self, partition: Partition, batch: Sequenced) -> None:
        partition.in_flight.add(batch)
        partition.was_in_flight = True

    def retry(self, batch: Sequenced) -> None:
        """Note that a batch is sent again. Mirrors the line of ``Sender.completeBatch`` that logs it, in 0.11."""
        if not self.behaviour.tracks_in_flight_batches:
            partition = self._known(batch.topic_partition)
            partition.next = partition.next or 0

    def release(self, batch: Sequenced) -> None:
        """Take a batch out of those in flight. Mirrors ``removeInFlightBatch``."""
        partition = self.partitions.get(batch.topic_partition)
        if partition is not None:
            partition.in_flight.remove(batch)

    def acknowledge(self, batch: Sequenced) -> None:
        """Note that a batch is in the log. Raises IllegalStateException. Mirrors ``handleCompletedBatch``."""
        behaviour, stale = self.behaviour, self.is_stale(batch)
        if not behaviour.tracks_in_flight_batches:
            if not stale:
                self._count_acknowledged(batch)
            return
        if stale and behaviour.ignores_stale_batches:
            return
        if not stale or behaviour.bumps_epoch:
            last = added(batch.sequence or 0, batch.record_count - 1)
            known = self.partitions.get(batch.topic_partition)
            if last > (-1 if known is None else known.last_acknowledged):
                self._existing(batch.topic_partition).last_acknowledged = last
        self.release(batch)
        restarts = behaviour.partition_restart is PartitionRestart.ACKNOWLEDGED
        if stale and restarts and not self.has_in_flight(batch.topic_partition):
            self._restart_idle(self._existing(batch.topic_partition))

    def _count_acknowledged(self, batch: Sequenced) -> None:
        partition = self.partitions.get(batch.topic_partition)
        if partition is None or partition.next is None:
            raise IllegalStateException
        partition.next = self._after(partition.next, batch.record_count)

    def fail(self, batch: Sequenced, refused: bool) -> None:
        """Note that a batch failed; ``refused``: by the broker. Raises IllegalStateException.

        Mirrors ``handleFailedBatch``.
        """
        behaviour = self.behaviour
        if behaviour.ignores_stale_batches and self.is_stale(batch):
            return
        self.release(batch)
        if refused and behaviour.tracks_in_flight_batches and not behaviour.bumps_epoch:
            self._close_gap(batch)

    def _close_gap(self, failed: Sequenced) -> None:
        """Mirrors ``adjustSequencesDueToFailedBatch``."""
        partition = self.partitions.get(failed.topic_partition)
        if partition is None or partition.next is None:
            return
        partition.next = _not_negative(added(partition.next, -failed.record_count))
        for batch in partition.in_flight:
            if batch.sequence is not None and batch.sequence >= (failed.sequence or 0):
                sequence = _not_negative(added(batch.sequence, -failed.record_count))
                batch.renumber(batch.producer or NO_PRODUCER, sequence)
        partition.in_flight.reorder()

    def mark_unresolved(self, batch: Sequenced) -> None:
        """Note that a batch expired that may be in the log.

        Mirrors ``markSequenceUnresolved``, in 0.11 ``resetProducerId``.
        """
        if not self.behaviour.tracks_in_flight_batches:
            self._reset()
        elif self.behaviour.knows_end_of_unresolved:
            following = added(batch.sequence or 0, batch.record_count)
            known = self.unresolved.get(batch.topic_partition)
            self.unresolved[batch.topic_partition] = following if known is None else max(known, following)
        else:
            self.unresolved[batch.topic_partition] = None

    def _known(self, topic_partition: tuple[str, int]) -> Partition:
        return self.partitions.setdefault(topic_partition, Partition(self._nothing_in_flight()))

    def _existing(self, topic_partition: tuple[str, int]) -> Partition:
        is_refused = self.behaviour.unknown_partition is UnknownPartition.REFUSED
        if topic_partition not in self.partitions and is_refused:
            raise IllegalStateException
        return self._known(topic_partition)

    def _nothing_in_flight(self) -> SequenceHeap | SequenceSet:
        return batches_by_sequence(self.behaviour.in_flight_order)

    def _first(self, topic_partition: tuple[str, int]) -> Sequenced | None:
        partition = self.partitions.get(topic_partition)
        return None if partition is None else partition.in_flight.first


def _identity(producer_id: int | None, epoch: int) -> tuple[int, int]:
    return NO_PRODUCER if producer_id is None else (producer_id, epoch)


def _not_negative(sequence: int) -> int:
    if sequence < 0:
        raise IllegalStateException
    return sequence
