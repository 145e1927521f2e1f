"""A sweep of keys against a Spark job that makes the same keys and runs Java's hash over them, row by row.

The row-by-row job proves nothing: it has no reference, and sums the hashes so that none is left out. It is what Spark itself
costs, so it is what a sweep may be compared with: no less than 40 % of its speed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kafka_conformance.oracle.bridge import jar_of
from kafka_conformance.pipeline.executors import fetch_releases, register_java, send
from kafka_conformance.pipeline.key_spaces import PER_BLOCK, every_key
from kafka_conformance.pipeline.spark_session import Spark, open_spark
from kafka_conformance.pipeline.sweeping import Asking
from kafka_conformance.pipeline.sweeping_keys import Keys
from kafka_conformance.rules import RULES
from kafka_jars.pins import Jar, load
from kafka_jars.store import default_store
from kafka_reference import release

ROUNDS = 5
BLOCKS = 4_096
AIM = 0.4
# What a user would write to have Kafka's hash in SQL: the class of the clients that are on Spark's class path.
_UDF = """
package kafkaoracle.bench;
import org.apache.kafka.common.utils.Utils;
import org.apache.spark.sql.api.java.UDF1;
public final class Murmur2 implements UDF1<byte[], Integer> {
    private static final long serialVersionUID = 1;
    public Integer call(byte[] key) { return Utils.murmur2(key); }
}
"""


def sweeping_keys(room: Path, blocks: int = BLOCKS, rounds: int = ROUNDS) -> float:
    """Print both speeds, and give the ratio of their medians; ``room`` is a folder for this to work in."""
    pins, rule = load(), RULES["murmur2"]
    at = max(map(release, pins.releases))
    fetch_releases([rule], [at], pins)
    with open_spark(connector=True) as spark:
        register_java(spark)
        sent = send(spark, rule, at, pins)
        _register_rows(spark, room, pins.clients(str(at)))
        space, first = every_key(4), 300  # keys of four bytes from here on
        frame = Keys(space).frame(spark, sent, Asking(0, rule.slug, "reference", 0, False), first, first + blocks)
        keys = blocks * PER_BLOCK

        def swept() -> None:
            with spark.batches_of(Keys(space).per_batch):
                (row,) = frame.selectExpr("sum(asked)", "sum(differing)").collect()
            assert tuple(row) == (keys, 0)

        # The same keys: of four bytes, by number. A long is eight bytes, of which the last four are the key.
        start = first * PER_BLOCK - 16_843_009
        numbers = spark.session.range(start, start + keys, 1, 8)
        key = "substring(cast(id as binary), 5, 4)"
        rows = numbers.selectExpr(f"murmur2_of_row({key}) as hash")

        def row_by_row() -> None:
            # A frame of its own each time: one that is collected twice has its shuffle already.
            (row,) = rows.selectExpr("count(hash)", "sum(hash)").collect()
            assert row[0] == keys

        results = _in_turns({"sweep": swept, "rows through a Java UDF": row_by_row}, keys, rounds)
    ratio = results["sweep"] / results["rows through a Java UDF"]
    title = f"{keys:,} keys of four bytes, release {at}, {rounds} rounds, medians; aim: at least {AIM}"
    table = Table("who", "keys a second", "ratio", box=None, title=title, title_justify="left")
    for name, rate in results.items():
        table.add_row(name, f"{rate:,.0f}", f"{rate / results['rows through a Java UDF']:.2f}")
    Console(width=110).print(table)
    return ratio


def _register_rows(spark: Spark, room: Path, clients: tuple[Jar, ...]) -> None:
    from pyspark.sql.types import IntegerType

    spark.session.conf.set("spark.sql.ansi.enabled", "false")  # the cast of a number to its bytes is no ANSI SQL
    source = room / "Murmur2.java"
    source.write_text(_UDF)
    store = default_store()
    stored = [store.get(jar, lambda *_: Path()) for jar in clients]
    jar = jar_of(spark.compiler().classes([source], stored, [spark._class_path]))
    spark.session.sql(f"ADD JAR '{jar}'")
    spark.session.udf.registerJavaFunction("murmur2_of_row", "kafkaoracle.bench.Murmur2", IntegerType())


def _in_turns(contestants: dict[str, Callable[[], None]], keys: int, rounds: int) -> dict[str, float]:
    """Keys a second of each, medians; a round before the first is thrown away."""
    seen: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, run in contestants.items():
            begun = time.perf_counter()
            run()
            if number:
                seen[name].append(keys / (time.perf_counter() - begun))
    return {name: statistics.median(rates) for name, rates in seen.items()}


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        sweeping_keys(Path(folder))
