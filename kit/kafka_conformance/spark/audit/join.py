"""What a join of two topics, partition by partition, would miss.

Kafka Streams, and whoever else joins topics that are *co-partitioned*, lets records meet within a partition number only. It
refuses topics of different counts, and trusts those of the same count. So what counts here is where records really lie:

* Two records of a key, one in each topic, *meet* if they lie in partitions of the same number. A key is *missed* if some
  pair of its records does not meet: it lies, in both topics together, in more than one partition.
* A missed key *never* meets, if no pair does; else it meets *partly*, which is worse: results look right.
* A record is *affected* if the other topic has its key in some partition other than its own.
* A topic is *off the rule* for a key if it has a record of it elsewhere than the expected placement, Java's if no other is
  named, puts it among the topic's own partitions. That says which one to fix. If neither is, the counts differ.

Records without a key are never joined. All numbers are exact: Spark counts the records of a key in a partition first, and
brings together a key's few counts, not its records. The thousand keys kept are those with the most affected records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.attribution.placements import JAVA, Placement, of
from kafka_conformance.spark.audit.result import Place
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = ["KEPT", "Join", "JoinSide", "JoinSource", "Lies", "MissedKey", "join_audit"]

KEPT = 1000
"""So many missed keys are kept."""


class JoinSource(Protocol):
    """A topic, or an export of it."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        ...

    @property
    def partitions(self) -> int:
        """How many it has."""
        ...

    def frame(self) -> DataFrame:
        """Its records: partition int, offset bigint, timestamp_ms bigint or null, key binary or null."""
        ...


class JoinSide(msgspec.Struct, frozen=True):
    """One of the two. ``off_keys`` and ``off_records`` are off the rule, of all; ``to_blame``: of the missed keys."""

    name: str
    partitions: int
    records: int
    keyless: int
    keys: int
    off_keys: int
    off_records: int
    affected: int
    to_blame: int


class Lies(msgspec.Struct, frozen=True):
    """A key's records in a partition: how many, and the first of them."""

    partition: int
    records: int
    first: Place


class MissedKey(msgspec.Struct, frozen=True):
    """A key that a join would miss, as hex; where it lies in each topic, by partition, and where the rule puts it."""

    key: str
    never: bool
    affected: int
    expected: tuple[int, int]
    a: tuple[Lies, ...]
    b: tuple[Lies, ...]


class Join(msgspec.Struct, frozen=True):
    """What a join of two topics would miss. ``pairs`` are records of a key in one with those in the other."""

    a: JoinSide
    b: JoinSide
    rule: str
    keys_in_both: int
    keys_missed: int
    keys_never: int
    neither_to_blame: int
    """Missed keys that are where the rule puts them in both: their partition counts differ."""
    pairs: int
    pairs_missed: int
    missed: tuple[MissedKey, ...]
    kit: str
    took_s: float

    @property
    def same_count(self) -> bool:
        """Whether the two have the same number of partitions, without which Kafka Streams refuses the join."""
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
    """What a join of ``a`` and ``b`` would miss. Raises BadInput, SparkFault.

    ``rule`` is a placement's slug, ``clock`` gives seconds; so many missed keys are ``kept``.
    """
    began, expected = clock(), of(rule)
    keys = spark.call(lambda: _by_key(a, b, expected), f"reading {a.name} and {b.name}")
    from pyspark import StorageLevel

    held = keys.persist(StorageLevel.DISK_ONLY)
    try:
        told = spark.call(lambda: held.agg(*_totals()).collect()[0].asDict(), f"joining {a.name} and {b.name}")
        _check(a, b, told)
        worst = held.where("not keyless and missed").orderBy(_sort(), "key").limit(kept)
        rows = spark.call(worst.collect, f"joining {a.name} and {b.name}") if told["missed"] else []
    finally:
        if spark.alive():
            held.unpersist()
    number = {name: int(value or 0) for name, value in told.items()}
    sides = [JoinSide(source.name, source.partitions, *(number[f"{what}_{side}"] for what in _SIDE))
             for side, source in (("a", a), ("b", b))]  # fmt: skip
    return Join(
        sides[0], sides[1], rule, number["both"], number["missed"], number["never"], number["neither"], number["pairs"],
        number["pairs"] - number["met"], tuple(map(_missed, rows)), kit, clock() - began,
    )  # fmt: skip


_SIDE = ("records", "keyless", "keys", "off_keys", "off_records", "affected", "to_blame")


def _check(a: JoinSource, b: JoinSource, told: dict[str, Any]) -> None:
    for side, source in (("a", a), ("b", b)):
        if not told[f"records_{side}"]:
            raise BadInput(f"{source.name} has no records: nothing can be said about a join")
        if not told[f"keys_{side}"]:
            raise BadInput(f"{source.name} has no record with a key: there is nothing to join by")


def _by_key(a: JoinSource, b: JoinSource, rule: Placement) -> DataFrame:
    """A row for each key, and one for all records without."""
    from pyspark.sql import functions as f

    def counted(source: JoinSource, side: str) -> DataFrame:
        place = f.struct(f.coalesce("timestamp_ms", f.lit(-1)).alias("time_ms"), f.col("offset").alias("offset"))
        grouped = source.frame().groupBy("key", "partition")
        return grouped.agg(f.count("*").alias("n"), f.min(place).alias("first")).withColumn("side", f.lit(side))

    places = counted(a, "a").unionByName(counted(b, "b"))
    expected = _expected(places, rule, a.partitions, b.partitions)
    lies = f.struct("partition", "n", f.col("first.time_ms").alias("time_ms"), f.col("first.offset").alias("offset"))
    by_side = [f.array_sort(f.collect_list(f.when(f.col("side") == side, lies))).alias(side) for side in "ab"]
    placed = [f.max(f"expected_{side}").alias(f"expected_{side}") for side in "ab"]
    return _judged(expected.groupBy("key").agg(*by_side, *placed))


def _expected(places: DataFrame, rule: Placement, of_a: int, of_b: int) -> DataFrame:
    """With where the rule puts the key in each."""

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
    """The offsets and data of an Arrow array; a null's bytes are none."""
    import numpy as np

    *_, offsets, data = keys.buffers()
    content = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    if not len(keys):
        return np.zeros(1, np.int32), content
    return np.frombuffer(offsets, np.int32, len(keys) + 1, 4 * keys.offset), content


def _judged(keys: DataFrame) -> DataFrame:
    """What becomes of each key."""
    from pyspark.sql import functions as f

    total = "aggregate({0}, 0L, (sum, x) -> sum + x.n)"
    wide = "cast({0} as decimal(38,0))"
    met = f"""aggregate(a, {wide.format(0)}, (sum, x) -> cast(sum + aggregate(filter(b, y -> y.partition = x.partition),
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
        "met": f.expr(f"if(key is null, {wide.format(0)}, {met})"),
    })  # fmt: skip
    return counted.withColumns({
        "pairs": f.expr(f"if(keyless, {wide.format(0)}, cast({wide.format('n_a')} * n_b as decimal(38,0)))"),
        "missed": f.expr("affected_a > 0 or affected_b > 0"),
    })  # fmt: skip


def _totals() -> list[Column]:
    """Over all keys, by the names of :class:`Join` and :class:`JoinSide`."""
    from pyspark.sql import functions as f

    counts = {
        "both": "n_a > 0 and n_b > 0 and not keyless",
        "missed": "missed",
        "never": "missed and met = 0",
        "neither": "missed and off_a = 0 and off_b = 0",
    }
    sums = {"pairs": "pairs", "met": "met"}
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
    lies = [tuple(Lies(one.partition, one.n, Place(one.time_ms, one.partition, one.offset)) for one in row[side])
            for side in "ab"]  # fmt: skip
    return MissedKey(bytes(row["key"]).hex(), int(row["met"]) == 0, int(row["affected_a"] + row["affected_b"]),
                     (row["expected_a"], row["expected_b"]), lies[0], lies[1])  # fmt: skip
