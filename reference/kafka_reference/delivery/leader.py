"""The reference's leader of a simulated partition: the producer state, and the offset of each appended batch.

Java source mirrored: see :mod:`kafka_reference.broker.producer_state`.
"""

from __future__ import annotations

from kafka_reference.broker.append_checks import Origin
from kafka_reference.broker.batches import DataBatch
from kafka_reference.broker.producer_state import Duplicate, ProducerStateManager
from kafka_reference.delivery.messages import AppendResult, Batch, StartLeader, Truncation
from kafka_reference.errors import JavaException
from kafka_reference.releases import Release

__all__ = ["Leader"]


class Leader:
    """The current leader: started with a log that it has by replication, it appends what clients send."""

    def __init__(self, release: Release) -> None:
        self._release = release
        self._state = ProducerStateManager(release)

    def handle(self, event: StartLeader | Batch) -> AppendResult:
        """Start with a log, or append a batch; an exception of the producer state is part of the result."""
        if isinstance(event, StartLeader):
            self._state = ProducerStateManager(self._release)
            for entry in event.log:
                if isinstance(entry, Truncation):
                    self._state.truncate_and_reload(0, entry.end_offset, now_ms=0)
                else:
                    self._state.append([self._at_end(entry)], Origin.REPLICATION)
            return AppendResult()
        offset = self._state.end_offset
        try:
            appended = self._state.append([self._at_end(event)], Origin.CLIENT)
        except JavaException as refused:
            return AppendResult(error=refused.java_name)
        return (
            AppendResult(appended.offset, duplicate=True) if isinstance(appended, Duplicate) else AppendResult(offset)
        )

    def _at_end(self, batch: Batch) -> DataBatch:
        records, offset = len(batch.records), self._state.end_offset
        return DataBatch(batch.producer_id, batch.epoch, batch.sequence, records, offset, timestamp=0)
