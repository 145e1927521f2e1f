"""Compression as the accumulator uses it: the expected ratio, and the resulting size of a batch.

What a codec makes of a batch differs by library, by build, by content. So that is given, as the clock is: of batch ``n``
the codec makes ``achieved_per_mille[n % length]`` thousandths of the bytes that go in, cut to whole bytes and at least 1;
all of them when the batch is closed for appends. Everything else is Kafka's, and follows.

**While a batch is filled** its size is an estimate by the expected ratio (see ``sizes`` and ``ratios``): since 0.11.0.0 the
topic's ratio when the batch was made. Up to 0.10.2.x it is the producer's current ratio: a batch that is closed makes all
others larger or smaller, which may make them full, or give them room again.

**Once it is built** its size is what it came to: drains count that, and so does the next split. It is built when it is
drained; up to 0.10.2.x also when a record finds no room in it, or it expires. Up to 0.10.1.x the size of an open batch is
what its buffer holds: with a codec that writes nothing until the end, the 34 bytes of the wrapper.

**The expected ratio** moves by what is observed of a batch whenever it is closed (see ``ratios.next_ratio``). That is at
every drain, so a batch that is sent again is observed again; up to 0.10.2.x it is observed once. Observed is what the
records came to by what they were; up to 0.10.1.x the wrapper counts among the former.

**A split** sets the topic's ratio to what the large batch achieved, and at least to 1, before the pieces are made.

Up to 0.10.2.x an abort closes batches as well, in the order of a HashSet of objects that use the identity hash code: the
ratio after it is random. So it is not compared: both sides go back to the first ratio then.

Java source mirrored: ``ProducerBatch.close``, ``RecordAccumulator.splitAndReenqueue`` and CompressionRatioEstimator,
since 0.11.0.0; ``MemoryRecordsBuilder.close``, 0.10.2; ``Compressor.close``, 0.10.0 and 0.10.1. With gzip: codecs
differ only in the ratio that they achieve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_reference.accumulator.behaviour import CompressionRatioEstimatorBehaviour
from kafka_reference.accumulator.ratios import compression_ratio, float32, next_ratio
from kafka_reference.accumulator.sizes import batch_overhead
from kafka_reference.releases import Release

if TYPE_CHECKING:
    from kafka_reference.accumulator.batches import Batch

__all__ = ["WRAPPER", "Compressed", "ExpectedRatios"]

WRAPPER = batch_overhead(1, True)
"""Bytes of the message of magic 1 that a compressed batch is."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """One batch's expected ratio, a 32-bit float, and what the codec achieves, in thousandths."""

    ratio: float
    per_mille: int

    def packed(self, uncompressed: int) -> int:
        """Return the size after compression of ``uncompressed`` bytes."""
        return max(1, uncompressed * self.per_mille // 1000)


class ExpectedRatios:
    """The expected ratios by topic. Mirrors ``CompressionRatioEstimator``, up to 0.10.2.x ``TYPE_TO_RATE``."""

    def __init__(self, release: Release, compression: str, ratio: float, achieved_per_mille: tuple[int, ...]) -> None:
        self._behaviour = CompressionRatioEstimatorBehaviour.of(release)
        self._compresses, self._first = compression != "none", float32(ratio)
        self._achieved = achieved_per_mille or (1000,)
        self._ratios: dict[str, float] = {}

    def compressed(self, topic: str, number: int) -> Compressed | None:
        """Return the compression of a batch of this number that is made now, or None without a codec."""
        if not self._compresses:
            return None
        return Compressed(self._ratio(topic), self._achieved[number % len(self._achieved)])

    def observe(self, batch: Batch, again: bool) -> float | None:
        """Observe a batch that was closed, for the first time or ``again``.

        Returns the ratio that all open batches have from now on; None if they keep theirs.
        """
        if not self._compresses or (again and not self._behaviour.observes_retries):
            return None
        topic = batch.topic_partition[0]
        ratio = next_ratio(self._behaviour, self._ratio(topic), self._observed(batch))
        self._set(topic, ratio)
        return None if self._behaviour.ratio_per_topic else ratio

    def observe_split(self, batch: Batch) -> None:
        """Observe a batch that is being split. Mirrors ``setEstimation``, as ``splitAndReenqueue`` calls it."""
        if self._compresses:
            self._set(batch.topic_partition[0], max(1.0, self._observed(batch)))

    def reset(self) -> float | None:
        """Forget what was observed, after an abort; returns as :meth:`observe`."""
        if self._behaviour.ratio_per_topic:
            return None
        self._ratios.clear()
        return self._first

    def _observed(self, batch: Batch) -> float:
        wrapper = WRAPPER if self._behaviour.observes_wrapper else 0
        return compression_ratio(wrapper + batch.packed, batch.size.uncompressed)

    def _ratio(self, topic: str) -> float:
        return self._ratios.get(self._name(topic), self._first)

    def _set(self, topic: str, ratio: float) -> None:
        self._ratios[self._name(topic)] = ratio

    def _name(self, topic: str) -> str:
        return topic if self._behaviour.ratio_per_topic else ""
