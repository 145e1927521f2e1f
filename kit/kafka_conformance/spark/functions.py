"""For PySpark users: the partition Kafka gave a key, as a Column.

    from kafka_conformance.spark import partition_for_key

    events.withColumn("kafka_partition", partition_for_key("key", 12))
    events.where(partition_for_key("key", 12) != col("partition"))        # records that Java would have placed elsewhere
    events.repartition(12, partition_for_key("key", 12))                  # keeps Kafka's grouping
    events.join(counts, "topic").select(partition_for_key("key", col("partitions")))

It works in any session, without extra jars. Executors run :mod:`kafka_reference.bulk`,
which is proven against the real Java of every release. The executors' Python needs ``kafka-conformance[bulk]`` and
pandas before 3.

==================  =========================================================================================================
column of keys      binary: the bytes that the producer's serializer made, as Spark's Kafka source gives them. Text is
                    refused, since its bytes are unknown; ``encoding="utf-8"`` states that Java's StringSerializer
                    wrote it.
null key            null: Kafka gives a record without a key no partition by its key.
null partitions     null.
partitions of 0     ArithmeticException, as in Java, also where there is no key. A negative count places like its absolute
                    value, which is Java's as well.
==================  =========================================================================================================

``repartition`` hashes the number once more: records of one Kafka partition stay together in Spark, but Spark's
partition has another number than Kafka's.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any

from kafka_reference.errors import ArithmeticException

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["partition_for_key"]

_UTF8 = ("utf-8", "utf8")


def partition_for_key(keys: Column | str, num_partitions: int | Column, *, encoding: str | None = None) -> Column:
    """Return the partition of each key among ``num_partitions``, a number or a column of numbers, as a column of ints.

    Raises ArithmeticException for 0, ValueError for a number that is no Java int or an ``encoding`` that is not UTF-8. In a
    job, keys that are not binary fail with a TypeError that says what to do, and a count of 0 with ArithmeticException.

    Mirrors ``BuiltInPartitioner.partitionForKey``, 3.3.0 to 4.4.0, and ``DefaultPartitioner.partition`` before it.
    """
    from pyspark.sql import Column
    from pyspark.sql import functions as f

    if encoding is not None and encoding.lower() not in _UTF8:
        raise ValueError(f"keys in {encoding} cannot be hashed: give the bytes your serializer makes, as binary")
    column = f.col(keys) if isinstance(keys, str) else keys
    if isinstance(num_partitions, Column):
        return _function(_Among(None, encoding is not None), 2)(column, num_partitions.cast("int"))
    return _function(_Among(_java_int(num_partitions), encoding is not None), 1)(column)


def _java_int(num_partitions: int) -> int:
    count = index(num_partitions)
    if not -(2**31) <= count < 2**31:
        raise ValueError(f"num_partitions is a Java int, -2^31 to 2^31-1, not {count}")
    if count == 0:
        raise ArithmeticException
    return count


class _Among:
    """Run on the executors: pandas columns in, a pandas column out."""

    def __init__(self, partitions: int | None, text: bool) -> None:
        self._partitions, self._text = partitions, text

    def one_count(self, keys: Any) -> Any:
        """Keys, all among the same number of partitions."""
        return _to_pandas(self._placed(_to_arrow(keys, self._text), self._partitions), keys.index)

    def counts(self, keys: Any, counts: Any) -> Any:
        """Keys, each among a number of its own. There are few different ones, so each is asked for at once."""
        import pyarrow as pa
        from pyarrow import compute

        given, column = pa.array(counts, pa.int32(), from_pandas=True), _to_arrow(keys, self._text)
        placed = pa.nulls(len(column), pa.int32())
        for count in given.unique().drop_null().to_pylist():
            here = compute.fill_null(compute.equal(given, count), False)
            placed = compute.replace_with_mask(placed, here, self._placed(column.filter(here), count))
        return _to_pandas(placed, keys.index)

    def _placed(self, keys: Any, count: Any) -> Any:
        from kafka_reference import bulk

        return bulk.partition_for_key(keys, count)


def _to_arrow(keys: Any, text: bool) -> Any:
    import pyarrow as pa

    column = pa.array(keys, from_pandas=True)
    if pa.types.is_null(column.type) or (text and pa.types.is_string(column.type)):
        return column.cast(pa.binary())
    return column


def _to_pandas(placed: Any, labels: Any) -> Any:
    import pandas as pd

    return pd.Series(placed.to_pandas(types_mapper=lambda _: pd.Int32Dtype()), index=labels)


def _function(among: _Among, arguments: int) -> Callable[..., Column]:
    """A UDF over pandas: Spark 4.0 has none over Arrow. Types are declared so that pandas is not needed here."""
    import pandas as pd
    from pyspark.sql.pandas.functions import pandas_udf

    def one(keys: Any) -> Any:
        return among.one_count(keys)

    def each(keys: Any, counts: Any) -> Any:
        return among.counts(keys, counts)

    work: Any = one if arguments == 1 else each
    work.__annotations__ = dict.fromkeys((*work.__annotations__,), pd.Series)
    work.__name__ = "partition_for_key"
    made: Callable[..., Column] = pandas_udf(work, "int")  # type: ignore[call-overload]
    return made
