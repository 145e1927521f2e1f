"""One producer's part of one request: each batch is checked against what those before it made of the producer's entry.

Nothing of it is true before all batches of the request have passed: :class:`AppendInfo` works on a copy, and is thrown away
if a batch is refused.

A transactional batch opens a transaction if none is open, at its first offset (to 2.1.0, counted back from its last one by
its sequences). While one is open, a batch outside of it is refused. A marker ends it. Where none was open, a marker up to
2.7.x opened one at its own offset, to end it there.

Java source mirrored: ``ProducerAppendInfo.append``, ``appendDataBatch``, ``appendEndTxnMarker``, 0.11.0.3 to 4.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from kafka_reference.broker.append_checks import Origin, check_data, check_marker
from kafka_reference.broker.batches import NO_SEQUENCE, DataBatch, Marker
from kafka_reference.broker.entries import Entry, Noted, noted_of
from kafka_reference.broker.eras import Era
from kafka_reference.broker.transactions import Completed
from kafka_reference.broker.verification import Verification
from kafka_reference.errors import InvalidTxnStateException

__all__ = ["AppendInfo"]


@dataclass(slots=True)
class AppendInfo:
    """``updated`` is the entry as the request makes it, ``started`` the first offsets of transactions it opened."""

    era: Era
    before: Entry
    origin: Origin
    verified: Verification | None
    updated: Entry
    started: list[int]

    @classmethod
    def of(cls, era: Era, before: Entry, origin: Origin, verified: Verification | None) -> Self:
        """The beginning of a request to the producer of ``before``."""
        return cls(era, before, origin, verified, before.to_update(), [])

    def append(self, batch: DataBatch) -> None:
        """Take a batch of records. Raises what it is refused for."""
        self.check(batch)
        note = noted_of(self.era, batch)
        self.updated.add(batch.epoch, note)
        if self.updated.transaction is not None and not batch.transactional:
            raise InvalidTxnStateException
        if self.updated.transaction is None and batch.transactional:
            self.updated.transaction = note.first_offset
            self.started.append(note.first_offset)

    def check(self, batch: DataBatch) -> None:
        """Raises what a batch of records is refused for; a transaction is looked at after that."""
        check_data(self.era, batch, self.origin, self.updated, self.before, self.verified)

    def check_marker(self, marker: Marker) -> None:
        """Raises what a marker is refused for."""
        check_marker(self.era, marker, self.origin, self.updated)

    def mark(self, marker: Marker) -> Completed | None:
        """Take a marker; the transaction it ends, if it ends one. Raises what it is refused for."""
        self.check_marker(marker)
        first = self.updated.transaction
        if first is None and self.era.completes_nothing:
            first = marker.offset
            self.started.append(first)
        self._remember(marker)
        self.updated.transaction = None
        self.updated.coordinator_epoch = marker.coordinator_epoch
        return None if first is None else Completed(marker.producer_id, first, marker.offset, not marker.commit)

    def _remember(self, marker: Marker) -> None:
        updated = self.updated
        if self.era.batches_kept == 1:
            last = updated.last_sequence if marker.epoch == updated.epoch else NO_SEQUENCE
            updated.add(marker.epoch, Noted(last, last, marker.offset, 0, marker.timestamp))
        updated.move_to(marker.epoch)
        updated.timestamp = marker.timestamp
