"""Calls of ``flush`` that are waiting, and the sender of a producer that may have such.

A flush is over as soon as the last batch it waits for is done, which is in a poll, or when batches expire or are aborted.

Java source mirrored: ``RecordAccumulator.beginFlush``, ``awaitFlushCompletion``, every release; the dependents of a
``ProduceRequestResult``, since 3.9.2.
"""

from __future__ import annotations

from kafka_reference.accumulator.accumulator import RecordAccumulator
from kafka_reference.accumulator.batches import Batch
from kafka_reference.accumulator.metadata import Metadata
from kafka_reference.idempotence.sender import Sender, SenderConfig
from kafka_reference.producer.behaviour import KafkaProducerBehaviour
from kafka_reference.releases import Release

__all__ = ["FlushableSender"]


class FlushableSender(Sender):
    """A sender whose batches can be waited for. ``flushes`` are the batches that each waiting flush awaits."""

    def __init__(
        self,
        release: Release,
        config: SenderConfig,
        accumulator: RecordAccumulator,
        metadata: Metadata,
        idempotent: bool,
    ) -> None:
        super().__init__(release, config, accumulator, metadata, idempotent)
        self.flushes: list[frozenset[Batch]] = []
        self._pieces: dict[Batch, tuple[Batch, ...]] = {}
        self._awaits_pieces = KafkaProducerBehaviour.of(release).flush_awaits_pieces

    def begin_flush(self) -> None:
        """Let nothing linger until all that is incomplete now is done. Mirrors ``KafkaProducer.flush``."""
        self.accumulator.begin_flush()
        self.flushes.append(frozenset(self.accumulator.state.incomplete))
        self.end_flushes()

    def end_flushes(self) -> None:
        """End the flushes that have nothing left to wait for."""
        for awaited in list(self.flushes):
            if all(map(self._is_done, awaited)):
                self.flushes.remove(awaited)
                self.accumulator.end_flush()

    def _is_done(self, batch: Batch) -> bool:
        if batch in self._pieces:
            return not self._awaits_pieces or all(map(self._is_done, self._pieces[batch]))
        return self._outcomes.is_done(batch)

    def _split(self, batch: Batch) -> None:
        before = len(self.accumulator.state.batches)
        try:
            super()._split(batch)
        finally:
            self._pieces[batch] = tuple(self.accumulator.state.batches[before:])

    def _poll(self) -> None:
        super()._poll()
        self.end_flushes()
