"""Count the records that a repair moves to another partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kafka_conformance.audit.repair.plan import Moves
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = ["moves_of", "planned_moves", "target_partitions"]


def target_partitions(batch: Any, partitions: int) -> Any:
    """Return the target partition of each record in an Arrow batch of (partition, offset, key), by the reference.

    A record without a key stays, or goes to its offset modulo ``partitions`` if its partition does not exist there.
    """
    import pyarrow as pa
    from pyarrow import compute

    from kafka_reference.bulk import partition_for_key

    at, offsets = batch.column("partition"), batch.column("offset")
    spread = compute.subtract(offsets, compute.multiply(compute.divide(offsets, partitions), partitions))
    stays = compute.if_else(compute.less(at, partitions), at, spread.cast(pa.int32()))
    return compute.coalesce(partition_for_key(batch.column("key"), partitions), stays)


def planned_moves(read: DataFrame, partitions: int) -> DataFrame:
    """Return the target partition of each record by the reference: (partition, target, keyless)."""

    def placed(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import compute

        for batch in batches:
            target, keyless = target_partitions(batch, partitions), compute.is_null(batch.column("key"))
            yield pa.record_batch({"partition": batch.column("partition"), "target": target, "keyless": keyless})

    chosen = read.select("partition", "offset", "key")
    return mapped(chosen, placed, "partition int, target int, keyless boolean")


def moves_of(spark: Spark, frame: DataFrame) -> tuple[tuple[Moves, ...], int]:
    """Return each partition's moves from (partition, target, keyless), and the moves of records without a key."""
    from pyspark.sql import functions as f

    grouped = frame.groupBy("partition", "target", "keyless").count().persist()
    other = f.col("partition") != f.col("target")

    def count() -> tuple[list[Any], list[Any]]:
        before = grouped.groupBy("partition").agg(f.sum("count").alias("records")).collect()
        arriving, keyless = (f.sum(f.when(what, f.col("count")).otherwise(0)) for what in (other, f.col("keyless")))
        spread = f.sum(f.when(other & f.col("keyless"), f.col("count")).otherwise(0))
        after = grouped.groupBy("target").agg(f.sum("count").alias("records"), arriving.alias("arriving"),
                                              keyless.alias("keyless"), spread.alias("spread"))  # fmt: skip
        return before, after.collect()

    try:
        was, now = spark.call(count, "counting the records that change partition")
    finally:
        if spark.alive():
            grouped.unpersist()
    before = {row["partition"]: int(row["records"]) for row in was}
    after = {row["target"]: row for row in now}
    lines = [
        Moves(one, before.get(one, 0), *(int(after[one][name]) if one in after else 0
                                        for name in ("records", "arriving", "keyless")))
        for one in sorted({*before, *after})
    ]  # fmt: skip
    return tuple(lines), sum(int(row["spread"]) for row in now)
