"""A sweep of keys against a Spark job that makes the same keys and runs the same Java hash over them, row by row.

The row-by-row job proves nothing: it has no reference, and sums the hashes so that none is left out. It is what Spark itself
costs, so it is what a sweep may be compared with: no less than 40 % of its speed. Both run the class of the same jar, since
releases differ: over keys of four bytes, 4.4.0's hash takes three times as long as 3.9.2's.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from turns import in_turns

from kafka_conformance.rules import RULES
from kafka_conformance.spark.executors import fetch_releases, register_java, send
from kafka_conformance.spark.session import Spark, open_spark
from kafka_conformance.spark.sweep.key_spaces import PER_BLOCK, every_key
from kafka_conformance.spark.sweep.keys import Keys
from kafka_conformance.spark.sweep.run import Job
from kafka_jars.pins import load
from kafka_jars.store import Stored, default_store
from kafka_reference import Release, parse_release

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROUNDS = 5
BLOCKS = 4_096
RELEASES = "3.9.2", "4.4.0"
AIM = 0.4
# What a user would write to have a release's hash in SQL, without the class loader that a sweep has.
_UDF = Template("""
package kafkaoracle.bench;
import java.lang.invoke.*;
import java.net.*;
import java.nio.file.Path;
import org.apache.spark.sql.api.java.UDF1;
public final class $name implements UDF1<byte[], Integer> {
    private static final long serialVersionUID = 1;
    private static final MethodHandle HASH = find($jars);
    public Integer call(byte[] key) throws Exception {
        try {
            return (int) HASH.invokeExact(key);
        } catch (Throwable thrown) {
            throw new IllegalStateException(thrown);
        }
    }
    private static MethodHandle find(String... jars) {
        try {
            URL[] urls = new URL[jars.length];
            for (int i = 0; i < jars.length; i++) {
                urls[i] = Path.of(jars[i]).toUri().toURL();
            }
            Class<?> utils = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())
                .loadClass("org.apache.kafka.common.utils.Utils");
            return MethodHandles.publicLookup().findStatic(utils, "murmur2", MethodType.methodType(int.class, byte[].class));
        } catch (Exception failed) {
            throw new ExceptionInInitializerError(failed);
        }
    }
}
""")


def sweeping_keys(room: Path, blocks: int = BLOCKS, rounds: int = ROUNDS) -> dict[str, float]:
    """Print both speeds, and give the ratio of their medians by release; ``room`` is a folder for this to work in."""
    pins, rule, space = load(), RULES["murmur2"], every_key(4)
    part = Keys(space)
    first, keys = 300, blocks * PER_BLOCK  # keys of four bytes from this block on
    title = f"{keys:,} keys of four bytes, {rounds} rounds, medians; aim: at least {AIM}"
    table = Table("release", "who", "keys a second", "ratio", box=None, title=title, title_justify="left")
    fetch_releases([rule], list(map(parse_release, RELEASES)), pins)
    ratios = {}
    with open_spark(connector=True) as spark:
        register_java(spark)
        for at in map(parse_release, RELEASES):
            sent = send(spark, rule, at, pins)
            name = _register_rows(
                spark, room, at, [default_store().get(jar, lambda *_: Path()) for jar in pins.jars(str(at))]
            )
            frame = part.frame(spark, sent, Job(0, rule.slug, "reference", 0, False), first, first + blocks)
            # The same keys: of four bytes, by number. A long is eight bytes, of which the last four are the key.
            start = first * PER_BLOCK - 16_843_009
            numbers = spark.session.range(start, start + keys, 1, 8)
            rows = numbers.selectExpr(f"{name}(substring(cast(id as binary), 5, 4)) as hash")

            sweep, rows_by_udf = partial(_sweep, spark, frame, part.per_batch, keys), partial(_rows_by_udf, rows, keys)
            rates = in_turns({"sweep": sweep, _ROWS: rows_by_udf}, rounds)
            ratios[str(at)] = rates["sweep"] / rates[_ROWS]
            for who, rate in rates.items():
                table.add_row(str(at), who, f"{rate:,.0f}", f"{rate / rates[_ROWS]:.2f}")
    Console(width=110).print(table)
    return ratios


_ROWS = "rows through a Java UDF"


def _sweep(spark: Spark, frame: DataFrame, per_batch: int, keys: int) -> float:
    """Keys a second."""
    begun = time.perf_counter()
    with spark.batches_of(per_batch):
        (row,) = frame.selectExpr("sum(asked)", "sum(differing)").collect()
    assert tuple(row) == (keys, 0)
    return keys / (time.perf_counter() - begun)


def _rows_by_udf(rows: DataFrame, keys: int) -> float:
    """Keys a second. A new frame each time: one that is collected twice has its shuffle already."""
    begun = time.perf_counter()
    (row,) = rows.selectExpr("count(hash)", "sum(hash)").collect()
    assert row[0] == keys
    return keys / (time.perf_counter() - begun)


def _register_rows(spark: Spark, room: Path, release: Release, stored: list[Stored]) -> str:
    """A function of SQL with this release's hash; its name."""
    from pyspark.sql.types import IntegerType

    spark.session.conf.set("spark.sql.ansi.enabled", "false")  # ANSI SQL does not cast a number to its bytes
    name = "Murmur2_" + str(release).replace(".", "_")
    source = room / f"{name}.java"
    source.write_text(_UDF.substitute(name=name, jars=", ".join(f'"{each.path}"' for each in stored)))
    jar = spark.compiler().jar([source], "Spark", [], [spark._class_path])
    spark.session.sql(f"ADD JAR '{jar}'")
    spark.session.udf.registerJavaFunction(name, f"kafkaoracle.bench.{name}", IntegerType())
    return name


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        sweeping_keys(Path(folder))
