"""The reference's leader in a story: a partition's producer state, and where batches are written.

Java source mirrored: see :mod:`kafka_reference.broker.producer_state`.
"""

from __future__ import annotations

from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.batches import DataBatch
from kafka_reference.broker.producer_state import Duplicate, ProducerStateManager
from kafka_reference.delivery.messages import Batch, Leads, Wrote
from kafka_reference.errors import JavaException
from kafka_reference.releases import Release

__all__ = ["Leader"]

_A_DAY_MS = 86_400_000


class Leader:
    """Who leads now. It has what it has by replication, and writes what it is sent."""

    def __init__(self, at: Release) -> None:
        self._at = at
        self._state = ProducerStateManager(at, _A_DAY_MS)

    def hear(self, told: Leads | Batch) -> Wrote:
        """Be told one thing. What the producer state refuses is the answer."""
        if isinstance(told, Leads):
            self._state = ProducerStateManager(self._at, _A_DAY_MS)
            for batch in told.log:
                self._state.append([self._next(batch)], Origin.REPLICATION)
            return Wrote()
        offset = self._state.end_offset
        try:
            taken = self._state.append([self._next(told)], Origin.CLIENT)
        except JavaException as refused:
            return Wrote(error=refused.java_name)
        return Wrote(taken.offset, duplicate=True) if isinstance(taken, Duplicate) else Wrote(offset)

    def _next(self, batch: Batch) -> DataBatch:
        records = len(batch.records)
        return DataBatch(batch.producer_id, batch.epoch, batch.sequence, records, self._state.end_offset, timestamp=0)
