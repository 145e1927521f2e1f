"""Compression, as far as the accumulator looks at it: by what it expects, and by what it sees at the end.

What a codec makes of a batch is its own affair: it differs by library, by build, by content. So that is given, as the
clock is: of batch ``n`` the codec makes ``achieved_per_mille[n % length]`` thousandths of the bytes that went in, cut to
whole bytes and at least 1, all of them when the batch is closed for appends. Everything else is Kafka's, and follows.

**While a batch is filled** its size is an estimate by the expected ratio (see ``sizes`` and ``ratios``). Since 0.11.0.0
the ratio is the topic's as it was when the batch was made. To 0.10.2 it is the producer's as it is now: a batch that is
closed makes all others larger or smaller, which may make them full, or give them room again.

**Once it is built** its size is what it came to: drains reckon with that, and so does the next split. It is built when it
is drained; to 0.10.2 also when a record found no room in it, or it expired. 0.10.0 and 0.10.1 show, of a batch that is
open, what stands in its buffer: with a codec that keeps all to itself until the end, the 34 bytes of the wrapper.

**The expected ratio** sees what was observed of a batch whenever it is closed (see ``ratios.next_ratio``). Since 0.11.0.0
that is at every drain, so a batch that came back is counted once more each time; before, it is once. Observed is what the
records came to by what they had been; 0.10.0 and 0.10.1 add the wrapper to the former.

**A split** sets the topic's ratio to what the large batch achieved, and at least to 1, before the pieces are made.

Aborting closes batches as well to 0.10.2, in the order of a HashSet of objects without a hash code of their own: what
ratio remains is chance. So it is not asked: both sides go back to the first ratio then.

Java source mirrored: ``ProducerBatch.close``, ``RecordAccumulator.splitAndReenqueue`` and CompressionRatioEstimator,
0.11.0.0 to 4.4.0; ``MemoryRecordsBuilder.close``, 0.10.2; ``Compressor.close``, 0.10.0 and 0.10.1. With gzip: codecs
differ in what they achieve only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_reference.accumulator.ratios import compression_ratio, float32, next_ratio
from kafka_reference.accumulator.sizes import batch_overhead
from kafka_reference.releases import Release, since

if TYPE_CHECKING:
    from kafka_reference.accumulator.batches import Batch

__all__ = ["CLOSES_AT_ONCE", "Compressed", "Expectations", "shown_while_open"]

CLOSES_AT_ONCE = since("0.10.0.0", until="0.10.2.99")
ONE_RATIO = CLOSES_AT_ONCE
SHOWS_ITS_BUFFER = since("0.10.0.0", until="0.10.1.99")
OBSERVES_THE_WRAPPER = SHOWS_ITS_BUFFER

_WRAPPER = batch_overhead(1, True)


@dataclass(frozen=True, slots=True)
class Compressed:
    """What is expected of the codec for one batch, a 32-bit float, and what it achieves."""

    ratio: float
    per_mille: int

    def packed(self, uncompressed: int) -> int:
        """Bytes that so many become."""
        return max(1, uncompressed * self.per_mille // 1000)


def shown_while_open(at: Release) -> int | None:
    """Bytes of an open compressed batch, as it shows them; None for the estimate."""
    return _WRAPPER if at in SHOWS_ITS_BUFFER else None


class Expectations:
    """What ratios are expected, by topic. Mirrors ``CompressionRatioEstimator``, before 0.11.0.0 ``TYPE_TO_RATE``."""

    def __init__(self, at: Release, compression: str, ratio: float, achieved_per_mille: tuple[int, ...]) -> None:
        self._at, self._compresses, self._first = at, compression != "none", float32(ratio)
        self._achieved = achieved_per_mille or (1000,)
        self._ratios: dict[str, float] = {}

    def compressed(self, topic: str, number: int) -> Compressed | None:
        """What becomes of the batch of this number, made now."""
        if not self._compresses:
            return None
        return Compressed(self._ratio(topic), self._achieved[number % len(self._achieved)])

    def see(self, batch: Batch, again: bool) -> float | None:
        """The batch was closed, or ``again``; returns the ratio that all open batches have from now on, if there is one."""
        if not self._compresses or (again and self._at in CLOSES_AT_ONCE):
            return None
        topic = batch.topic_partition[0]
        ratio = next_ratio(self._at, self._ratio(topic), self._observed(batch))
        self._set(topic, ratio)
        return ratio if self._at in ONE_RATIO else None

    def see_split(self, batch: Batch) -> None:
        """The batch is being split. Mirrors ``setEstimation``, as ``splitAndReenqueue`` calls it."""
        if self._compresses:
            self._set(batch.topic_partition[0], max(1.0, self._observed(batch)))

    def start_again(self) -> float | None:
        """Everything was aborted; returns as ``see`` does."""
        if self._at not in ONE_RATIO:
            return None
        self._ratios.clear()
        return self._first

    def _observed(self, batch: Batch) -> float:
        wrapper = _WRAPPER if self._at in OBSERVES_THE_WRAPPER else 0
        return compression_ratio(wrapper + batch.packed, batch.size.uncompressed)

    def _ratio(self, topic: str) -> float:
        return self._ratios.get(self._name(topic), self._first)

    def _set(self, topic: str, ratio: float) -> None:
        self._ratios[self._name(topic)] = ratio

    def _name(self, topic: str) -> str:
        return "" if self._at in ONE_RATIO else topic
