"""``partition_for_key`` as a column and in SQL, beside a user's own job over whole Arrow batches: ``mapInArrow`` with bulk.

All of them add the partition of a key to the same rows, which are in memory before, and drop the result (``noop``). A
column sends only the keys to Python; ``mapInArrow`` sends whole rows there and back. So there are two frames: keys alone,
and records with a value of 100 bytes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.cloudpickle import register_pickle_by_value
from rich.console import Console
from rich.table import Table
from turns import in_turns

from kafka_conformance.spark import partition_for_key, register
from kafka_conformance.spark.session import open_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["columns"]

PARTITIONS = 12
_BULK = "mapInArrow with bulk"


def columns(records: int, rounds: int) -> dict[str, dict[str, float]]:
    """Print the speeds, and give the ratio of each to ``mapInArrow`` by frame."""
    title = f"partition_for_key over {records:,} records, medians of {rounds}; aim: at least 1.0 of {_BULK}"
    table = Table("records", "who", "records a second", "ratio", box=None, title=title, title_justify="left")
    ratios: dict[str, dict[str, float]] = {}
    register_pickle_by_value(sys.modules[__name__])  # no worker can import this file
    with open_spark() as spark:
        register(spark.session)
        for name, values in {"keys alone": [], "with a value of 100 bytes": ["repeat('v', 100) value"]}.items():
            keys = spark.session.range(records).selectExpr("CAST('customer-' || id AS BINARY) key", *values)
            frame = keys.persist()
            frame.createOrReplaceTempView("events")
            frame.count()
            contestants = {
                who: partial(_rate, add, spark.session, frame, records)
                for who, add in {"column": _column, "SQL": _sql, _BULK: _bulk}.items()
            }
            rates = in_turns(contestants, rounds)
            ratios[name] = {who: rate / rates[_BULK] for who, rate in rates.items()}
            for who, rate in rates.items():
                table.add_row(name, who, f"{rate:,.0f}", f"{ratios[name][who]:.2f}")
            frame.unpersist(blocking=True)
    Console(width=130).print(table)
    return ratios


def _rate(
    add: Callable[[SparkSession, DataFrame], DataFrame], session: SparkSession, frame: DataFrame, records: int
) -> float:
    """Records a second."""
    placed = add(session, frame)
    begun = time.perf_counter()
    placed.write.format("noop").mode("overwrite").save()
    return records / (time.perf_counter() - begun)


def _column(_: SparkSession, frame: DataFrame) -> DataFrame:
    return frame.withColumn("kafka_partition", partition_for_key("key", PARTITIONS))


def _sql(session: SparkSession, _: DataFrame) -> DataFrame:
    return session.sql("SELECT *, partition_for_key(key, 12) kafka_partition FROM events")


def _bulk(_: SparkSession, frame: DataFrame) -> DataFrame:
    schema = ", ".join(f"{name} {kind}" for name, kind in frame.dtypes)
    return frame.mapInArrow(_with_partitions, f"{schema}, kafka_partition int")


def _with_partitions(batches: Iterable[Any]) -> Iterator[Any]:
    from pyarrow import RecordBatch

    from kafka_reference import bulk

    for batch in batches:
        placed = bulk.partition_for_key(batch.column("key"), PARTITIONS)
        yield RecordBatch.from_arrays([*batch.columns, placed], [*batch.schema.names, "kafka_partition"])
