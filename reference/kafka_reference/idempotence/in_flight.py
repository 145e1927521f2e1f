"""The batches that a sender has drained and that have not ended: the list of each partition, in the order of draining.

Java source mirrored: ``Sender.java#inFlightBatches``, since 2.1.0.
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_reference.accumulator.batches import Batch
from kafka_reference.errors import ConcurrentModificationException, IllegalStateException
from kafka_reference.idempotence.outcomes import Outcomes
from kafka_reference.java.hash_maps import partition_hash, table_order

__all__ = ["InFlightBatches"]


class InFlightBatches:
    """Batches in flight, by partition."""

    def __init__(self) -> None:
        self._batches: dict[tuple[str, int], list[Batch]] = {}

    def add(self, batch: Batch) -> None:
        """Add a batch that was drained. Mirrors ``addToInflightBatches``."""
        self._batches.setdefault(batch.topic_partition, []).append(batch)

    def remove(self, batch: Batch) -> None:
        """Remove a batch, if it is present. Mirrors ``maybeRemoveFromInflightBatches``."""
        batches = self._batches.get(batch.topic_partition, [])
        if batch in batches:
            batches.remove(batch)
        if not batches:
            self._batches.pop(batch.topic_partition, None)

    def clear(self) -> None:
        """Remove all batches. Mirrors a line of ``maybeAbortBatches``, since 3.9.2, 4.0.2 and 4.1.2."""
        self._batches.clear()

    def take_expired(
        self, is_expired: Callable[[Batch], bool], outcomes: Outcomes, breaks: bool = False
    ) -> list[Batch]:
        """Remove and return the expired batches at the front of each partition's list.

        Raises IllegalStateException if one of them has ended; with ``breaks``, ConcurrentModificationException if a
        partition has none left and another one follows. Mirrors ``getExpiredInflightBatches``.
        """
        expired: list[Batch] = []
        order = list(table_order(self._batches, partition_hash, 16))
        for topic_partition in order:
            batches = self._batches[topic_partition]
            while batches and is_expired(batches[0]):
                batch = batches.pop(0)
                if outcomes.is_done(batch):
                    raise IllegalStateException
                expired.append(batch)
            if not batches:
                del self._batches[topic_partition]
                if breaks and topic_partition != order[-1]:
                    raise ConcurrentModificationException
        return expired
