"""How records end, and what a second end of the same batch does.

A batch ends once: its records get their offsets, or an exception. It may be answered after it was aborted, and since 2.1.0
after it expired in flight: that changes nothing. Up to 0.10.2.x the records end again.

Java refuses other second ends by an IllegalStateException: after a success, and from 0.11.0.0 to 2.0.x after a failure. None
can happen, because a batch that succeeded or failed is in no queue and in no other request.

Java source mirrored: ``clients/src/main/java/org/apache/kafka/clients/producer/internals/ProducerBatch.java#done``,
``complete``, ``completeExceptionally``, ``abort``; ``RecordBatch.java#done`` of 0.10.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.arguments import checked
from kafka_reference.idempotence.behaviour import BatchEndBehaviour
from kafka_reference.releases import Release

__all__ = ["Numbered", "Outcomes", "number_of"]


@checked
@dataclass(frozen=True, slots=True)
class Numbered(SizedRecord):
    """A record with a number by which it is recognized.

    >>> Numbered(value=100, number=3).number
    3
    """

    number: int = 0


class Outcomes:
    """How batches ended. ``ended`` has the records in order: number, and offset (-1 for unknown) or exception's name."""

    def __init__(self, release: Release) -> None:
        self._ends_again = BatchEndBehaviour.of(release).ends_again
        self._done: set[Batch] = set()
        self.ended: list[tuple[int, int | str]] = []

    def is_done(self, batch: Batch) -> bool:
        """Return whether this batch has ended. Mirrors ``isDone``."""
        return batch in self._done

    def end(self, batch: Batch, exception: str | None, base_offset: int) -> bool:
        """End a batch and return whether it had not ended before, up to 0.10.2.x True. Mirrors ``done``."""
        if batch in self._done and not self._ends_again:
            return False
        self._done.add(batch)
        self._end_records(batch, exception, base_offset)
        return True

    def abort(self, batches: Iterable[Batch], exception: str) -> None:
        """End these batches because the producer failed. Mirrors ``abort``."""
        for batch in batches:
            self._done.add(batch)
            self._end_records(batch, exception, -1)

    def _end_records(self, batch: Batch, exception: str | None, base_offset: int) -> None:
        for index, record in enumerate(batch.records):
            offset = -1 if base_offset == -1 else base_offset + index
            self.ended.append((number_of(record), offset if exception is None else exception))


def number_of(record: SizedRecord) -> int:
    """Return the number of a record, -1 for a record without one."""
    return record.number if isinstance(record, Numbered) else -1
