"""Compare two sets of records by their number and a checksum that includes each record's place.

A record's hash (Spark's xxhash64) covers its partition, its place there, timestamp, key, value and headers; the checksum is
the sum of all hashes modulo 2^64. It does not depend on the order in which Spark reads the records, but on the place of
each: swapped records or a changed value change it. Spark's hash skips nulls, so a flag for null is hashed as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["NOTHING", "Sum", "largest", "misplaced", "sum_column", "sum_of", "summed"]


class Sum(msgspec.Struct, frozen=True):
    """The number of records, and their checksum as 16 hex digits."""

    records: int
    checksum: str

    def __add__(self, other: Sum) -> Sum:
        """Return the sum of both sets of records, which share none."""
        return sum_of(self.records + other.records, int(self.checksum, 16) + int(other.checksum, 16))

    def __str__(self) -> str:
        return f"{self.records:,} records, checksum {self.checksum}"


NOTHING = Sum(0, "0" * 16)


def sum_column(partition: str, place: str) -> Column:
    """Return a column with the sum of the hashes of all records, for :func:`sum_of`; null without records.

    ``partition`` and ``place`` name the two columns with a record's place.
    """
    from pyspark.sql import functions as f

    headers = (
        "transform(coalesce(headers, array()), h -> struct(h.key as key, h.value is null as none, h.value as value))"
    )
    hashed = f.xxhash64(
        f.col(partition), f.col(place), f.col("timestamp_ms"), f.col("key").isNull(), f.col("key"),
        f.col("value").isNull(), f.col("value"), f.expr(headers),
    )  # fmt: skip
    return f.sum(hashed.cast("decimal(20,0)"))


def sum_of(records: int, hashes: Any) -> Sum:
    """Return the sum of ``records`` records from the total of their hashes."""
    return Sum(records, f"{int(hashes or 0) % 2**64:016x}")


def summed(frame: DataFrame, partition: str, place: str) -> Sum:
    """Return the sum of a frame with the columns ``partition``, ``place``, timestamp_ms, key, value and headers."""
    from pyspark.sql import functions as f

    row = frame.agg(f.count("*").alias("records"), sum_column(partition, place).alias("hashes")).collect()[0]
    return sum_of(int(row["records"]), row["hashes"])


def largest() -> Column:
    """Return a column with the size of the largest record, in bytes of key, value and headers."""
    from pyspark.sql import functions as f

    headers = """aggregate(coalesce(headers, array()), 0L,
        (sum, h) -> sum + 16L + octet_length(h.key) + coalesce(octet_length(h.value), 0))"""
    sizes = [f.coalesce(f.octet_length(name), f.lit(0)).cast("long") for name in ("key", "value")]
    return f.max(f.expr(headers) + sizes[0] + sizes[1])


def misplaced(frame: DataFrame, partitions: int) -> int:
    """Count the keyed records of (partition, key) outside the partition that the reference chooses."""

    def counted(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import compute

        from kafka_reference.bulk import partition_for_key

        count = 0
        for batch in batches:
            placed = partition_for_key(batch.column("key"), partitions)
            count += compute.sum(compute.not_equal(placed, batch.column("partition"))).as_py() or 0
        yield pa.record_batch({"count": pa.array([count], pa.int64())})

    counts = mapped(frame.where("key is not null").select("partition", "key"), counted, "count long")
    return int(counts.groupBy().sum("count").collect()[0][0] or 0)
