"""The batches of a partition that are in flight, the one with the lowest sequence first.

==== ================= ================================================================================================
1.0  a PriorityQueue   ordered by the difference of two base sequences, as int32: across 2^31 - 1 that is the order in
to                     which they were sent, but it is no order at all for sequences further apart. Numbering batches
2.2                    anew leaves them at their places in the heap.
2.3  a TreeSet         ordered by base sequence, as a number: a batch that comes after 2^31 - 1 is before all others.
on                     A batch with a base sequence that is there already is not taken in, and to take out a batch takes
                       out whichever has its base sequence. (3.0.2 and 3.1.1 on tell such batches apart; but since 2.5.0
                       batches of two producer ids are never in flight together.)
==== ================= ================================================================================================

Java source mirrored: ``TransactionManager.inflightBatchesBySequence``, later ``TxnPartitionEntry``'s, 1.0.0 to 4.4.0;
``java.util.PriorityQueue``, JDK 17 and 21.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kafka_reference.idempotence.sequences import added
from kafka_reference.releases import Release, since

__all__ = ["Heap", "Sequenced", "Tree", "in_flight"]

HEAPS = since("1.0.0", until="2.2.99")


class Sequenced(Protocol):
    """A batch, as far as sequences go: None is no sequence, and no producer."""

    of: tuple[str, int]
    sequence: int | None
    producer: tuple[int, int] | None

    @property
    def record_count(self) -> int:
        """How many records it holds."""

    def renumber(self, producer: tuple[int, int], sequence: int) -> None:
        """It is to be built anew with these. Raises IllegalStateException."""


def _base(batch: Sequenced) -> int:
    return -1 if batch.sequence is None else batch.sequence


class Tree:
    """In flight since 2.3.0."""

    def __init__(self) -> None:
        self._batches: list[Sequenced] = []

    def add(self, batch: Sequenced) -> None:
        """Take in a batch, unless its place is taken."""
        if all(_base(one) != _base(batch) for one in self._batches):
            self._batches = sorted([*self._batches, batch], key=_base)

    def remove(self, batch: Sequenced) -> None:
        """Take out the batch at this batch's place."""
        self._batches = [one for one in self._batches if _base(one) != _base(batch)]

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
    return Heap() if at in HEAPS else Tree()
