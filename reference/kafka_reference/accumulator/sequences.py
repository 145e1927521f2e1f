"""What the accumulator requires of an idempotent producer's state, and the null object of a producer that is not.

The accumulator reports every batch that it drains, splits or puts back, and asks which batch may be drained. The state
itself is the idempotent producer's (``kafka_reference.idempotence``); the accumulator does not import it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafka_reference.accumulator.batches import Batch

__all__ = ["NO_SEQUENCES", "Sequences"]


class Sequences(Protocol):
    """The sequences of an idempotent producer. ``is_idempotent`` is false for the null object alone."""

    @property
    def is_idempotent(self) -> bool:
        """Whether batches have sequences."""

    def waits_for(self, batch: Batch) -> str | None:
        """Return what the first batch of a queue has to wait for before it is drained, or None."""

    def number(self, batch: Batch, sent_before: bool) -> None:
        """Give a batch that is drained its sequence, unless it has one."""

    def number_pieces(self, batch: Batch, pieces: Sequence[Batch]) -> None:
        """Give the pieces of a split batch their sequences."""

    def has_in_flight(self, topic_partition: tuple[str, int]) -> bool:
        """Return whether a batch of this partition is in flight."""

    def track(self, batch: Batch) -> None:
        """Add a batch to those in flight. Raises IllegalStateException."""

    def release(self, batch: Batch) -> None:
        """Remove a batch from those in flight."""

    def acknowledge(self, batch: Batch) -> None:
        """Record that the broker appended a batch. Raises IllegalStateException."""

    def fail(self, batch: Batch, refused: bool) -> None:
        """Record that a batch failed for good. Raises IllegalStateException."""

    def mark_unresolved(self, batch: Batch) -> None:
        """Record that a batch expired which the broker may have appended."""

    def become(self, producer_id: int | None, epoch: int) -> None:
        """Replace the producer's id and epoch."""


class _NoSequences:
    """A producer without idempotence: nothing waits, nothing is numbered, nothing is tracked."""

    is_idempotent = False

    def waits_for(self, _: Batch) -> str | None:
        return None

    def number(self, batch: Batch, sent_before: bool) -> None: ...

    def number_pieces(self, batch: Batch, pieces: Sequence[Batch]) -> None: ...

    def has_in_flight(self, _: tuple[str, int]) -> bool:  # unreached: asked about idempotent producers only
        return False

    def track(self, batch: Batch) -> None: ...

    def release(self, batch: Batch) -> None: ...

    def acknowledge(self, batch: Batch) -> None: ...

    def fail(self, batch: Batch, refused: bool) -> None: ...

    def mark_unresolved(self, batch: Batch) -> None: ...

    def become(self, producer_id: int | None, epoch: int) -> None: ...


NO_SEQUENCES: Sequences = _NoSequences()
