"""What an audit costs: of small topics in seconds, with and without Spark; of large ones beside a count of the same topic
through the same connector; and whether it is linear, and flat.

Three topics of twelve partitions, written through Spark: by Java's producer alone (healthy); half of it by librdkafka's
rule, one record in two (mixed); and 100 million keys drawn from, so that nearly every key is another (distinct). In each
round they take turns. A count is measured twice: as anybody writes one, and with the settings that an audit reads with,
which make a count twice as fast as well: the aim is held against that one. Memory is the most that Spark's JVM and its
Python workers held at once, seen ten times a second.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path

from rich.console import Console
from rich.table import Table
from turns import in_turns

from kafka_conformance.audit.engines.spark.run import audit
from kafka_conformance.audit.engines.spark.sources import Topic
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.topics import kafka_options
from kafka_conformance.brokers.broker import Broker, running_broker
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.session import Spark, open_spark

__all__ = ["audits"]

PARTITIONS = 12
AIM = 0.70
SMALL = (5, 500_000, 3_000_000)
_KEYS = {"healthy": 2_000_000, "mixed": 2_000_000, "distinct": 100_000_000}


def audits(records: int, sizes: tuple[int, ...], rounds: int) -> None:
    """Print the tables: small topics, then against a count at ``records``, then the mixed topic at each of ``sizes``."""
    with running_broker(heap_mb=512) as broker:
        with open_spark(connector=True) as spark:
            written = lru_cache(None)(partial(_written, spark, broker))
            small = [written("mixed", size) for size in SMALL if size <= records]
            _against_a_count(spark, broker, written, records, rounds)
            _by_size(spark, broker, written, sizes)
        _commands(broker, small, 1)


def _commands(broker: Broker, small: Sequence[str], rounds: int) -> None:
    """The whole command, from its start to its end, by each engine."""
    columns = "topic", "s in this process", "s with Spark", "ratio"
    title = "a whole command; aim: 2 s for 5 records"
    table = Table(*columns, box=None, title=title, title_justify="left")
    for topic in small:
        took = in_turns({engine: partial(_command, broker, topic, engine) for engine in ("local", "spark")}, rounds)
        print(f"{topic}: {', '.join(f'{engine} {each:.1f} s' for engine, each in took.items())}", flush=True)
        table.add_row(topic, f"{took['local']:.1f}", f"{took['spark']:.1f}", f"{took['spark'] / took['local']:.1f}")
    Console(width=110).print(table)


def _command(broker: Broker, topic: str, engine: str) -> float:
    with tempfile.TemporaryDirectory(prefix="kafka-conformance-bench-") as folder:
        given = ["--bootstrap-server", broker.bootstrap, "--engine", engine, "--folder", f"{folder}/run"]
        begun = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, "-m", "kafka_conformance", "audit", topic, *given], capture_output=True, check=False
        )
        assert ran.returncode in {0, 1, 2}, ran.stderr
        assert Path(folder, "run", "audit.json").exists(), ran.stderr
        return time.perf_counter() - begun


def _against_a_count(
    spark: Spark, broker: Broker, written: Callable[[str, int], str], records: int, rounds: int
) -> None:
    title = f"records a second, medians of {rounds}; aim: an audit at {AIM} and more of a count as an audit reads"
    columns = "topic", "records", "bare count", "audit", "ratio", "count as an audit reads", "ratio"
    table = Table(*columns, box=None, title=title, title_justify="left")
    for kind in _KEYS:
        topic = written(kind, records)
        contestants = {
            who: partial(run, spark, broker, topic)
            for who, run in (("count", _count), ("audit", _audit), ("reading", _count_as_an_audit))
        }
        took = in_turns(contestants, rounds)
        print(f"{topic}: {', '.join(f'{who} {each:.1f} s' for who, each in took.items())}", flush=True)
        rates = {who: f"{records / each:,.0f}" for who, each in took.items()}
        bare, reading = (f"{took[who] / took['audit']:.2f}" for who in ("count", "reading"))
        table.add_row(kind, f"{records:,}", rates["count"], rates["audit"], bare, rates["reading"], reading)
    Console(width=130).print(table)


def _by_size(spark: Spark, broker: Broker, written: Callable[[str, int], str], sizes: Sequence[int]) -> None:
    table = Table(
        "records", "s", "us a record", "most memory, MiB", box=None, title="mixed, by size", title_justify="left"
    )
    for size in sizes:
        topic = written("mixed", size)
        with _memory(spark) as most:
            seconds = _audit(spark, broker, topic)
        print(f"{topic}: {seconds:.1f} s, at most {most[0] / 2**20:,.0f} MiB", flush=True)
        table.add_row(f"{size:,}", f"{seconds:,.1f}", f"{seconds / size * 1e6:.2f}", f"{most[0] / 2**20:,.0f}")
    Console(width=110).print(table)


def _written(spark: Spark, broker: Broker, kind: str, records: int) -> str:
    """The topic of this kind and size."""
    name = f"{kind}-{records}"
    broker.create_topic(name, PARTITIONS)
    keys = f"cast(concat('customer-', cast(floor(rand(7) * {_KEYS[kind]}) as bigint)) as binary)"
    rows = spark.session.range(records).selectExpr(f"{keys} key", "cast('v' as binary) value", "id")
    theirs = f"cast(crc32(key) % {PARTITIONS} as int)"
    java = rows if kind != "mixed" else rows.where("id % 2 = 0")
    options = {
        "kafka.bootstrap.servers": broker.bootstrap,
        "topic": name,
        "kafka.linger.ms": "20",
        "kafka.batch.size": "131072",
        # If the first batch of a new partition is refused because its leader is starting, the next one in flight is
        # accepted, and the first stays out of order until it expires: the finding a-refused-first-batch-is-lost.
        "kafka.max.in.flight.requests.per.connection": "1",
    }
    java.select("key", "value").write.format("kafka").options(**options).save()
    if kind == "mixed":
        other = rows.where("id % 2 = 1").selectExpr("key", "value", f"{theirs} partition")
        other.write.format("kafka").options(**options).save()
    return name


def _count(spark: Spark, broker: Broker, topic: str) -> float:
    """As anybody counts a topic."""
    begun = time.perf_counter()
    reader = spark.session.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
    reader.option("subscribe", topic).load().count()
    return time.perf_counter() - begun


def _count_as_an_audit(spark: Spark, broker: Broker, topic: str) -> float:
    """With the options and the version of the connector's interface that make an audit's reading fast."""
    begun = time.perf_counter()
    Topic.find(spark, topic, kafka_options(broker.bootstrap, {})).frame().count()
    return time.perf_counter() - begun


def _audit(spark: Spark, broker: Broker, topic: str) -> float:
    folder = tempfile.mkdtemp(prefix="kafka-conformance-bench-")
    try:
        begun = time.perf_counter()
        source = Topic.find(spark, topic, kafka_options(broker.bootstrap, {}))
        audit(spark, source, AuditRequest(topic, broker.bootstrap), f"{folder}/run", Steps("audit", 1))
        return time.perf_counter() - begun
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _memory(spark: Spark) -> Iterator[list[int]]:
    """The most memory that the JVM and all its children hold at once, in bytes."""
    jvm = int(str(spark.jvm.java.lang.ProcessHandle.current().pid()))
    most, ended = [0], threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            most[0] = max(most[0], sum(map(_held, _family(jvm))))

    watch = threading.Thread(target=look, daemon=True)
    watch.start()
    try:
        yield most
    finally:
        ended.set()
        watch.join(5)


def _family(process: int) -> list[int]:
    found, at = [process], 0
    while at < len(found):
        for task in Path(f"/proc/{found[at]}/task").glob("*/children"):
            try:
                found += map(int, task.read_text().split())
            except OSError:
                continue
        at += 1
    return found


def _held(process: int) -> int:
    """Its own pages: what it shares with others (forked workers) is counted once only by its proportion."""
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)
