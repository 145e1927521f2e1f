"""How well a producer expects its next batch to compress, and how large it therefore believes the batch to be.

A producer does not look at a compressed batch to know its size while it fills it. It counts what went in, and takes

    (int) (bytes * ratio * 1.05f)

for what came out: two products of 32-bit floats, each rounded, cut to an int. The arithmetic is Java's, since doubles
give another number of bytes every so often. What lies beyond the ints becomes the last int.

**The ratio** follows the batches that were closed. Up to 0.10.2 there is one for each codec, 0.5 at first, and after a
batch it is ``ratio * 0.9f + observed * (1 - 0.9f)``. Since 0.11.0.0 there is one for each topic and codec, 1 at first.
After a worse batch it is 0.05f more, and no less than what was observed. After a better one it is 0.005f less, and
since 2.5.0 no less than what was observed. Before that it went on falling: below what was ever observed, below 0, and
the estimates with it (KAFKA-9700).

Java source mirrored: ``CompressionRatioEstimator.updateEstimation`` and ``estimatedBytesWritten`` of
``MemoryRecordsBuilder``; to 0.10.2 the end of ``MemoryRecordsBuilder.close``, to 0.10.1 ``Compressor``.
"""

from __future__ import annotations

import struct

from kafka_reference.releases import Release, parse_release, since

__all__ = ["compressed_estimate", "compression_ratio", "first_ratio", "float32", "next_ratio"]

DAMPED = since("0.10.0.0", until="0.10.2.99")
BELOW_OBSERVED = since("0.11.0.0", until="2.4.99")


def float32(number: float) -> float:
    """``number`` as the nearest 32-bit float: one Java float operation, if ``number`` is its result in doubles.

    The product of two floats is exact as a double. A sum, a difference or a quotient is rounded twice, which gives what
    rounding once would, since a double has more than twice as many bits as a float, and two more.
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


_FACTOR, _WORSE, _BETTER, _DAMPING = map(float32, (1.05, 0.05, 0.005, 0.9))
_REST = float32(1 - _DAMPING)


def compressed_estimate(uncompressed: int, ratio: float, bits: int = 32) -> int:
    """Bytes that so many uncompressed ones are believed to become, an int of ``bits`` bits."""
    number = float32(float32(float32(uncompressed) * ratio) * _FACTOR)
    last = 2 ** (bits - 1)
    return int(max(-last, min(number, last - 1)))


def compression_ratio(compressed: int, uncompressed: int) -> float:
    """What was observed of a batch: its bytes after and before compression, both above 0, as a 32-bit float."""
    return float32(float32(compressed) / float32(uncompressed))


def first_ratio(version: str | Release) -> float:
    """The ratio expected before any batch was closed, whichever the codec."""
    return 0.5 if parse_release(version) in DAMPED else 1.0


def next_ratio(version: str | Release, ratio: float, observed: float) -> float:
    """The ratio expected after a batch with the ratio ``observed``; all three are 32-bit floats."""
    at = parse_release(version)
    if at in DAMPED:
        return float32(float32(ratio * _DAMPING) + float32(observed * _REST))
    if observed > ratio:
        return max(float32(ratio + _WORSE), observed)
    if observed < ratio:
        better = float32(ratio - _BETTER)
        return better if at in BELOW_OBSERVED else max(better, observed)
    return ratio
