"""Search for placements among the records that no block explains, taken together.

A producer of one record in a thousand is in every block, but in none beyond chance: each block leaves its few records
unexplained. Together they are many. So a bounded, random part of all unexplained records is searched once more for present
placements; if there are any, every unexplained record is tested against them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa

from kafka_conformance.spark.audit.attribution.block import column_of
from kafka_conformance.spark.audit.attribution.presence import present
from kafka_conformance.spark.audit.result import EITHER, UNEXPLAINED, Place, Placed
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Leftover", "leftover"]

SAMPLE_RECORDS = 20_000
_COLUMNS = "name string, partition int, records long, first_ms long, first_offset long, last_ms long, last_offset long"


class Leftover(msgspec.Struct, frozen=True):
    """Unexplained records of a partition that belong to this placement after all (or to EITHER of several)."""

    name: str
    partition: int
    records: int
    first: Place
    last: Place


def leftover(records: DataFrame, partitions: int) -> tuple[tuple[Placed, ...], list[Leftover]]:
    """Return the placements present among the unexplained ``records``, and the records of each by partition."""
    unexplained = records.where(f"attributed = '{UNEXPLAINED}'").select("partition", "offset", "timestamp_ms", "key")
    mixed = unexplained.selectExpr("*", "xxhash64(partition, offset) mixed").orderBy("mixed", "partition", "offset")
    rows = mixed.limit(SAMPLE_RECORDS).select("partition", "key").toArrow().combine_chunks()
    if not rows.num_rows:
        return (), []
    found = present(column_of(rows.column("key").combine_chunks(), rows.column("partition").to_numpy(), partitions))
    if not found:
        return (), []
    counted = (
        mapped(unexplained, _counted(found, partitions), _COLUMNS)
        .groupBy("name", "partition")
        .agg({"records": "sum", "first_ms": "min", "first_offset": "min", "last_ms": "max", "last_offset": "max"})
    )
    names = (
        "name",
        "partition",
        "sum(records)",
        "min(first_ms)",
        "min(first_offset)",
        "max(last_ms)",
        "max(last_offset)",
    )
    return found, [
        Leftover(name, partition, count, Place(first_ms, partition, first), Place(last_ms, partition, last))
        for name, partition, count, first_ms, first, last_ms, last in counted.select(*map(_quoted, names)).collect()
        if name != UNEXPLAINED
    ]


def _quoted(name: str) -> str:
    return f"`{name}`"


def _counted(found: Sequence[Placed], count_now: int) -> Work:
    names = [*map(str, found), EITHER, UNEXPLAINED]

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            partitions = batch.column("partition").to_numpy(zero_copy_only=False)
            keys = column_of(batch.column("key"), partitions, count_now)
            explained = np.stack([keys.by(placed) for placed in found])
            many = explained.sum(axis=0)
            owner = np.where(many == 1, explained.argmax(axis=0), np.where(many == 0, len(found) + 1, len(found)))
            yield from _groups(batch, partitions, owner, names)

    return count


def _groups(
    batch: pa.RecordBatch, partitions: np.ndarray, owner: np.ndarray, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    offsets = batch.column("offset").to_numpy(zero_copy_only=False)
    times = batch.column("timestamp_ms").fill_null(-1).to_numpy(zero_copy_only=False)
    for partition in np.unique(partitions).tolist():
        for code in np.unique(owner[partitions == partition]).tolist():
            rows = (partitions == partition) & (owner == code)
            yield pa.RecordBatch.from_pylist([{
                "name": names[code], "partition": partition, "records": int(rows.sum()),
                "first_ms": int(times[rows].min()), "first_offset": int(offsets[rows].min()),
                "last_ms": int(times[rows].max()), "last_offset": int(offsets[rows].max()),
            }], schema=_ARROW)  # fmt: skip


_ARROW = pa.schema([
    ("name", pa.string()), ("partition", pa.int32()), ("records", pa.int64()), ("first_ms", pa.int64()),
    ("first_offset", pa.int64()), ("last_ms", pa.int64()), ("last_offset", pa.int64()),
])  # fmt: skip
