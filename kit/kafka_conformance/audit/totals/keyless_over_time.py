"""Classify records without a key over all partitions by the time at which they were written.

A single partition does not show whether its records came in rotation or in runs. So every block reports the timestamps of
its records without a key; here the time is divided into equal buckets, the records of each partition and bucket are counted,
and ``totals.keyless`` classifies each bucket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kafka_conformance.audit.findings import BLOCK, Findings
from kafka_conformance.audit.result import Keyless
from kafka_conformance.audit.scan import unpack_moments
from kafka_conformance.audit.totals.keyless import bucket_ms, patterns
from kafka_conformance.spark.workers import Work

__all__ = ["keyless"]

_CELLS = 4_000_000
"""Maximum of buckets times partitions: the counts are held in memory."""

_COUNTS = pa.schema([("cell", pa.int64()), ("records", pa.int64())])
"""The records of a cell: its number is that of its bucket times the partition count, plus the partition."""


def keyless(findings: Findings, records: int, partitions: int, first_ms: int | None, last_ms: int | None) -> Keyless:
    """Return the patterns of the ``records`` without a key in the blocks of ``findings``."""
    if not records:
        return Keyless(0, {})
    if first_ms is None or last_ms is None:
        return Keyless(records, {"unclear": records})
    span = last_ms - first_ms + 1
    wide = max(bucket_ms(records, partitions, span), -(-span * partitions // _CELLS), 1)
    counted = findings.mapped(BLOCK, ("partition", "moments"), _counted(first_ms, wide, partitions), _COUNTS)
    counts = np.zeros((-(-span // wide), partitions), np.int64)
    np.add.at(counts.reshape(-1), counted["cell"].to_numpy(), counted["records"].to_numpy())
    found: Counter[str] = Counter()
    for pattern, count in zip(patterns(counts), counts.sum(axis=1).tolist(), strict=True):
        found[str(pattern)] += int(count)
    found["unclear"] += records - found.total()  # records without a timestamp
    return Keyless(records, {pattern: count for pattern, count in sorted(found.items()) if count})


def _counted(first_ms: int, wide: int, partitions: int) -> Work:
    """Return the work that counts the records of each cell, once per part of the rows."""

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        cells, records = np.empty(0, np.int64), np.empty(0, np.int64)
        for batch in batches:
            found, counts = [cells], [records]
            for partition, packed in zip(
                *(batch.column(name).to_pylist() for name in ("partition", "moments")), strict=True
            ):
                moments, many = unpack_moments(packed)
                timed = moments >= 0
                found.append((moments[timed] - first_ms) // wide * partitions + partition)
                counts.append(many[timed].astype(np.int64))
            cells, records = _added(np.concatenate(found), np.concatenate(counts))
        yield pa.RecordBatch.from_arrays([pa.array(cells), pa.array(records)], schema=_COUNTS)

    return count


def _added(cells: NDArray[np.int64], records: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each cell once, with the sum of its records."""
    distinct, places = np.unique(cells, return_inverse=True)
    out = np.zeros(len(distinct), np.int64)
    np.add.at(out, places, records)
    return distinct, out
