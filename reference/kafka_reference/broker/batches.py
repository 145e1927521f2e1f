"""The batches a broker is asked to write, as far as it looks at them for the producer's sake.

Sequences are counted from 0 to 2**31 - 1 and then from 0 again; -1 is "none", and a batch that begins with none ends with
none, however many records it holds. The first record of a batch has its offset, and the others follow.

Java source mirrored: ``DefaultRecordBatch.lastSequence``, 0.11.0.3 to 4.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.idempotence.sequences import increment

__all__ = [
    "NO_EPOCH", "NO_SEQUENCE", "NO_TIMESTAMP", "DataBatch", "Marker", "Written",
]  # fmt: skip

NO_SEQUENCE = -1
NO_EPOCH = -1
NO_TIMESTAMP = -1


@dataclass(frozen=True, slots=True)
class DataBatch:
    """``records`` records from ``offset`` on, the first of them numbered ``first_sequence``."""

    producer_id: int
    epoch: int
    first_sequence: int
    records: int
    offset: int
    timestamp: int
    transactional: bool = False

    @property
    def last_sequence(self) -> int:
        """The last record's number."""
        if self.first_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment(self.first_sequence, self.records - 1)

    @property
    def last_offset(self) -> int:
        """The last record's offset."""
        return self.offset + self.records - 1


@dataclass(frozen=True, slots=True)
class Marker:
    """The end of a transaction, as its coordinator writes it: one record.

    ``transaction_version`` is what the coordinator says the transaction goes by, -1 if it does not say. It is looked at
    from 4.2.0 on.
    """

    producer_id: int
    epoch: int
    offset: int
    timestamp: int
    commit: bool
    coordinator_epoch: int
    transaction_version: int = 0
    records: int = 1
    transactional: bool = True
    first_sequence: int = NO_SEQUENCE
    last_sequence: int = NO_SEQUENCE


Written = DataBatch | Marker
