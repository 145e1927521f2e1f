"""What is remembered of a producer: its epoch, its coordinator's, its open transaction, and its last batches.

At most five batches (one in 0.11), of the current epoch only: a batch under another epoch forgets those before it. A batch
is remembered by where it ends, in sequence and in offset, and by its length less one; where it begins is counted back
from there. Up to 2.1.0 the length was the difference of its sequences. A batch in which they wrap has a negative one of
some 2**31, so its first sequence came out right, by wrapping back, and its first offset 2**31 too high.

A batch comes *again* if epoch, first and last sequence are those of one that is remembered. Then it is not written, and
the broker answers with the offset it has noted.

The timestamp goes by the last batch up to 2.4.0, -1 without one, so a marker did not keep its producer from expiring.

In 0.11 a marker took the place of the one batch: as a batch of one record at the marker's offset, with the last sequence if
the epoch was the same and none otherwise. So the last batch, if it was of one record, was still known when it came again,
but with the marker's offset.

Java source mirrored: ``ProducerIdEntry`` (0.11.0.3), ``ProducerStateEntry`` and ``BatchMetadata`` (1.1.1 to 4.4.0).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from kafka_reference.broker.batches import NO_EPOCH, NO_SEQUENCE, NO_TIMESTAMP, DataBatch, Written
from kafka_reference.broker.eras import Era
from kafka_reference.idempotence.sequences import added, decrement

__all__ = ["Entry", "Noted", "noted", "noted_of"]


@dataclass(frozen=True, slots=True)
class Noted:
    """A remembered batch. ``offset_delta`` is its length less one, as noted."""

    first_sequence: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_offset(self) -> int:
        """Where the batch began, as noted."""
        return self.last_offset - self.offset_delta


def noted(era: Era, last_sequence: int, last_offset: int, offset_delta: int, timestamp: int) -> Noted:
    """A batch by where it ended."""
    by_offsets = era.measures_by_offsets
    first = decrement(last_sequence, offset_delta) if by_offsets else added(last_sequence, -offset_delta)
    return Noted(first, last_sequence, last_offset, offset_delta, timestamp)


def noted_of(era: Era, batch: DataBatch) -> Noted:
    """A batch as it is noted when it is written."""
    last = batch.last_sequence
    delta = batch.records - 1 if era.measures_by_offsets else added(last, -batch.first_sequence)
    return noted(era, last, batch.last_offset, delta, batch.timestamp)


class Entry:
    """A producer, as the broker remembers it; a new one has no epoch, and nothing is known of it."""

    __slots__ = ("_timestamp", "batches", "coordinator_epoch", "epoch", "era", "producer_id", "transaction")

    def __init__(self, era: Era, producer_id: int) -> None:
        self.era, self.producer_id = era, producer_id
        self.epoch, self.coordinator_epoch = NO_EPOCH, -1
        self.transaction: int | None = None
        self.batches: deque[Noted] = deque(maxlen=era.batches_kept)
        self._timestamp = NO_TIMESTAMP
        if era.batches_kept == 1:
            self.batches.append(Noted(NO_SEQUENCE, NO_SEQUENCE, -1, 0, NO_TIMESTAMP))

    @property
    def last_sequence(self) -> int:
        """The number of the last record remembered, -1 for none."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        """The offset of the last record remembered, -1 for none."""
        return self.batches[-1].last_offset if self.batches else -1

    @property
    def last_delta(self) -> int:
        """The length of the last batch remembered less one, 0 for none."""
        return self.batches[-1].offset_delta if self.batches else 0

    @property
    def timestamp(self) -> int:
        """When the producer was last heard of, in ms."""
        if self.era.own_timestamp:
            return self._timestamp
        return self.batches[-1].timestamp if self.batches else NO_TIMESTAMP

    @timestamp.setter
    def timestamp(self, timestamp: int) -> None:
        self._timestamp = timestamp

    def to_update(self) -> Entry:
        """What a request begins with: all of it but the batches, which are added by the request (0.11: all of it)."""
        copy = Entry(self.era, self.producer_id)
        copy.epoch, copy.coordinator_epoch, copy.transaction = self.epoch, self.coordinator_epoch, self.transaction
        copy._timestamp = self._timestamp
        if self.era.batches_kept == 1:
            copy.batches.extend(self.batches)
        return copy

    def add(self, epoch: int, batch: Noted) -> None:
        """Remember a batch; those of another epoch are forgotten, and the oldest if there are too many."""
        self.move_to(epoch)
        self.batches.append(batch)
        self._timestamp = batch.timestamp

    def move_to(self, epoch: int) -> None:
        """Another epoch forgets the batches."""
        if epoch != self.epoch:
            self.batches.clear()
            self.epoch = epoch

    def take_over(self, updated: Entry) -> None:
        """A request has been written: what it made of :meth:`to_update` becomes true."""
        self.move_to(updated.epoch)
        self.batches.extend(updated.batches)
        self.coordinator_epoch, self.transaction = updated.coordinator_epoch, updated.transaction
        self._timestamp = updated._timestamp

    def duplicate(self, batch: Written) -> Noted | None:
        """The remembered batch of the same epoch and the same sequences, the oldest if several."""
        if batch.epoch != self.epoch:
            return None
        first, last = batch.first_sequence, batch.last_sequence
        return next((one for one in self.batches if (one.first_sequence, one.last_sequence) == (first, last)), None)
