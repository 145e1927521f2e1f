"""The batches that a broker appends, as far as the producer state looks at them.

Sequences run from 0 to 2^31-1 and then from 0 again. -1 stands for none: a batch without a first sequence has no last one
either, however many records it holds. The first record of a batch has the batch's offset, and the others follow.

Java source mirrored: ``DefaultRecordBatch.lastSequence``, since 0.11.0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafka_reference.arguments import checked
from kafka_reference.idempotence.sequences import increment

__all__ = ["NO_EPOCH", "NO_SEQUENCE", "NO_TIMESTAMP", "DataBatch", "LogBatch", "Marker"]

NO_SEQUENCE = -1
NO_EPOCH = -1
NO_TIMESTAMP = -1


@checked
@dataclass(frozen=True, slots=True)
class DataBatch:
    """A batch of ``records`` records from ``offset`` on, the first with sequence ``first_sequence``.

    >>> DataBatch(producer_id=7, epoch=0, first_sequence=0, records=3, offset=40, timestamp=0).last_offset
    42
    """

    producer_id: int
    epoch: int
    first_sequence: int
    records: int
    offset: int
    timestamp: int
    transactional: bool = False

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record."""
        if self.first_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return increment(self.first_sequence, self.records - 1)

    @property
    def last_offset(self) -> int:
        """The offset of the last record."""
        return self.offset + self.records - 1


@checked
@dataclass(frozen=True, slots=True)
class Marker:
    """The end of a transaction, written by its coordinator as a batch of one record.

    ``transaction_version`` is the version that the coordinator names, -1 if it names none; it matters since 4.2.0.

        >>> Marker(producer_id=7, epoch=0, offset=43, timestamp=0, commit=True, coordinator_epoch=0).records
        1
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


LogBatch: TypeAlias = DataBatch | Marker
