"""How records end, and what a second end of the same batch does.

A batch ends once: its records get their offsets, or an exception. It may be answered again after it expired in flight or was
aborted; that changes nothing, except that after a success it is an IllegalStateException.

- 0.11.0.0 to 2.0.x: a second end is an IllegalStateException, unless the first one was an abort.
- Up to 0.10.2.x: the records end again.

Java source mirrored: ``clients/src/main/java/org/apache/kafka/clients/producer/internals/ProducerBatch.java#done``,
``complete``, ``completeExceptionally``, ``abort``; ``RecordBatch.java#done`` of 0.10.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.errors import IllegalStateException
from kafka_reference.idempotence.behaviour import BatchEndBehaviour, SecondEnd
from kafka_reference.releases import Release

__all__ = ["Numbered", "Outcomes", "number_of"]


@dataclass(frozen=True, slots=True)
class Numbered(SizedRecord):
    """A record with a number by which it is recognized.

    >>> Numbered(value=100, number=3).number
    3
    """

    number: int = 0


class _FinalState(enum.Enum):
    SUCCEEDED = enum.auto()
    FAILED = enum.auto()
    ABORTED = enum.auto()


class Outcomes:
    """How batches ended. ``ended`` has the records in order: number, and offset (-1 for unknown) or exception's name."""

    def __init__(self, release: Release) -> None:
        self._second_end = BatchEndBehaviour.of(release).second_end
        self._final_states: dict[Batch, _FinalState] = {}
        self.ended: list[tuple[int, int | str]] = []

    def is_done(self, batch: Batch) -> bool:
        """Return whether this batch has ended. Mirrors ``isDone``."""
        return batch in self._final_states

    def end(self, batch: Batch, exception: str | None, base_offset: int) -> bool:
        """End a batch and return whether it had not ended before. Raises IllegalStateException. Mirrors ``done``."""
        before = None if self._second_end is SecondEnd.REPEATED else self._final_states.get(batch)
        if before is not None:
            is_refused = before is _FinalState.FAILED and self._second_end is SecondEnd.REFUSED
            if before is _FinalState.SUCCEEDED or is_refused:
                raise IllegalStateException
            return False
        self._final_states[batch] = _FinalState.SUCCEEDED if exception is None else _FinalState.FAILED
        self._end_records(batch, exception, base_offset)
        return True

    def abort(self, batches: Iterable[Batch], exception: str) -> None:
        """End these batches because the producer failed. Mirrors ``abort``."""
        for batch in batches:
            self._final_states[batch] = _FinalState.ABORTED
            self._end_records(batch, exception, -1)

    def _end_records(self, batch: Batch, exception: str | None, base_offset: int) -> None:
        for index, record in enumerate(batch.records):
            offset = -1 if base_offset == -1 else base_offset + index
            self.ended.append((number_of(record), offset if exception is None else exception))


def number_of(record: SizedRecord) -> int:
    """Return the number of a record, -1 for a record without one."""
    return record.number if isinstance(record, Numbered) else -1
