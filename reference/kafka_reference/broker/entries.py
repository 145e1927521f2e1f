"""What a broker remembers of one producer: epoch, coordinator epoch, open transaction and last batches.

At most five batches are remembered (one in 0.11), all of the current epoch: a batch under another epoch discards the earlier
ones. A batch is remembered by its last sequence, last offset and length; where it starts is counted back from there. Up to
2.1.0 the length is the difference of the sequences (KAFKA-7692): if they wrap, it is negative by some 2^31, so the first
sequence still comes out right, by wrapping back, but the first offset is 2^31 too high.

A batch is a *duplicate* if its epoch, first and last sequence are those of a remembered one. It is not appended, and the
broker returns the remembered offset.

The timestamp of an entry is that of its last batch or marker. Up to 2.4.0 it is that of its last batch, -1 without one
(KAFKA-9144).

In 0.11 a marker takes the place of the one batch: as a batch of one record at the marker's offset, with the last sequence if
the epoch is the same and none otherwise. So a last batch of one record is still found as a duplicate, but with the marker's
offset.

Java source mirrored: ``ProducerIdEntry`` (up to 1.0.1), ``ProducerStateEntry`` and ``BatchMetadata`` (since 1.0.2).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Self

from kafka_reference.broker.batches import NO_EPOCH, NO_SEQUENCE, NO_TIMESTAMP, DataBatch, LogBatch
from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.idempotence.sequences import added, decrement
from kafka_reference.java.int64 import int64

__all__ = ["BatchMetadata", "ProducerStateEntry"]


@dataclass(frozen=True, slots=True)
class BatchMetadata:
    """A remembered batch. ``offset_delta`` is its length less one."""

    first_sequence: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @classmethod
    def ending_with(
        cls, behaviour: ProducerStateBehaviour, last_sequence: int, last_offset: int, offset_delta: int, timestamp: int
    ) -> Self:
        """Return the metadata of a batch from where it ends."""
        by_sequences = behaviour.batch_length_from_sequences
        first = added(last_sequence, -offset_delta) if by_sequences else decrement(last_sequence, offset_delta)
        return cls(first, last_sequence, last_offset, offset_delta, timestamp)

    @classmethod
    def from_batch(cls, behaviour: ProducerStateBehaviour, batch: DataBatch) -> Self:
        """Return the metadata of a batch that is appended."""
        last = batch.last_sequence
        delta = added(last, -batch.first_sequence) if behaviour.batch_length_from_sequences else batch.records - 1
        return cls.ending_with(behaviour, last, batch.last_offset, delta, batch.timestamp)

    @property
    def first_offset(self) -> int:
        """The offset of the first record, counted back from the last one, as Java subtracts longs."""
        return int64(self.last_offset - self.offset_delta)


class ProducerStateEntry:
    """One producer, as the broker remembers it; a new entry has no epoch and no batch."""

    __slots__ = ("_timestamp", "batches", "behaviour", "coordinator_epoch", "epoch", "producer_id", "transaction")

    def __init__(self, behaviour: ProducerStateBehaviour, producer_id: int) -> None:
        self.behaviour, self.producer_id = behaviour, producer_id
        self.epoch, self.coordinator_epoch = NO_EPOCH, -1
        self.transaction: int | None = None
        self.batches: deque[BatchMetadata] = deque(maxlen=behaviour.remembered_batches)
        self._timestamp = NO_TIMESTAMP
        if behaviour.marker_replaces_batch:
            self.batches.append(BatchMetadata(NO_SEQUENCE, NO_SEQUENCE, -1, 0, NO_TIMESTAMP))

    def __repr__(self) -> str:  # unreached: for readers
        sequences = ", ".join(f"{one.first_sequence} to {one.last_sequence}" for one in self.batches)
        return f"<Producer {self.producer_id}, epoch {self.epoch}: sequences {sequences or 'none'}>"

    @property
    def last_sequence(self) -> int:
        """The last sequence remembered, -1 if there is none."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        """The offset of the last record remembered, -1 if there is none."""
        return self.batches[-1].last_offset if self.batches else -1

    @property
    def last_offset_delta(self) -> int:
        """The length of the last remembered batch less one, 0 if there is none."""
        return self.batches[-1].offset_delta if self.batches else 0

    @property
    def timestamp(self) -> int:
        """The time that expiration counts from, in ms."""
        if not self.behaviour.timestamp_of_last_batch:
            return self._timestamp
        return self.batches[-1].timestamp if self.batches else NO_TIMESTAMP

    @timestamp.setter
    def timestamp(self, timestamp: int) -> None:
        self._timestamp = timestamp

    def copy_for_update(self) -> ProducerStateEntry:
        """Return the copy that a request changes: everything but the batches, since it adds its own (0.11: everything)."""
        copy = ProducerStateEntry(self.behaviour, self.producer_id)
        copy.epoch, copy.coordinator_epoch, copy.transaction = self.epoch, self.coordinator_epoch, self.transaction
        copy._timestamp = self._timestamp
        if self.behaviour.marker_replaces_batch:
            copy.batches.extend(self.batches)
        return copy

    def add_batch(self, epoch: int, batch: BatchMetadata) -> None:
        """Remember a batch. Another epoch discards the earlier ones, and the oldest goes if there are too many."""
        self.change_epoch(epoch)
        self.batches.append(batch)
        self._timestamp = batch.timestamp

    def change_epoch(self, epoch: int) -> None:
        """Discard the batches if ``epoch`` is another one."""
        if epoch != self.epoch:
            self.batches.clear()
            self.epoch = epoch

    def update(self, updated: ProducerStateEntry) -> None:
        """Apply what an appended request made of :meth:`copy_for_update`."""
        self.change_epoch(updated.epoch)
        self.batches.extend(updated.batches)
        self.coordinator_epoch, self.transaction = updated.coordinator_epoch, updated.transaction
        self._timestamp = updated._timestamp

    def find_duplicate(self, batch: LogBatch) -> BatchMetadata | None:
        """Return the remembered batch of the same epoch and sequences, the oldest if there are several."""
        if batch.epoch != self.epoch:
            return None
        first, last = batch.first_sequence, batch.last_sequence
        return next((one for one in self.batches if (one.first_sequence, one.last_sequence) == (first, last)), None)
