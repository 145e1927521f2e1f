"""Find the keys that a partition-by-partition join of two topics would miss.

Kafka Streams and other consumers that join *co-partitioned* topics match records within a partition number only. They
reject topics with different partition counts, and trust those with equal ones. So the actual partitions of records count:

* Two records of a key, one in each topic, *meet* if they are in partitions of the same number. A key is *missed* if some
  pair of its records does not meet: in both topics together it is in more than one partition.
* A missed key *never* meets if no pair does; otherwise it meets *partly*, which is worse, because results look right.
* A record is *affected* if the other topic has its key in a partition with another number.
* A topic is *off the rule* for a key if it has a record of it outside the partition that the expected placement (Java's by
  default) chooses. That tells which topic to repair. If neither is off the rule, the partition counts differ.

Records without a key are never joined. All counts are exact: Spark counts the records of each key and partition first, and
then combines these counts, not the records. The 1,000 missed keys with the most affected records are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.attribution.placements import JAVA, Placement, find_placement
from kafka_conformance.spark.audit.result import Place
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = ["KEPT", "Join", "JoinSide", "JoinSource", "KeyInPartition", "MissedKey", "join_audit"]

KEPT = 1000
"""The maximum number of missed keys in the result."""


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


class JoinSide(msgspec.Struct, frozen=True):
    """One of the two topics. ``off_keys`` and ``off_records`` are off the rule; ``to_blame`` counts missed keys off it."""

    name: str
    partitions: int
    records: int
    keyless: int
    keys: int
    off_keys: int
    off_records: int
    affected: int
    to_blame: int


class KeyInPartition(msgspec.Struct, frozen=True):
    """The number of a key's records in a partition, and the first of them."""

    partition: int
    records: int
    first: Place


class MissedKey(msgspec.Struct, frozen=True):
    """A key (hex) that a join would miss, its partitions in each topic, and the expected partition in each."""

    key: str
    never: bool
    affected: int
    expected: tuple[int, int]
    a: tuple[KeyInPartition, ...]
    b: tuple[KeyInPartition, ...]


class Join(msgspec.Struct, frozen=True):
    """The result of a join audit. A pair is a record of one topic with a record of the other that has the same key."""

    a: JoinSide
    b: JoinSide
    rule: str
    keys_in_both: int
    keys_missed: int
    keys_never: int
    neither_to_blame: int
    """Missed keys that are where the rule puts them in both topics: the partition counts differ."""
    pairs: int
    pairs_missed: int
    missed: tuple[MissedKey, ...]
    kit: str
    took_s: float

    @property
    def same_count(self) -> bool:
        """Whether the partition counts are equal; Kafka Streams rejects the join otherwise."""
        return self.a.partitions == self.b.partitions

    @property
    def whole(self) -> bool:
        """Whether a join misses nothing."""
        return self.same_count and not self.keys_missed


def join_audit(
    spark: Spark,
    a: JoinSource,
    b: JoinSource,
    *,
    kit: str,
    clock: Callable[[], float],
    rule: str = JAVA,
    kept: int = KEPT,
) -> Join:
    """Return what a join of ``a`` and ``b`` would miss. Raises BadInput for a topic without keyed records; SparkFault.

    ``rule`` is the slug of the expected placement, ``clock`` returns seconds, ``kept`` limits the missed keys in the result.
    """
    began, expected = clock(), find_placement(rule)
    keys = spark.call(lambda: _by_key(a, b, expected), f"reading {a.name} and {b.name}")
    from pyspark import StorageLevel

    held = keys.persist(StorageLevel.DISK_ONLY)
    try:
        totals = spark.call(lambda: held.agg(*_totals()).collect()[0].asDict(), f"joining {a.name} and {b.name}")
        _check(a, b, totals)
        worst = held.where("not keyless and missed").orderBy(_sort(), "key").limit(kept)
        rows = spark.call(worst.collect, f"joining {a.name} and {b.name}") if totals["missed"] else []
    finally:
        if spark.alive():
            held.unpersist()
    number = {name: int(value or 0) for name, value in totals.items()}
    sides = [JoinSide(source.name, source.partitions, *(number[f"{what}_{side}"] for what in _SIDE))
             for side, source in (("a", a), ("b", b))]  # fmt: skip
    return Join(
        sides[0], sides[1], rule, number["both"], number["missed"], number["never"], number["neither"], number["pairs"],
        number["pairs"] - number["meeting"], tuple(map(_missed, rows)), kit, clock() - began,
    )  # fmt: skip


_SIDE = ("records", "keyless", "keys", "off_keys", "off_records", "affected", "to_blame")


def _check(a: JoinSource, b: JoinSource, totals: dict[str, Any]) -> None:
    for side, source in (("a", a), ("b", b)):
        if not totals[f"records_{side}"]:
            raise BadInput(f"{source.name} has no records: a join needs records in both topics")
        if not totals[f"keys_{side}"]:
            raise BadInput(f"{source.name} has no record with a key: a join needs keys in both topics")


def _by_key(a: JoinSource, b: JoinSource, rule: Placement) -> DataFrame:
    """Return a row per key, and one for all records without a key."""
    from pyspark.sql import functions as f

    def counted(source: JoinSource, side: str) -> DataFrame:
        place = f.struct(f.coalesce("timestamp_ms", f.lit(-1)).alias("time_ms"), f.col("offset").alias("offset"))
        grouped = source.frame().groupBy("key", "partition")
        return grouped.agg(f.count("*").alias("n"), f.min(place).alias("first")).withColumn("side", f.lit(side))

    places = counted(a, "a").unionByName(counted(b, "b"))
    expected = _expected(places, rule, a.partitions, b.partitions)
    in_partition = f.struct(
        "partition", "n", f.col("first.time_ms").alias("time_ms"), f.col("first.offset").alias("offset")
    )
    by_side = [f.array_sort(f.collect_list(f.when(f.col("side") == side, in_partition))).alias(side) for side in "ab"]
    placed = [f.max(f"expected_{side}").alias(f"expected_{side}") for side in "ab"]
    return _judged(expected.groupBy("key").agg(*by_side, *placed))


def _expected(places: DataFrame, rule: Placement, of_a: int, of_b: int) -> DataFrame:
    """Add the partitions that the rule chooses for the key in each topic."""

    def placed(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from kafka_conformance.spark.audit.attribution.explanation import folded
        from kafka_conformance.spark.audit.attribution.hash_columns import hash_column

        for batch in batches:
            hashes = hash_column(rule.hash, *_buffers(batch.column("key")))
            with_a = batch.append_column("expected_a", pa.array(folded(rule.fold, hashes, of_a)))
            yield with_a.append_column("expected_b", pa.array(folded(rule.fold, hashes, of_b)))

    schema = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in places.schema.fields)
    return mapped(places, placed, f"{schema}, expected_a int, expected_b int")


def _buffers(keys: Any) -> tuple[Any, Any]:
    """Return the offsets and data of an Arrow array; a null has no bytes."""
    import numpy as np

    *_, offsets, data = keys.buffers()
    content = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    if not len(keys):
        return np.zeros(1, np.int32), content
    return np.frombuffer(offsets, np.int32, len(keys) + 1, 4 * keys.offset), content


def _judged(keys: DataFrame) -> DataFrame:
    """Add to each key its counts: records, records off the rule, affected records, pairs that meet."""
    from pyspark.sql import functions as f

    total = "aggregate({0}, 0L, (sum, x) -> sum + x.n)"
    wide = "cast({0} as decimal(38,0))"
    meeting = f"""aggregate(a, {wide.format(0)}, (sum, x) -> cast(sum + aggregate(filter(b, y -> y.partition = x.partition),
        {wide.format(0)}, (s, y) -> cast(s + {wide.format("x.n")} * y.n as decimal(38,0))) as decimal(38,0)))"""
    affected = (
        """aggregate(filter({0}, x -> exists({1}, y -> y.partition != x.partition)), 0L, (sum, x) -> sum + x.n)"""
    )
    off = "aggregate(filter({0}, x -> x.partition != expected_{0}), 0L, (sum, x) -> sum + x.n)"
    counted = keys.withColumns({
        "keyless": f.expr("key is null"),
        **{f"n_{side}": f.expr(total.format(side)) for side in "ab"},
        **{f"off_{side}": f.expr(f"if(key is null, 0L, {off.format(side)})") for side in "ab"},
        "affected_a": f.expr(f"if(key is null, 0L, {affected.format('a', 'b')})"),
        "affected_b": f.expr(f"if(key is null, 0L, {affected.format('b', 'a')})"),
        "meeting": f.expr(f"if(key is null, {wide.format(0)}, {meeting})"),
    })  # fmt: skip
    return counted.withColumns({
        "pairs": f.expr(f"if(keyless, {wide.format(0)}, cast({wide.format('n_a')} * n_b as decimal(38,0)))"),
        "missed": f.expr("affected_a > 0 or affected_b > 0"),
    })  # fmt: skip


def _totals() -> list[Column]:
    """Return the totals over all keys, by the names of :class:`Join` and :class:`JoinSide`."""
    from pyspark.sql import functions as f

    counts = {
        "both": "n_a > 0 and n_b > 0 and not keyless",
        "missed": "missed",
        "never": "missed and meeting = 0",
        "neither": "missed and off_a = 0 and off_b = 0",
    }
    sums = {"pairs": "pairs", "meeting": "meeting"}
    for side in "ab":
        counts[f"keys_{side}"] = f"n_{side} > 0 and not keyless"
        counts[f"off_keys_{side}"] = f"off_{side} > 0"
        counts[f"to_blame_{side}"] = f"missed and off_{side} > 0"
        sums[f"records_{side}"] = f"n_{side}"
        sums[f"keyless_{side}"] = f"if(keyless, n_{side}, 0L)"
        sums[f"off_records_{side}"] = f"off_{side}"
        sums[f"affected_{side}"] = f"affected_{side}"
    return [f.expr(f"count_if({what})").alias(name) for name, what in counts.items()] + [
        f.expr(f"sum({what})").alias(name) for name, what in sums.items()
    ]


def _sort() -> Column:
    from pyspark.sql import functions as f

    return (f.col("affected_a") + f.col("affected_b")).desc()


def _missed(row: Any) -> MissedKey:
    a, b = (
        tuple(KeyInPartition(one.partition, one.n, Place(one.time_ms, one.partition, one.offset)) for one in row[side])
        for side in "ab"
    )
    affected, expected = int(row["affected_a"] + row["affected_b"]), (row["expected_a"], row["expected_b"])
    return MissedKey(bytes(row["key"]).hex(), int(row["meeting"]) == 0, affected, expected, a, b)
