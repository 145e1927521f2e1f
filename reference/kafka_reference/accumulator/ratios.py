"""The compression ratio that a producer expects, and the size of a batch that it estimates from that.

A producer does not compress a batch to measure its size while it fills it. It counts the bytes before compression
and estimates those after it as ::

    (int) (bytes * ratio * 1.05f)

These are two products of 32-bit floats, each rounded, the result cut to an int. The arithmetic is Java's: doubles give
another number of bytes every so often. A result beyond the ints becomes the nearest int.

**The ratio** moves with every batch that is observed. After a batch that compressed worse it rises by 0.05f, at least to
what was observed. After one that compressed better it falls by 0.005f, and since 2.5.0 no lower than what was observed.
From 0.11.0.0 to 2.4.x it fell on: below anything that was ever observed, below 0, and the estimates with it (KAFKA-9700).
Up to 0.10.2.x it is ``ratio * 0.9f + observed * (1 - 0.9f)``.

It starts at 1; up to 0.10.2.x at 0.5. The question of a rule gives it.

Java source mirrored: ``CompressionRatioEstimator.updateEstimation`` and ``MemoryRecordsBuilder.estimatedBytesWritten``,
since 0.11.0.0; ``MemoryRecordsBuilder.close``, 0.10.2; ``Compressor.close`` and ``estimatedBytesWritten``, 0.10.0 and
0.10.1.
"""

from __future__ import annotations

import struct

from kafka_reference.accumulator.behaviour import CompressionRatioEstimatorBehaviour

__all__ = ["compressed_estimate", "compression_ratio", "float32", "next_ratio"]


def float32(number: float) -> float:
    """Return ``number`` as the nearest 32-bit float: one Java float operation, if ``number`` is its result in doubles.

    The product of two floats is exact as a double. A sum, a difference or a quotient is rounded twice, which gives what
    rounding once would, since a double has more than twice as many bits as a float, and two more.
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:  # unreached: an int times a ratio of 1e9 is a float yet
        return float("inf") if number > 0 else float("-inf")


_FACTOR, _WORSE, _BETTER, _DAMPING = map(float32, (1.05, 0.05, 0.005, 0.9))
_REST = float32(1 - _DAMPING)


def compressed_estimate(uncompressed: int, ratio: float, bits: int = 32) -> int:
    """Return the estimated size after compression of a number of bytes, as an int of ``bits`` bits."""
    number = float32(float32(float32(uncompressed) * ratio) * _FACTOR)
    last = 2 ** (bits - 1)
    return int(max(-last, min(number, last - 1)))


def compression_ratio(compressed: int, uncompressed: int) -> float:
    """Return the observed ratio of a batch, a 32-bit float: its bytes after and before compression, both above 0."""
    return float32(float32(compressed) / float32(uncompressed))


def next_ratio(behaviour: CompressionRatioEstimatorBehaviour, ratio: float, observed: float) -> float:
    """Return the ratio expected after a batch with the ratio ``observed``; all three are 32-bit floats."""
    if behaviour.averages_ratios:
        return float32(float32(ratio * _DAMPING) + float32(observed * _REST))
    if observed > ratio:
        return max(float32(ratio + _WORSE), observed)
    if observed < ratio:
        better = float32(ratio - _BETTER)
        return better if behaviour.falls_below_observed else max(better, observed)
    return ratio
