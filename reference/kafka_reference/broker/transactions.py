"""The transactions of a partition: those that go on, and those whose end is not replicated yet.

Both are kept by first offset. The *first unstable offset* is the lowest of either: a consumer that reads committed records
may not read it. The *first undecided* one is the lowest of those that go on. A transaction that ended waits until the high
watermark has passed its marker.

The *last stable offset* noted with an ended transaction: to 2.2.0 the first undecided one once it is gone, or behind its
marker; from 2.2.1 on the first of another producer, the other transactions of the same producer being passed over.

Java source mirrored: ``ProducerStateManager.firstUnstableOffset``, ``completeTxn``, ``lastStableOffset``,
``removeUnreplicatedTransactions``, 0.11.0.3 to 4.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.broker.eras import Era
from kafka_reference.errors import IllegalArgumentException

__all__ = ["Completed", "Transactions"]


@dataclass(frozen=True, slots=True)
class Completed:
    """A transaction that a marker ended. Its marker is its last offset."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class Transactions:
    """The transactions of a partition."""

    def __init__(self, era: Era) -> None:
        self._era = era
        self._ongoing: dict[int, int] = {}
        self._unreplicated: dict[int, int] = {}

    @property
    def first_undecided(self) -> int | None:
        """The lowest offset of a transaction that goes on."""
        return min(self._ongoing, default=None)

    @property
    def first_unstable(self) -> int | None:
        """The lowest offset that may not be read as committed."""
        return min((*self._ongoing, *self._unreplicated), default=None)

    def start(self, producer_id: int, first_offset: int) -> None:
        """A transaction goes on from here."""
        self._ongoing[first_offset] = producer_id

    def complete(self, ended: Completed) -> int:
        """A marker was written; the last stable offset. Raises IllegalArgumentException if the transaction is unknown."""
        others = [first for first, owner in self._ongoing.items() if self._counts(owner, first, ended)]
        if self._ongoing.pop(ended.first_offset, None) is None:
            raise IllegalArgumentException
        self._unreplicated[ended.first_offset] = ended.last_offset
        return min(others, default=ended.last_offset + 1)

    def _counts(self, owner: int, first: int, ended: Completed) -> bool:
        if self._era.passes_own_transactions:
            return owner != ended.producer_id
        return first != ended.first_offset

    def replicated_to(self, offset: int) -> None:
        """Markers below ``offset`` are replicated."""
        self._unreplicated = {first: last for first, last in self._unreplicated.items() if last >= offset}

    def forget(self, producer_ids: set[int]) -> None:
        """The transactions of these producers go on no more."""
        self._ongoing = {first: owner for first, owner in self._ongoing.items() if owner not in producer_ids}

    def clear(self) -> None:
        """Forget all."""
        self._ongoing, self._unreplicated = {}, {}
