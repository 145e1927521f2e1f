"""Classify the pattern in which records without a key are spread over partitions, from counts over time alone.

Such a record does not show its partitioner. The input is the number of records in each partition in each interval, a
*bucket*. Over the partitions in use, the dispersion of a bucket is chi-square over its degrees of freedom: 1 is what chance
alone gives.

==================  =============================================================================================
pattern             counts
==================  =============================================================================================
``round robin``     nearly equal: a dispersion of at most 0.1, less than chance gives. A rotation over some of the
                    partitions counts too (Java's skips every second one, 2.4 to 3.9.1)
``random``          scatter as by chance, in the bucket itself and in those around it
``sticky runs``     scatter at least twice as much, and the leading partitions change: with runs of r records to one
                    partition the dispersion is about r
``even batches``    scatter more than that, but sums of 4 to 32 buckets scatter less, relative to their records: what
                    a partition lacks in one bucket it gets in the next. So are kafka-go's records in turn, as all records
                    of a batch have one timestamp, and Java's since 3.3 under load, when a partition with few batches
                    that wait is preferred
``one partition``   all in one partition, the same one in all buckets within 32
``unclear``         anything else, and buckets in which a partition has fewer than 5 records on average
==================  =============================================================================================

A bucket is judged together with its neighbours, four on either side and more with few partitions, and must agree with
them by itself: a bucket between two patterns is unclear. Several producers of one pattern give the same pattern; producers
of different patterns give "unclear": if no partition is ever left out although runs of this length would leave some out,
another pattern lies beneath the runs. Runs of five records and fewer are too close to chance, and runs of one, which never
use a partition twice in a row, are a rotation if there are only two partitions.

The limits are 1 in 100 for ordinary deviations, 1 in 1,000 in a single bucket, and 1 in 10,000 for extraordinary ones.
"""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.result import Keyless

__all__ = [
    "EVEN_BATCHES", "ONE_PARTITION", "RANDOM", "ROUND_ROBIN", "STICKY", "UNCLEAR", "bucket_ms", "keyless", "patterns",
]  # fmt: skip

STICKY, ROUND_ROBIN, EVEN_BATCHES, RANDOM, ONE_PARTITION, UNCLEAR = (
    "sticky runs", "round robin", "even batches", "random", "one partition", "unclear",
)  # fmt: skip

PER_PARTITION = 50
AROUND, FAR_AROUND, DEGREES = 4, 32, 60
FEWEST = 5
EVEN, SCATTERED = 0.1, 2.0
SUMMED = 4, 8, 16, 32
USUAL, ORDINARY, EXTRAORDINARY = 2.58, 3.09, 3.72
"""Standard deviations that chance exceeds one time in a hundred (on either side), in a thousand, and in ten thousand."""

Counts = NDArray[np.int64]


def bucket_ms(records: int, partitions: int, span_ms: int) -> int:
    """Return the length of a bucket in ms that gives about fifty records without a key per partition and bucket."""
    if records <= 0:
        return max(1, span_ms)
    return max(1, ceil(span_ms * PER_PARTITION * partitions / records))


def keyless(counts: Counts) -> Keyless:
    """Count the records of each pattern; ``counts`` has a row per bucket, in order, and a column per partition."""
    by_bucket = counts.sum(axis=1)
    found: dict[str, int] = {}
    for pattern, records in zip(patterns(counts), by_bucket, strict=True):
        if records:
            found[pattern] = found.get(pattern, 0) + int(records)
    return Keyless(int(by_bucket.sum()), found)


def patterns(counts: Counts) -> list[str]:
    """Return the pattern of each bucket."""
    out = [UNCLEAR] * len(counts)
    filled = np.flatnonzero(counts.sum(axis=1))  # buckets without records do not count as neighbours
    rows = counts[filled]
    for at, bucket in enumerate(filled):
        out[int(bucket)] = _pattern(rows, at)
    return out


def _pattern(rows: Counts, at: int) -> str:
    if rows.shape[1] == 1:
        return ONE_PARTITION
    if np.count_nonzero(rows[at]) == 1 and (single := _single(rows, at)):
        return single
    reach = max(AROUND, DEGREES // (2 * rows.shape[1] - 2))
    near = rows[max(at - reach, 0) : at + reach + 1]
    used = near.sum(axis=0) > 0
    width = int(np.count_nonzero(used))
    if width < 2 or rows[at].sum() < FEWEST * width:
        return UNCLEAR
    near = near[near.sum(axis=1) >= FEWEST * width][:, used]
    even, degrees = np.full(width, 1 / width), width - 1
    own = _scatter(rows[at : at + 1, used], even)
    around, freedom = _scatter(near, even), degrees * len(near)
    if own <= EVEN * degrees and around <= EVEN * freedom and _deviations(around, freedom) < -EXTRAORDINARY:
        return ROUND_ROBIN
    far = max(FAR_AROUND, 8 * DEGREES // (width - 1))
    evening = _evening_out(rows[max(at - far, 0) : at + far + 1, used])
    if evening < -EXTRAORDINARY:
        return EVEN_BATCHES
    if abs(_deviations(own, degrees)) < ORDINARY and abs(_deviations(around, freedom)) < USUAL:
        return RANDOM if freedom >= FEWEST and evening > -ORDINARY else UNCLEAR
    beside = rows[max(at - 1, 0) : at + 2, used]
    moving = _scatter(near, near.sum(axis=0) / near.sum())
    freedom = degrees * (len(near) - 1)
    if freedom and moving >= SCATTERED * freedom and _deviations(moving, freedom) > EXTRAORDINARY:
        itself = _deviations(own, degrees) > (ORDINARY if degrees >= FEWEST else 0)
        if (
            itself
            and _deviations(_scatter(beside, even), degrees * len(beside)) > ORDINARY
            and not _something_beneath(near, moving / freedom)
            and evening > -ORDINARY
        ):
            return STICKY
    return UNCLEAR


def _evening_out(far: Counts) -> float:
    """Return by how many deviations sums of several buckets scatter less than single ones, as a negative number."""
    degrees = far.shape[1] - 1
    far = far[far.sum(axis=1) > 0]
    even = np.full(far.shape[1], 1 / far.shape[1])
    scatter = _scatter(far, even) / (degrees * len(far))
    least = 0.0
    for buckets in SUMMED:
        many = len(far) // buckets
        if many < 2 or scatter == 0:
            break
        sums = far[: many * buckets].reshape(many, buckets, -1).sum(axis=1)
        least = min(least, _deviations(_scatter(sums, even) / scatter, degrees * many))
    return least


def _single(rows: Counts, at: int) -> str:
    """Return the pattern of a bucket with records in a single partition; empty if its neighbours use several."""
    far = rows[max(at - FAR_AROUND, 0) : at + FAR_AROUND + 1]
    if (np.count_nonzero(far, axis=1) > 1).any():
        return ""
    if len(np.unique(far.argmax(axis=1))) > 1:
        return STICKY if rows[at].sum() >= FEWEST * rows.shape[1] else UNCLEAR
    return ONE_PARTITION if len(far) > AROUND and far.sum() >= PER_PARTITION * AROUND else UNCLEAR


def _scatter(rows: Counts, shares: NDArray[np.float64]) -> float:
    """Return the chi-square of all rows, each relative to its own sum."""
    expected = rows.sum(axis=1, keepdims=True) * shares
    # A partition that no row has a record of is expected to have none.
    return float((np.divide((rows - expected) ** 2, expected, out=np.zeros(expected.shape), where=expected > 0)).sum())


def _deviations(chi_square: float, degrees: int) -> float:
    """Convert a chi-square to standard deviations of a normal distribution (Wilson and Hilferty's cube root)."""
    step = 2 / (9 * degrees)
    return float(((chi_square / degrees) ** (1 / 3) - (1 - step)) / sqrt(step))


def _something_beneath(rows: Counts, run: float) -> bool:
    """Whether runs of this length would leave partitions out, but none or few are left out."""
    width = rows.shape[1]
    left_out = float((width * (1 - 1 / width) ** (rows.sum(axis=1) / run)).sum())
    return left_out >= FEWEST and int(np.count_nonzero(rows == 0)) < left_out / 4
