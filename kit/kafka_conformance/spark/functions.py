"""Kafka's partition of a key in your own Spark: as a column of PySpark, and as a function of Spark SQL.

    from kafka_conformance.spark import partition_for_key, register

    events.withColumn("kafka_partition", partition_for_key("key", 12))
    events.where(partition_for_key("key", 12) != col("partition"))        # records that Java would have placed elsewhere
    events.repartition(12, partition_for_key("key", 12))                  # keeps Kafka's grouping
    events.join(counts, "topic").select(partition_for_key("key", col("partitions")))

    register(spark)
    spark.sql("SELECT partition_for_key(key, 12) FROM events")

It works in any session without extra jars, of Spark Connect as well: it uses PySpark's public interface and no JVM.
Executors run :mod:`kafka_reference.bulk`, which is proven against the real Java of every release. The executors' Python
needs ``kafka-conformance[bulk]`` and pandas before 3.

==================  =========================================================================================================
column of keys      binary: the bytes that the producer's serializer made, as Spark's Kafka source gives them. Text is
                    refused, since its bytes are unknown; ``encoding="utf-8"`` states that Java's StringSerializer
                    wrote it.
null key            null: Kafka gives a record without a key no partition by its key.
null partitions     null.
partitions of 0     ArithmeticException, as in Java, also where there is no key. A negative count places like its absolute
                    value, which is Java's as well.
==================  =========================================================================================================

``repartition`` hashes the number again: records of one Kafka partition stay together in Spark, but Spark's
partition has another number than Kafka's.

Since Spark 4.1 the function is over Arrow, and keys reach the compiled loop as they lie in memory. Up to 4.0.x it is over
pandas, for which Spark makes a Python object of each key.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any

from kafka_reference.errors import ArithmeticException

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = ["partition_for_key", "register"]

_UTF8 = ("utf-8", "utf8")


def partition_for_key(keys: Column | str, num_partitions: int | Column, *, encoding: str | None = None) -> Column:
    """Return the partition of each key among ``num_partitions``, a number or a column of numbers, as a column of ints.

    Raises ArithmeticException for 0, ValueError for a number beyond Java's int or an ``encoding`` that is not UTF-8. In a
    job, keys that are not binary fail with a TypeError that says what to do, and a count of 0 with ArithmeticException.

    Mirrors ``BuiltInPartitioner.partitionForKey``, since 3.3.0, and ``DefaultPartitioner.partition`` before it.
    """
    from pyspark.sql import functions as f

    text = _is_text(encoding)
    counts = [num_partitions.cast("int")] if hasattr(num_partitions, "cast") else []  # 3.5 has two classes of columns
    placement = _Placement(None if counts else _java_int(num_partitions), text)
    column = f.col(keys) if isinstance(keys, str) else keys
    return _function(placement, 1 + len(counts))(column, *counts)


def register(spark: SparkSession, name: str = "partition_for_key", *, encoding: str | None = None) -> None:
    """Make :func:`partition_for_key` a function of SQL in this session: ``SELECT partition_for_key(key, 12) FROM events``.

    ``spark`` is a session of PySpark, of Spark Connect as well; ``name`` is the function's in SQL. ``encoding="utf-8"``
    makes it a function of text, too. Raises ValueError for another encoding.
    """
    spark.udf.register(name, _function(_Placement(None, _is_text(encoding)), 2))


def _is_text(encoding: str | None) -> bool:
    if encoding is not None and encoding.lower() not in _UTF8:
        raise ValueError(f"keys in {encoding} cannot be hashed: give the bytes your serializer makes, as binary")
    return encoding is not None


def _java_int(num_partitions: Any) -> int:
    count = index(num_partitions)
    if not -(2**31) <= count < 2**31:
        raise ValueError(f"num_partitions is a Java int, -2^31 to 2^31-1, not {count}")
    if count == 0:
        raise ArithmeticException
    return count


class _Placement:
    """Run on the executors: columns in, a column of ints out.

    ``num_partitions`` is the same for all keys, or None if there is a column of them; ``text``: keys may be text in UTF-8.
    """

    def __init__(self, num_partitions: int | None, text: bool) -> None:
        self._num_partitions, self._text = num_partitions, text

    def place(self, keys: Any, counts: Any = None) -> Any:
        """Place the keys of an Arrow array."""
        from kafka_reference import bulk

        column = self._bytes(keys)
        if counts is None:
            return bulk.partition_for_key(column, self._num_partitions)  # type: ignore[arg-type]
        return _place_each(column, counts, bulk.partition_for_key)

    def place_pandas(self, keys: Any, counts: Any = None) -> Any:
        """Place the keys of a pandas column."""
        import pandas as pd
        import pyarrow as pa

        first = next((key for key in keys if key is not None), None)  # Spark's columns are of one type
        column = pa.array(keys, pa.binary() if first is None or isinstance(first, bytes) else None, from_pandas=True)
        placed = self.place(column, None if counts is None else pa.array(counts, from_pandas=True))
        if not placed.null_count:
            return pd.Series(placed.to_numpy(), index=keys.index)
        return pd.Series(placed.to_pandas(types_mapper=lambda _: pd.Int32Dtype()).array, index=keys.index)

    def _bytes(self, keys: Any) -> Any:
        import pyarrow as pa

        if not (pa.types.is_string(keys.type) or pa.types.is_large_string(keys.type)):
            return keys
        if not self._text:
            raise TypeError(
                f'Kafka hashes bytes, and keys holds {keys.type}: give encoding="utf-8" if Java\'s StringSerializer wrote'
                " the keys (in SQL: CAST(key AS BINARY)), else the bytes that your serializer makes"
            )
        return keys.cast(pa.binary() if pa.types.is_string(keys.type) else pa.large_binary())


def _place_each(keys: Any, counts: Any, place: Callable[[Any, int], Any]) -> Any:
    """Place each key among its own number of partitions. There are few different counts; each is one call."""
    import pyarrow as pa
    from pyarrow import compute

    given = counts.cast(pa.int32())
    different = given.unique().to_pylist()
    if len(different) == 1 and different[0] is not None:
        return place(keys, different[0])
    placed = pa.nulls(len(keys), pa.int32())
    for count in different:
        if count is not None:
            here = compute.fill_null(compute.equal(given, count), False)
            placed = compute.replace_with_mask(placed, here, place(keys.filter(here), count))
    return placed


def _function(placement: _Placement, arguments: int) -> Callable[..., Column]:
    """A function of Spark, named ``partition_for_key``. Types are declared, since Spark chooses its kind by them."""
    from pyspark.sql.types import IntegerType

    if make := _arrow_udf():
        from pyarrow import Array as Values

        place = placement.place
    else:
        from pandas import Series as Values
        from pyspark.sql.pandas.functions import pandas_udf as make

        place = placement.place_pandas

    def one(keys: Any) -> Any:
        return place(keys)

    def each(keys: Any, counts: Any) -> Any:
        return place(keys, counts)

    work: Any = one if arguments == 1 else each
    work.__annotations__ = dict.fromkeys((*work.__annotations__,), Values)
    work.__name__ = "partition_for_key"
    made: Callable[..., Column] = make(work, IntegerType())
    return made


def _arrow_udf() -> Any:
    """Spark's functions over Arrow, or None up to Spark 4.0."""
    from pyspark.sql import functions as f

    return getattr(f, "arrow_udf", None)
