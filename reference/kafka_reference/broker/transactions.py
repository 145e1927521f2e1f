"""The transactions of a partition: the ongoing ones, and the completed ones whose marker is not replicated yet.

Both are kept by first offset. The *first unstable offset* is the lowest of both: a consumer that reads committed records may
not read it. The *first undecided offset* is the lowest of the ongoing ones. A completed transaction waits until the high
watermark has passed its marker.

The *last stable offset* noted with a completed transaction is the lowest ongoing transaction of another producer, or the
offset after the marker. Up to 2.2.0 other transactions of the same producer count too (KAFKA-7866).

Java source mirrored: ``ProducerStateManager.firstUnstableOffset``, ``completeTxn``, ``lastStableOffset`` and
``removeUnreplicatedTransactions``, since 0.11.0.0.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kafka_reference.broker.behaviour import ProducerStateBehaviour
from kafka_reference.errors import IllegalArgumentException

__all__ = ["CompletedTxn", "Transactions"]


@dataclass(frozen=True, slots=True)
class CompletedTxn:
    """A transaction that a marker completed. ``last_offset`` is the offset of the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class Transactions:
    """The transactions of a partition."""

    def __init__(self, behaviour: ProducerStateBehaviour) -> None:
        self._own_count = behaviour.own_transactions_hold_stable_offset
        self._ongoing: dict[int, int] = {}
        self._unreplicated: dict[int, int] = {}

    @property
    def first_undecided(self) -> int | None:
        """The lowest offset of an ongoing transaction."""
        return min(self._ongoing, default=None)

    @property
    def first_unstable(self) -> int | None:
        """The lowest offset that may not be read as committed."""
        return min((*self._ongoing, *self._unreplicated), default=None)

    def start(self, producer_id: int, first_offset: int) -> None:
        """Add an ongoing transaction."""
        self._ongoing[first_offset] = producer_id

    def complete(self, completed: CompletedTxn) -> int:
        """Complete an ongoing transaction and return the last stable offset.

        Raises IllegalArgumentException if the transaction is not ongoing.
        """
        holding = [first for first, producer_id in self._ongoing.items() if self._holds(producer_id, first, completed)]
        if self._ongoing.pop(completed.first_offset, None) is None:
            raise IllegalArgumentException
        self._unreplicated[completed.first_offset] = completed.last_offset
        return min(holding, default=completed.last_offset + 1)

    def _holds(self, producer_id: int, first: int, completed: CompletedTxn) -> bool:
        return first != completed.first_offset if self._own_count else producer_id != completed.producer_id

    def remove_replicated(self, offset: int) -> None:
        """Remove completed transactions whose marker is below ``offset``: they are replicated."""
        self._unreplicated = {first: last for first, last in self._unreplicated.items() if last >= offset}

    def remove_ongoing(self, producer_ids: Collection[int]) -> None:
        """Remove the ongoing transactions of these producers."""
        self._ongoing = {first: owner for first, owner in self._ongoing.items() if owner not in producer_ids}

    def clear(self) -> None:
        """Remove all transactions."""
        self._ongoing, self._unreplicated = {}, {}
