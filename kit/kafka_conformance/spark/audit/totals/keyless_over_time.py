"""Classify records without a key over all partitions by the time at which they were written.

A single partition does not show whether its records came in rotation or in runs. So every block reports the timestamps of
its records without a key; here the time is divided into equal buckets, the records of each partition and bucket are counted,
and ``totals.keyless`` classifies each bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kafka_conformance.spark.audit.result import Keyless
from kafka_conformance.spark.audit.scan import unpack_moments
from kafka_conformance.spark.audit.totals.keyless import bucket_ms, patterns
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["keyless"]

_CELLS = 4_000_000
"""Maximum of buckets times partitions: the counts are held in memory."""


def keyless(blocks: DataFrame, records: int, partitions: int, first_ms: int | None, last_ms: int | None) -> Keyless:
    """Return the patterns of the ``records`` without a key in ``blocks`` (columns ``partition``, ``moments``)."""
    if not records:
        return Keyless(0, {})
    if first_ms is None or last_ms is None:
        return Keyless(records, {"unclear": records})
    span = last_ms - first_ms + 1
    wide = max(bucket_ms(records, partitions, span), -(-span * partitions // _CELLS), 1)
    moments = blocks.select("partition", "moments")
    bucketed = mapped(moments, _bucketed(first_ms, wide), "bucket long, partition int, records long")
    rows = bucketed.groupBy("bucket", "partition").sum("records").collect()
    counts = np.zeros((-(-span // wide), partitions), np.int64)
    for bucket, partition, count in rows:
        counts[bucket, partition] = count
    found: Counter[str] = Counter()
    for pattern, count in zip(patterns(counts), counts.sum(axis=1).tolist(), strict=True):
        found[str(pattern)] += int(count)
    found["unclear"] += records - found.total()  # records without a timestamp
    return Keyless(records, {pattern: count for pattern, count in sorted(found.items()) if count})


def _bucketed(first_ms: int, wide: int) -> Work:
    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for partition, packed in zip(
                *(batch.column(name).to_pylist() for name in ("partition", "moments")), strict=True
            ):
                moments, counts = unpack_moments(packed)
                timed = moments >= 0
                buckets, places = np.unique((moments[timed] - first_ms) // wide, return_inverse=True)
                if len(buckets):
                    yield pa.RecordBatch.from_pydict({
                        "bucket": buckets.astype(np.int64),
                        "partition": np.full(len(buckets), partition, np.int32),
                        "records": np.bincount(places, counts[timed]).astype(np.int64),
                    })  # fmt: skip

    return count
