"""Find the keys that a partition-by-partition join of two topics would miss.

The terms are those of :mod:`kafka_conformance.audit.join_result`. All counts are exact: the records of each key and
partition are counted first, and then these counts are combined, not the records. The 1,000 missed keys with the most
affected records are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_conformance.audit.attribution.placements import JAVA, find_placement
from kafka_conformance.audit.engines.spark.logical_keys import find_missed
from kafka_conformance.audit.join_judgement import JUDGED, join_of, key_judge
from kafka_conformance.audit.join_result import KEPT, Join
from kafka_conformance.spark.arrow import to_arrow
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = ["JoinSource", "join_audit"]


class JoinSource(Protocol):
    """A topic, or an export of it."""

    @property
    def name(self) -> str:
        """Its name in messages and reports."""
        ...

    @property
    def partitions(self) -> int:
        """Its partition count."""
        ...

    def frame(self) -> DataFrame:
        """Return its records: partition int, offset bigint, timestamp_ms bigint or null, key binary or null."""
        ...


def join_audit(
    spark: Spark,
    a: JoinSource,
    b: JoinSource,
    *,
    kit: str,
    clock: Callable[[], float],
    rule: str = JAVA,
    kept: int = KEPT,
    key_format: str = "",
    share: float = 1.0,
) -> Join:
    """Return what a join of ``a`` and ``b`` would miss. Raises BadInput for a topic without keyed records; SparkFault.

    ``rule`` is the slug of the expected placement, ``clock`` returns seconds, ``kept`` limits the missed keys in the result;
    ``key_format`` is one of ``framing.formats.FORMATS``, or empty; ``share`` is that of the keys to join (``sampling``).
    """
    from pyspark import StorageLevel
    from pyspark.sql.pandas.types import from_arrow_schema

    began, doing = clock(), f"joining {a.name} and {b.name}"
    find_placement(rule)
    names, counts = (a.name, b.name), (a.partitions, b.partitions)
    keys = spark.call(lambda: _by_key(a, b, share, key_format), f"reading {a.name} and {b.name}")
    if key_format:
        keys = keys.persist(StorageLevel.DISK_ONLY)
    try:
        judge = key_judge(rule, counts, kept)
        judged = spark.call(lambda: to_arrow(mapped(keys, judge, from_arrow_schema(JUDGED))), doing)
        found = join_of(judged, names, counts, rule, kept, kit=kit, took_s=clock() - began)
        if not key_format:
            return found
        framing = spark.call(lambda: find_missed(keys.where("key is not null"), key_format, kept), doing)
    finally:
        if key_format and spark.alive():
            keys.unpersist()
    return msgspec.structs.replace(found, took_s=clock() - began, framing=framing)


def _by_key(a: JoinSource, b: JoinSource, share: float, key_format: str) -> DataFrame:
    """Return the input of ``join_judgement``: a row per key, and one for all records without a key."""
    from pyspark.sql import functions as f

    def counted(source: JoinSource, side: str) -> DataFrame:
        place = f.struct(f.coalesce("timestamp_ms", f.lit(-1)).alias("time_ms"), f.col("offset").alias("offset"))
        grouped = _sampled(source.frame(), share, key_format).groupBy("key", "partition")
        return grouped.agg(f.count("*").alias("n"), f.min(place).alias("first")).withColumn("side", f.lit(side))

    places = counted(a, "a").unionByName(counted(b, "b"))
    in_partition = f.struct(
        "partition", "n", f.col("first.time_ms").alias("time_ms"), f.col("first.offset").alias("offset")
    )
    by_side = [f.array_sort(f.collect_list(f.when(f.col("side") == side, in_partition))).alias(side) for side in "ab"]
    return places.groupBy("key").agg(*by_side)


def _sampled(records: DataFrame, share: float, key_format: str) -> DataFrame:
    """Return the records of this share of the keys."""

    def selected(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from kafka_conformance.audit.sampling import in_sample

        for batch in batches:
            yield batch.filter(pa.array(in_sample(batch.column("key"), share, key_format)))

    if share >= 1:
        return records
    schema = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in records.schema.fields)
    return mapped(records, selected, schema)
