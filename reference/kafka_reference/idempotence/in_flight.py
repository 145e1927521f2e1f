"""The batches of a partition that are in flight, the one with the lowest sequence first.

==== ================= ================================================================================================
1.0  a PriorityQueue   ordered by the difference of two base sequences, as int32: across 2^31 - 1 that is the order in
to                     which they were sent, but it is no order at all for sequences further apart. Numbering batches
2.2                    anew leaves them at their places in the heap.
2.3  a TreeSet         ordered by base sequence, as a number: a batch that comes after 2^31 - 1 is before all others.
on                     A batch with a base sequence that is there already is not taken in, and to take out a batch takes
                       out whichever has its base sequence: so the late answer to a batch that expired in flight takes out
                       one of the next epoch. Since 3.1.1 the producer id and the epoch count too, before the base
                       sequence, and in 3.0.2 only the batch itself is taken out (KAFKA-13794).
==== ================= ================================================================================================

Java source mirrored: ``TransactionManager.inflightBatchesBySequence``, later ``TxnPartitionEntry``'s, 1.0.0 to 4.4.0;
``java.util.PriorityQueue``, JDK 17 and 21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from kafka_reference.idempotence.sequences import added
from kafka_reference.releases import Release, since

__all__ = ["Heap", "Sequenced", "Tree", "in_flight"]

HEAPS = since("1.0.0", until="2.2.99")
KNOWS_ITSELF = since("3.0.2", until="3.0.99")
KNOWS_PRODUCERS = since("3.1.1")

Key: TypeAlias = tuple[int, ...]


class Sequenced(Protocol):
    """A batch, as far as sequences go: None is no sequence, and no producer."""

    topic_partition: tuple[str, int]
    sequence: int | None
    producer: tuple[int, int] | None

    @property
    def record_count(self) -> int:
        """How many records it holds."""

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        """It is to be built anew with these. Raises IllegalStateException."""


def _base(batch: Sequenced) -> int:
    return -1 if batch.sequence is None else batch.sequence


def _at_its_place(batch: Sequenced) -> Key:
    return (_base(batch),)


def _itself(batch: Sequenced) -> Key:
    return (_base(batch), id(batch))


def _of_its_producer(batch: Sequenced) -> Key:
    return (*(batch.producer or (-1, -1)), _base(batch))


class Tree:
    """In flight since 2.3.0; ``key`` says which batches are the same one, and which comes first."""

    def __init__(self, key: Callable[[Sequenced], Key] = _at_its_place) -> None:
        self._key = key
        self._batches: list[Sequenced] = []

    def add(self, batch: Sequenced) -> None:
        """Take in a batch, unless its place is taken."""
        if all(self._key(one) != self._key(batch) for one in self._batches):
            self._batches = sorted([*self._batches, batch], key=self._key)

    def remove(self, batch: Sequenced) -> None:
        """Take out the batch at this batch's place."""
        self._batches = [one for one in self._batches if self._key(one) != self._key(batch)]

    def renumbered(self) -> None:
        """Batches have other sequences now. Mirrors ``resetSequenceNumbers``."""
        found, self._batches = self._batches, []
        for batch in found:
            self.add(batch)

    @property
    def first(self) -> Sequenced | None:
        """The one that goes first."""
        return self._batches[0] if self._batches else None

    def __iter__(self) -> Iterator[Sequenced]:
        return iter(tuple(self._batches))


class Heap:
    """In flight to 2.2.x."""

    def __init__(self) -> None:
        self._batches: list[Sequenced] = []

    def add(self, batch: Sequenced) -> None:
        """Take in a batch. Mirrors ``offer``."""
        self._batches.append(batch)
        self._up(len(self._batches) - 1)

    def remove(self, batch: Sequenced) -> None:
        """Take out a batch, if it is there. Mirrors ``remove``."""
        place = next((at for at, one in enumerate(self._batches) if one is batch), None)
        if place is None:
            return
        moved = self._batches.pop()
        if place < len(self._batches):
            self._batches[place] = moved
            self._down(place)
            if self._batches[place] is moved:
                self._up(place)

    def renumbered(self) -> None:
        """Batches have other sequences now; nothing moves."""

    @property
    def first(self) -> Sequenced | None:
        """The one that goes first."""
        return self._batches[0] if self._batches else None

    def __iter__(self) -> Iterator[Sequenced]:
        return iter(tuple(self._batches))

    def _before(self, one: int, other: int) -> int:
        return added(_base(self._batches[one]), -_base(self._batches[other]))

    def _swap(self, one: int, other: int) -> None:
        self._batches[one], self._batches[other] = self._batches[other], self._batches[one]

    def _up(self, at: int) -> None:
        while at > 0 and self._before(at, (at - 1) // 2) < 0:
            self._swap(at, (at - 1) // 2)
            at = (at - 1) // 2

    def _down(self, at: int) -> None:
        while (child := 2 * at + 1) < len(self._batches):
            if child + 1 < len(self._batches) and self._before(child, child + 1) > 0:
                child += 1
            if self._before(at, child) <= 0:
                return
            self._swap(at, child)
            at = child


def in_flight(at: Release) -> Heap | Tree:
    """Nothing in flight yet, in this release."""
    if at in HEAPS:
        return Heap()
    return Tree(_of_its_producer if at in KNOWS_PRODUCERS else _itself if at in KNOWS_ITSELF else _at_its_place)
