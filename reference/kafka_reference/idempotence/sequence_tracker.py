"""What an idempotent producer knows of its partitions: who it is, whose turn it is, and what is not answered yet.

A producer has an id and an epoch, or none yet. For each partition there are the next sequence, the last one acknowledged,
and the batches in flight. In flight is a batch from its first drain until it is answered for good: one that waits to be
sent again is in flight too.

**Numbering.** A batch gets its base sequence when it is drained first, and keeps it when it is sent again. The next
sequence counts on by its records: since 1.0 at once, in 0.11 only once it is acknowledged, so that there a second batch
drained meanwhile gets the same number (its producer had to wait: ``max.in.flight.requests.per.connection`` was 1).

**Stop.** The first batch of a queue must not be drained

=========================================================================== ==================================
if the producer has no id                                                   0.11 on
if it has no sequence, and the partition has unresolved ones                1.0 on
if it has no sequence, and the first in flight is of another id or epoch    2.5.0 to 2.7.0
if it has no sequence, and some are in flight, and the partition is at      2.7.1 on (KAFKA-12152)
another id or epoch
if it has a sequence, and it is not that of the first in flight             1.0 on
=========================================================================== ==================================

**Another id or epoch.** To 2.4.x the producer forgets all partitions when it loses its id. Since 2.5.0 it does not, and
each partition begins at 0 again once nothing is in flight: since 2.7.1 when it is next drained, to 2.7.0 when the last
one in flight is acknowledged; so there a partition with nothing in flight went on with its old numbers (KAFKA-12152).

**Answers.** Acknowledged, a batch is no longer in flight, and its last sequence is the last one acknowledged, if it is
higher than that was. To 2.2.x only a batch of the producer's id and epoch counts, in 2.3 and 2.4 any other is ignored
altogether, and stays in flight; since 2.5.0 all count. Failed, a batch is no longer in flight either (in 2.3 and 2.4
again but for another id or epoch). If it was refused for good, then to 2.4.x those behind it, and the next sequence, are
numbered down by its records, or an IllegalStateException says that they would become negative; since 2.5.0 the epoch is
raised later instead, which is not looked at here. If it expired after it had been sent again, nobody knows whether it
arrived: the partition is unresolved, since 2.5.0 up to its last sequence + 1. In 0.11 the producer loses its id for that.

**Forgotten.** Of a partition that is not known (any more), 0.11 cannot count on (unless a batch of it is sent again: to
log that asks for the next sequence, which then is 0), and 2.3 and 2.4 can neither take in
flight nor acknowledge anything: IllegalStateException. From 1.0 to 2.2 its sequences cannot begin anew: a
NullPointerException where nothing of it was in flight since, and an IllegalStateException where only pieces of a split
batch were. Whoever loses its id meets that if a broker gives it the same one again.

Java source mirrored: ``TransactionManager`` without a transactional id, 0.11.0.0 to 4.4.0, since 3.3.0 with
``TxnPartitionMap``; to 2.2.x also ``Sender.completeBatch``, ``failBatch`` and ``sendProducerData``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kafka_reference.errors import IllegalStateException
from kafka_reference.idempotence.in_flight import Heap, Sequenced, Tree, in_flight
from kafka_reference.idempotence.sequences import added, next_after
from kafka_reference.releases import Release, since

__all__ = ["IDEMPOTENT", "TRACKS", "Partition", "Producer", "ProducerState"]

IDEMPOTENT = since("0.11.0.0")
TRACKS = since("1.0.0")
KNOWS_OR_RAISES = since("2.3.0")
IGNORES_STRANGERS = since("2.3.0", until="2.4.99")
FORGETS = since("0.11.0.0", until="2.4.99")
BEGINS_ANEW_WHEN_ACKNOWLEDGED = since("2.5.0", until="2.7.0")
BEGINS_ANEW_WHEN_DRAINED = since("2.7.1")
RESOLVES_UP_TO = since("2.5.0")

_NONE = (-1, -1)


@dataclass(frozen=True, slots=True)
class Producer:
    """Who the producer is, None for nobody yet, and the partitions it has sent to: so many records, all acknowledged."""

    id: int | None
    epoch: int = 0
    next_sequences: Mapping[tuple[str, int], int] = field(default_factory=dict)


@dataclass(slots=True)
class Partition:
    """A partition's sequences; ``next`` is None until it is asked for, ``last_offset`` is -1 for unknown.

    ``was_in_flight``: something of it, since the producer last forgot all partitions; to 2.2.x there is a queue only then.
    """

    in_flight: Heap | Tree
    next: int | None = None
    last_acknowledged: int = -1
    producer: tuple[int, int] = _NONE
    last_offset: int = -1
    was_in_flight: bool = False


class ProducerState:
    """The producer's state in a release that can be idempotent."""

    def __init__(self, at: Release, producer: Producer) -> None:
        self._at = at
        self.current = _identity(producer.id, producer.epoch)
        self.partitions: dict[tuple[str, int], Partition] = {}
        self.unresolved: dict[tuple[str, int], int | None] = {}
        for of, sequence in producer.next_sequences.items():
            last = sequence - 1 if at in TRACKS else -1
            self.partitions[of] = Partition(in_flight(at), sequence, last, self.current)

    @property
    def is_idempotent(self) -> bool:
        """True: batches of this producer have sequences."""
        return True

    def become(self, producer_id: int | None, epoch: int) -> None:
        """Be another producer, or nobody. Mirrors ``setProducerIdAndEpoch``, to 2.4.x after ``resetProducerId``."""
        if self._at in FORGETS:
            self._reset()
        self.current = _identity(producer_id, epoch)

    def _reset(self) -> None:
        self.current = _NONE
        self.partitions, self.unresolved = {}, {}

    def has_in_flight(self, of: tuple[str, int]) -> bool:
        """Whether something of this partition is not answered. Mirrors ``hasInflightBatches``."""
        return self._first(of) is not None

    def waits_for(self, batch: Sequenced) -> str | None:
        """What this batch, the first of its queue, may not go before; None if it may go.

        Mirrors ``shouldStopDrainBatchesForPartition``, which says only whether.
        """
        if self.current[0] < 0:
            return "a producer id"
        if self._at not in TRACKS:
            return None
        first = self._first(batch.topic_partition)
        if batch.sequence is not None:
            return None if first is None or batch.sequence == first.sequence else "what was sent before it"
        if self._is_of_another(first):
            return "what is in flight with another id or epoch"
        return "a sequence that nobody knows the end of" if batch.topic_partition in self.unresolved else None

    def _is_of_another(self, first: Sequenced | None) -> bool:
        if first is None:
            return False
        if self._at in BEGINS_ANEW_WHEN_DRAINED:
            return self.partitions[first.topic_partition].producer != self.current
        return self._at in BEGINS_ANEW_WHEN_ACKNOWLEDGED and first.producer != self.current

    def number(self, batch: Sequenced, sent_before: bool) -> None:
        """Give a batch that is drained its sequence, unless it has one. Mirrors a part of ``drain``."""
        if (batch.sequence is not None) if self._at in TRACKS else sent_before:
            return
        partition = self.partitions.setdefault(batch.topic_partition, Partition(in_flight(self._at)))
        if self._at in BEGINS_ANEW_WHEN_DRAINED and partition.producer != self.current:
            self._begin_anew(partition)
        partition.next = partition.next or 0
        batch.producer, batch.sequence = self.current, partition.next
        if self._at in TRACKS:
            partition.next = next_after(self._at, partition.next, batch.record_count)
            self._track(partition, batch)

    def _begin_anew(self, partition: Partition) -> None:
        partition.producer, partition.next, partition.last_acknowledged = self.current, 0, -1

    def number_pieces(self, batch: Sequenced, pieces: Iterable[Sequenced]) -> None:
        """Pieces count on from their batch's sequence; in 0.11 they have none. Mirrors ``ProducerBatch.split``."""
        if self._at in TRACKS and batch.sequence is not None:
            sequence = batch.sequence
            for piece in pieces:
                piece.producer, piece.sequence = batch.producer, sequence
                sequence = added(sequence, piece.record_count)

    def track(self, batch: Sequenced) -> None:
        """A piece is in flight. Raises IllegalStateException. Mirrors ``addInFlightBatch``."""
        self._track(self._partition(batch.topic_partition), batch)

    def _track(self, partition: Partition, batch: Sequenced) -> None:
        partition.in_flight.add(batch)
        partition.was_in_flight = True

    def retry(self, batch: Sequenced) -> None:
        """A batch is to be sent again. In 0.11 the line that logs it counts the partition from 0, if it was forgotten."""
        if self._at not in TRACKS:
            partition = self.partitions.setdefault(batch.topic_partition, Partition(in_flight(self._at)))
            partition.next = partition.next or 0

    def release(self, batch: Sequenced) -> None:
        """A batch is in flight no longer. Mirrors ``removeInFlightBatch``."""
        partition = self.partitions.get(batch.topic_partition)
        if partition is not None:
            partition.in_flight.remove(batch)

    def acknowledge(self, batch: Sequenced) -> None:
        """A batch is in the log. Raises IllegalStateException. Mirrors ``handleCompletedBatch``."""
        stranger = batch.producer != self.current
        if self._at not in TRACKS:
            if not stranger:
                self._count_on(batch)
            return
        if stranger and self._at in IGNORES_STRANGERS:
            return
        if not (stranger and self._at in FORGETS):
            last = added(batch.sequence or 0, batch.record_count - 1)
            known = self.partitions.get(batch.topic_partition)
            if last > (-1 if known is None else known.last_acknowledged):
                self._partition(batch.topic_partition).last_acknowledged = last
        self.release(batch)
        if stranger and self._at in BEGINS_ANEW_WHEN_ACKNOWLEDGED and not self.has_in_flight(batch.topic_partition):
            self._begin_anew(self._partition(batch.topic_partition))

    def _count_on(self, batch: Sequenced) -> None:
        partition = self.partitions.get(batch.topic_partition)
        if partition is None or partition.next is None:
            raise IllegalStateException
        partition.next = next_after(self._at, partition.next, batch.record_count)

    def fail(self, batch: Sequenced, refused: bool) -> None:
        """A batch failed. Raises IllegalStateException. Mirrors ``handleFailedBatch``."""
        if self._at in IGNORES_STRANGERS and batch.producer != self.current:
            return
        self.release(batch)
        if refused and self._at in FORGETS and self._at in TRACKS:
            self._number_down(batch)

    def _number_down(self, failed: Sequenced) -> None:
        """Mirrors ``adjustSequencesDueToFailedBatch``."""
        partition = self.partitions.get(failed.topic_partition)
        if partition is None or partition.next is None:
            return
        partition.next = _not_negative(added(partition.next, -failed.record_count))
        for batch in partition.in_flight:
            if batch.sequence is not None and batch.sequence >= (failed.sequence or 0):
                sequence = _not_negative(added(batch.sequence, -failed.record_count))
                batch.renumber(batch.producer or _NONE, sequence)
        partition.in_flight.renumbered()

    def mark_unresolved(self, batch: Sequenced) -> None:
        """A batch expired that may have arrived. Mirrors ``markSequenceUnresolved``; in 0.11 ``resetProducerId``."""
        if self._at not in TRACKS:
            self._reset()
        elif self._at in RESOLVES_UP_TO:
            following = added(batch.sequence or 0, batch.record_count)
            known = self.unresolved.get(batch.topic_partition)
            self.unresolved[batch.topic_partition] = following if known is None else max(known, following)
        else:
            self.unresolved[batch.topic_partition] = None

    def _partition(self, of: tuple[str, int]) -> Partition:
        known = self.partitions.get(of)
        if known is None:
            if self._at in KNOWS_OR_RAISES:
                raise IllegalStateException
            known = self.partitions[of] = Partition(in_flight(self._at))
        return known

    def _first(self, of: tuple[str, int]) -> Sequenced | None:
        partition = self.partitions.get(of)
        return None if partition is None else partition.in_flight.first


def _identity(producer_id: int | None, epoch: int) -> tuple[int, int]:
    return _NONE if producer_id is None else (producer_id, epoch)


def _not_negative(sequence: int) -> int:
    if sequence < 0:
        raise IllegalStateException
    return sequence
