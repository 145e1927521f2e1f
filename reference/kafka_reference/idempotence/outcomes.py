"""How records end: what each is told, and what it means that a batch ends again.

============= ========================================================================================================
0.10          The records are told again.
0.11 – 2.0    A second end is an IllegalStateException, unless the first one was an abort, which it does not change.
2.1 on        It changes nothing, since a batch may expire in flight, and be answered later. Only after a success it would
              be an IllegalStateException.
============= ========================================================================================================

Java source mirrored: ``ProducerBatch.done``, ``complete``, ``completeExceptionally``, ``abort``; ``RecordBatch.done`` of
0.10.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.sizes import SizedRecord
from kafka_reference.errors import IllegalStateException
from kafka_reference.java.hash_maps import partition_hash, table_order
from kafka_reference.releases import Release, since

__all__ = ["MAY_END_AGAIN", "Drained", "Numbered", "Outcomes", "number_of"]

TELLS_AGAIN = since("0.10.0.0", until="0.10.99")
MAY_END_AGAIN = since("2.1.0")


@dataclass(frozen=True, slots=True)
class Numbered(SizedRecord):
    """A record that is told apart from others."""

    number: int = 0


class _End(enum.Enum):
    SUCCEEDED = enum.auto()
    FAILED = enum.auto()
    ABORTED = enum.auto()


class Outcomes:
    """How batches ended. ``told`` is what records were told, in order: an offset, -1 for unknown, or an exception's name."""

    def __init__(self, at: Release) -> None:
        self._at = at
        self._ends: dict[Batch, _End] = {}
        self.told: list[tuple[int, int | str]] = []

    def has(self, batch: Batch) -> bool:
        """Whether this batch has ended. Mirrors ``isDone``."""
        return batch in self._ends

    def end(self, batch: Batch, exception: str | None, base_offset: int) -> bool:
        """End a batch; whether it had not ended before. Raises IllegalStateException."""
        before = None if self._at in TELLS_AGAIN else self._ends.get(batch)
        if before is not None:
            if before is _End.SUCCEEDED or (before is _End.FAILED and self._at not in MAY_END_AGAIN):
                raise IllegalStateException
            return False
        self._ends[batch] = _End.SUCCEEDED if exception is None else _End.FAILED
        self._tell(batch, exception, base_offset)
        return True

    def abort(self, batches: Iterable[Batch], exception: str) -> None:
        """End these batches for a reason that is not theirs."""
        for batch in batches:
            self._ends[batch] = _End.ABORTED
            self._tell(batch, exception, -1)

    def _tell(self, batch: Batch, exception: str | None, base_offset: int) -> None:
        for place, record in enumerate(batch.records):
            offset = -1 if base_offset == -1 else base_offset + place
            self.told.append((number_of(record), offset if exception is None else exception))


class Drained:
    """What was drained and is not settled: by partition, in the order of draining. Mirrors ``Sender.inFlightBatches``."""

    def __init__(self) -> None:
        self._batches: dict[tuple[str, int], list[Batch]] = {}

    def add(self, batch: Batch) -> None:
        """A batch was drained."""
        self._batches.setdefault(batch.topic_partition, []).append(batch)

    def settle(self, batch: Batch) -> None:
        """A batch is settled. Mirrors ``maybeRemoveFromInflightBatches``."""
        batches = self._batches.get(batch.topic_partition, [])
        if batch in batches:
            batches.remove(batch)
        if not batches:
            self._batches.pop(batch.topic_partition, None)

    def take_overdue(self, is_overdue: Callable[[Batch], bool], outcomes: Outcomes) -> list[Batch]:
        """Those at the front of each partition that are overdue. Raises IllegalStateException if one has ended.

        Mirrors ``getExpiredInflightBatches``.
        """
        found: list[Batch] = []
        for of in table_order(self._batches, partition_hash, 16):
            batches = self._batches[of]
            while batches and is_overdue(batches[0]):
                batch = batches.pop(0)
                if outcomes.has(batch):
                    raise IllegalStateException
                found.append(batch)
            if not batches:
                del self._batches[of]
        return found


def number_of(record: SizedRecord) -> int:
    """The number of a record, -1 for one without."""
    return record.number if isinstance(record, Numbered) else -1
