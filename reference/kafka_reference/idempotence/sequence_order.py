"""The batches of one partition that are in flight, the one with the lowest sequence first.

A set ordered by base sequence, as a number: a batch after 2^31-1 has wrapped to 0 comes before all others. A batch whose key
is present is not added, and to remove a batch removes the one with its key. The key (KAFKA-13794):

=================== ==================================================================================================
since 3.1.1         producer id, epoch, base sequence
3.0.2 to 3.0.x      base sequence, and a batch equals only itself
2.3.0 to 3.1.0      base sequence: a late response to an expired batch removes a batch of the next epoch
1.0.0 to 2.2.x      none: a ``PriorityQueue``, ordered by the int32 difference of base sequences. Across 2^31-1 that is the
                    order of sending; sequences further apart have no order at all. Batches that get other sequences keep
                    their places in the heap.
=================== ==================================================================================================

Java source mirrored: ``TransactionManager.java#inflightBatchesBySequence``, 1.0.0 to 3.2.x; ``TxnPartitionEntry.java``,
since 3.3.0; ``java.util.PriorityQueue``, JDK 17 and 21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from kafka_reference.idempotence.behaviour import InFlightOrder
from kafka_reference.idempotence.sequences import added

__all__ = ["SequenceHeap", "SequenceSet", "Sequenced", "batches_by_sequence"]

Key: TypeAlias = tuple[int, ...]


class Sequenced(Protocol):
    """The parts of a batch that order sequences; sequence and producer (id and epoch) are None if it has none."""

    topic_partition: tuple[str, int]
    sequence: int | None
    producer: tuple[int, int] | None

    @property
    def record_count(self) -> int:
        """The number of records in the batch."""

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        """Give the batch another producer and base sequence. Raises IllegalStateException."""


def _base(batch: Sequenced) -> int:
    return -1 if batch.sequence is None else batch.sequence


def _by_sequence(batch: Sequenced) -> Key:
    return (_base(batch),)


def _by_identity(batch: Sequenced) -> Key:
    return (_base(batch), id(batch))


def _by_producer(batch: Sequenced) -> Key:
    return (*(batch.producer or (-1, -1)), _base(batch))


class SequenceSet:
    """In flight since 2.3.0; batches of the same ``key`` are the same batch, and the lowest key comes first."""

    def __init__(self, key: Callable[[Sequenced], Key] = _by_sequence) -> None:
        self._key = key
        self._batches: list[Sequenced] = []

    def add(self, batch: Sequenced) -> None:
        """Add a batch, unless its key is present."""
        if all(self._key(one) != self._key(batch) for one in self._batches):
            self._batches = sorted([*self._batches, batch], key=self._key)

    def remove(self, batch: Sequenced) -> None:
        """Remove the batch that has this batch's key."""
        self._batches = [one for one in self._batches if self._key(one) != self._key(batch)]

    def reorder(self) -> None:
        """Put the batches in order after they got other sequences. Mirrors ``resetSequenceNumbers``."""
        found, self._batches = self._batches, []
        for batch in found:
            self.add(batch)

    @property
    def first(self) -> Sequenced | None:
        """The batch that comes first."""
        return self._batches[0] if self._batches else None

    def __iter__(self) -> Iterator[Sequenced]:
        return iter(tuple(self._batches))


class SequenceHeap:
    """In flight up to 2.2.x."""

    def __init__(self) -> None:
        self._batches: list[Sequenced] = []

    def add(self, batch: Sequenced) -> None:
        """Add a batch. Mirrors ``PriorityQueue.offer``."""
        self._batches.append(batch)
        self._sift_up(len(self._batches) - 1)

    def remove(self, batch: Sequenced) -> None:
        """Remove a batch, if it is present. Mirrors ``PriorityQueue.remove``."""
        index = next((index for index, one in enumerate(self._batches) if one is batch), None)
        if index is None:
            return
        moved = self._batches.pop()
        if index < len(self._batches):
            self._batches[index] = moved
            self._sift_down(index)
            if self._batches[index] is moved:
                self._sift_up(index)

    def reorder(self) -> None:
        """Change nothing: batches that got other sequences keep their places."""

    @property
    def first(self) -> Sequenced | None:
        """The batch that comes first."""
        return self._batches[0] if self._batches else None

    def __iter__(self) -> Iterator[Sequenced]:
        return iter(tuple(self._batches))

    def _compare(self, one: int, other: int) -> int:
        return added(_base(self._batches[one]), -_base(self._batches[other]))

    def _swap(self, one: int, other: int) -> None:
        self._batches[one], self._batches[other] = self._batches[other], self._batches[one]

    def _sift_up(self, index: int) -> None:
        while index > 0 and self._compare(index, (index - 1) // 2) < 0:
            self._swap(index, (index - 1) // 2)
            index = (index - 1) // 2

    def _sift_down(self, index: int) -> None:
        while (child := 2 * index + 1) < len(self._batches):
            if child + 1 < len(self._batches) and self._compare(child, child + 1) > 0:
                child += 1
            if self._compare(index, child) <= 0:
                return
            self._swap(index, child)
            index = child


_KEYS = {
    InFlightOrder.SEQUENCE: _by_sequence, InFlightOrder.IDENTITY: _by_identity, InFlightOrder.PRODUCER: _by_producer,
}  # fmt: skip


def batches_by_sequence(order: InFlightOrder) -> SequenceHeap | SequenceSet:
    """Return an empty collection of batches in flight, in this order."""
    return SequenceHeap() if order is InFlightOrder.HEAP else SequenceSet(_KEYS[order])
