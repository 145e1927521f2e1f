"""One producer's part of a request: each batch is checked against the entry as the batches before it have changed it.

:class:`ProducerAppendInfo` works on a copy of the entry, which is discarded if a batch of the request is refused; 1.0.0 and
1.0.1 work on the entry itself.

A transactional batch opens a transaction at its first offset if none is open. While one is open, a batch outside of it is
refused. A marker ends it. Up to 2.7.x a marker without an open transaction opens one at its own offset and ends it there
(KAFKA-10702).

Java source mirrored: ``ProducerAppendInfo.append``, ``appendDataBatch`` and ``appendEndTxnMarker``, since 0.11.0.0.
"""

from __future__ import annotations

from kafka_reference.broker.append_checks import Origin, check_data, check_marker
from kafka_reference.broker.batches import NO_SEQUENCE, DataBatch, Marker
from kafka_reference.broker.entries import BatchMetadata, ProducerStateEntry
from kafka_reference.broker.transactions import CompletedTxn
from kafka_reference.broker.verification import VerificationStateEntry
from kafka_reference.errors import InvalidTxnStateException

__all__ = ["ProducerAppendInfo"]


class ProducerAppendInfo:
    """A request to the producer of ``current``, its entry before the request.

    ``updated`` is the entry as the request has changed it, ``started`` the first offsets of the transactions it opened.
    """

    def __init__(
        self, current: ProducerStateEntry, origin: Origin, verification: VerificationStateEntry | None
    ) -> None:  # fmt: skip
        self.behaviour, self.current, self.origin, self.verification = current.behaviour, current, origin, verification
        in_place = self.behaviour.refused_request_changes_entry
        self.updated = current if in_place else current.copy_for_update()
        self.started: list[int] = []

    def append(self, batch: DataBatch) -> None:
        """Append a batch of records. Raises the JavaException that refuses it."""
        self.check(batch)
        metadata = BatchMetadata.from_batch(self.behaviour, batch)
        self.updated.add_batch(batch.epoch, metadata)
        if self.updated.transaction is not None and not batch.transactional:
            raise InvalidTxnStateException
        if self.updated.transaction is None and batch.transactional:
            self.updated.transaction = metadata.first_offset
            self.started.append(metadata.first_offset)

    def check(self, batch: DataBatch) -> None:
        """Raise the JavaException that refuses a batch of records, but for its transaction, which is checked later."""
        check_data(self.behaviour, batch, self.origin, self.updated, self.current, self.verification)

    def check_marker(self, marker: Marker) -> None:
        """Raise the JavaException that refuses a marker."""
        check_marker(self.behaviour, marker, self.origin, self.updated)

    def append_marker(self, marker: Marker) -> CompletedTxn | None:
        """Append a marker and return the transaction it completes, if any. Raises the JavaException that refuses it."""
        self.check_marker(marker)
        first = self.updated.transaction
        if first is None and self.behaviour.empty_transactions_complete:
            first = marker.offset
            self.started.append(first)
        self._remember(marker)
        self.updated.transaction = None
        self.updated.coordinator_epoch = marker.coordinator_epoch
        return None if first is None else CompletedTxn(marker.producer_id, first, marker.offset, not marker.commit)

    def _remember(self, marker: Marker) -> None:
        updated = self.updated
        if self.behaviour.marker_replaces_batch:
            last = updated.last_sequence if marker.epoch == updated.epoch else NO_SEQUENCE
            updated.add_batch(marker.epoch, BatchMetadata(last, last, marker.offset, 0, marker.timestamp))
        updated.change_epoch(marker.epoch)
        updated.timestamp = marker.timestamp
