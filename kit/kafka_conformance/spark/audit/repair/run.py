"""Rewrite a topic's records to a new topic where Java puts them, without loss or duplicates, in order per key.

The records to write are determined once. The *plan* fixes the source's offsets at the start (committed transactions only),
and every planned record gets a place in the new topic: a partition, and a number in it.

* **Partition.** A record with a key goes where Kafka's own class puts it (``BuiltInPartitioner.partitionForKey`` of the
  connector's client); the reference checks the result. A record without a key stays in its partition; if the new topic has
  fewer partitions, records of the removed ones are spread by offset modulo the new count.
* **Order** in a new partition is by the highest timestamp so far in the record's old partition, then the old partition, then
  the offset. The highest timestamp so far never decreases, so the order of each old partition is kept, whatever the clocks
  were. Records of a key from several partitions are merged by time, the only order they have.
* **Number.** No other producer writes to the new topic, so record *i* of a partition must get offset *i*.

=====  ==================================================================================================================
chunk  of the run's folder
=====  ==================================================================================================================
0      the planned records, one Parquet file per partition, in order. The source is not read after this, so deletion or
       compaction there changes nothing
1      the sum of the source, counted while it was read
2      the id of the new topic, by which a resumed run recognises it
3      the comparison, once the new topic was read back and is as planned
4      the new topic has its final settings
=====  ==================================================================================================================

Writing (``RepairWriting.java``) is not a chunk. Each partition is written by one task, which continues after the records
that exist, compares the last of these with the plan, and stops at the first record with another offset than planned. It may
thus end anywhere: the records written are the beginning of the plan. Offsets cannot prevent a second writer; it is
detected, and the new topic is given up.

At the end, the source as counted while read, the plan, and the new topic as read back must have the same sums.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.audit.repair.checksums import Sum, largest, misplaced, sum_column, sum_of, summed
from kafka_conformance.spark.audit.repair.plan import Compared, Counted, Plan
from kafka_conformance.spark.audit.repair.topics import MEANWHILE, client_settings, make, settle
from kafka_conformance.spark.audit.sources import topic_frame
from kafka_conformance.spark.audit.topics import Described, Topics
from kafka_conformance.spark.errors import SparkFault
from kafka_conformance.spark.runs import Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = ["PATIENCE_S", "compared", "rewrite", "staged"]

PATIENCE_S = 120.0
"""Seconds without an acknowledged record after which writing is given up."""

PLANNED = """target int, index long, source_partition int, source_offset long, timestamp_ms long, key binary, value binary,
    headers array<struct<key: string, value: binary>>"""
_STAGED, _COUNTED, _TARGET, _FOUND, _SETTLED = range(5)
_QUIET_S, _QUIET_LIMIT_S, _LEADERS_LIMIT_S = 3.0, 60.0, 30.0
_BATCH_BYTES = 64 << 20
_WHOLE = str(1 << 42)  # larger than any file: each file is read by one task, from beginning to end
_NUMBERS = (1 << 33) - 1  # Spark's ascending ids hold the task's number, and in the lower 33 bits the row's


def rewrite(
    spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: Plan, progress: Steps,
    patience_s: float = PATIENCE_S,
) -> Compared:  # fmt: skip
    """Write the plan's missing records, read the topic back and compare. Raises BadInput, KitError, SparkFault.

    ``patience_s`` limits the seconds without an acknowledged record. A run is finished only if the comparison is equal;
    otherwise the next run compares again.
    """
    if str(spark.session.sparkContext.getConf().get("spark.speculation", "false")).lower() == "true":
        raise BadInput("spark.speculation runs a task twice, and both would write: set spark.speculation to false")
    spark.add_java()
    if not run.finished() >= {_STAGED, _COUNTED}:
        progress.doing(f"reading and sorting {plan.source}")
        _stage(spark, topics, kafka, run, plan)
    counted = msgspec.json.decode(_kept(run, _COUNTED), type=Counted)
    is_own = _own_target(topics, run, plan)
    if _FOUND in run.finished() and is_own:
        result = msgspec.json.decode(_kept(run, _FOUND), type=Compared)
    else:
        _await_quiet(topics, plan)
        progress.doing(f"writing {plan.target}")
        with _watched(topics, plan, progress):
            _write(spark, kafka, run, plan, counted, patience_s)
        progress.doing(f"reading {plan.target} back")
        result = compared(spark, topics, kafka, run, plan)
        if not result.same:
            return result
        _keep(run, _FOUND, result)
        is_own = False
    if not (is_own and _SETTLED in run.finished()):
        settle(topics, plan.target, plan.settings)
        _keep(run, _SETTLED, sorted(plan.settings.items()))
    return result


def staged(run: Run) -> DataFrame:
    """Return the planned records, in no particular order."""
    return run.spark.session.read.schema(PLANNED).parquet(run.path(_STAGED))


def _keep(run: Run, number: int, document: Any) -> None:
    from pyspark.sql import functions as f

    text = msgspec.json.encode(document).decode()
    run.do(number, lambda: run.spark.session.range(0, 1, 1, 1).select(f.lit(text).alias("text")))


def _kept(run: Run, number: int) -> bytes:
    reader = run.spark.session.read.schema("text string")
    rows = run.spark.call(lambda: reader.parquet(run.path(number)).collect(), f"chunk {number} of {run.folder}")
    return str(rows[0]["text"]).encode()


def _stage(spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: Plan) -> None:
    """Write chunks 0 and 1."""
    from pyspark.sql import DataFrame, Observation
    from pyspark.sql import functions as f

    now = topics.find(plan.source)
    if now is None or now.id != plan.source_id:
        raise BadInput(
            f"{plan.source} was deleted or recreated since this run began: start a new run in another folder"
        )
    seen = Observation()
    plain = topic_frame(spark, plan.source, kafka, plan.spans, committed=True, whole=True)
    sums = [
        f.count("*").alias("records"),
        sum_column("partition", "offset").alias("hashes"),
        largest().alias("largest"),
    ]
    read = plain.observe(seen, *sums)

    def frame() -> DataFrame:
        placing = spark.jvm.kafkaoracle.spark.RepairPlacing
        placed = DataFrame(placing.placed(read._jdf, plan.partitions), spark.session)  # noqa: SLF001
        order = placed.repartition(plan.partitions, "slot").sortWithinPartitions("time", "partition", "offset")
        return order.select("target", f.monotonically_increasing_id().bitwiseAND(f.lit(_NUMBERS)).alias("index"),
                            f.col("partition").alias("source_partition"), f.col("offset").alias("source_offset"),
                            "timestamp_ms", "key", "value", "headers")  # fmt: skip

    with _without_exception_name():
        run.do(_STAGED, frame)
    planned = spark.call(lambda: summed(staged(run), "source_partition", "source_offset"), "adding up the plan")
    # Without records Spark skips the observation, and waiting for it would not end.
    counted = (lambda: seen.get) if planned.records else (lambda: plain.agg(*sums).collect()[0].asDict())
    totals = spark.call(counted, "counting the source")
    source = sum_of(int(totals["records"]), totals["hashes"])
    if planned != source:
        raise KitError(f"{plan.source} was read as {source}, but the plan has {planned}: run the same command again")
    _keep(run, _COUNTED, Counted(source, int(totals["largest"] or 0)))


def _own_target(topics: Topics, run: Run, plan: Plan) -> bool:
    """Create the new topic unless this run has; return whether it had. Raises BadInput for another run's topic."""
    found = topics.find(plan.target)
    known = msgspec.json.decode(_kept(run, _TARGET), type=str) if _TARGET in run.finished() else None
    if found is not None and known is not None and found.id == known:
        return True
    if found is None:
        make(topics, plan.target, plan.partitions, plan.replication, plan.settings)
        found = _with_leaders(topics, plan)
    elif not _begun(topics, found):
        raise BadInput(
            f"topic {plan.target} exists already and was not created by this run: delete it, or give another name"
        )
    if found.partitions != plan.partitions:
        raise BadInput(
            f"topic {plan.target} has {found.partitions} partitions, but the plan has {plan.partitions}: delete it"
        )
    _keep(run, _TARGET, found.id)
    return False


def _with_leaders(topics: Topics, plan: Plan) -> Described:
    limit = time.monotonic() + _LEADERS_LIMIT_S
    while (found := topics.find(plan.target, _LEADERS_LIMIT_S)) is None:
        if time.monotonic() > limit:
            raise KitError(
                f"topic {plan.target} was created, but does not exist after {_LEADERS_LIMIT_S:g} s: run the command again"
            )
        time.sleep(0.1)
    return found


def _begun(topics: Topics, found: Described) -> bool:
    """Whether a topic has the settings that a run creates it with, and no records."""
    as_made = MEANWHILE.items() <= topics.settings(found.name).items()
    return as_made and not _written(topics, found.name, found.partitions)


def _written(topics: Topics, name: str, partitions: int) -> int:
    return sum(span.end for span in topics.spans(name, partitions, committed=True).values())


def _await_quiet(topics: Topics, plan: Plan) -> None:
    """Wait until no more records of a killed run arrive. Raises BadInput if another producer keeps writing."""
    limit, before = time.monotonic() + _QUIET_LIMIT_S, _written(topics, plan.target, plan.partitions)
    since = time.monotonic()
    while before and time.monotonic() < since + _QUIET_S:
        time.sleep(0.2)
        if (now := _written(topics, plan.target, plan.partitions)) != before:
            before, since = now, time.monotonic()
        if time.monotonic() > limit:
            raise BadInput(
                f"another producer writes to {plan.target}: stop it, delete the topic and start again in another folder"
            )


@contextmanager
def _watched(topics: Topics, plan: Plan, progress: Steps) -> Iterator[None]:
    """Report progress by the records in the new topic."""
    ends = Event()

    def watch() -> None:
        while not ends.wait(1.0):
            try:
                progress.advance(_written(topics, plan.target, plan.partitions) - progress.done)
            except KitError:  # the writing reports the error
                continue

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join(_LEADERS_LIMIT_S)


def _write(spark: Spark, kafka: Mapping[str, str], run: Run, plan: Plan, counted: Counted, patience_s: float) -> None:
    """Write the missing records. A file holds one partition's plan and is read by one task, from beginning to end."""
    rows = max(1, min(4096, _BATCH_BYTES // max(1, counted.largest)))
    reading = {
        "spark.sql.files.maxPartitionBytes": _WHOLE, "spark.sql.files.openCostInBytes": _WHOLE,
        "spark.sql.parquet.columnarReaderBatchSize": str(rows),
    }  # fmt: skip
    writing = spark.jvm.kafkaoracle.spark.RepairWriting
    clients = client_settings(kafka)
    with _without_exception_name(), spark.conf(reading):
        planned = staged(run)._jdf  # noqa: SLF001
        write = lambda: writing.write(planned, plan.target, clients, int(patience_s * 1000), counted.largest)  # noqa: E731
        spark.call(write, f"writing {plan.target}")


@contextmanager
def _without_exception_name() -> Iterator[None]:
    """Remove the exception's name from errors of the kit's Java, whose message is complete without it."""
    try:
        yield
    except SparkFault as fault:
        raise SparkFault(str(fault).replace(": IllegalStateException: ", ": ", 1)) from fault


def compared(spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: Plan) -> Compared:
    """Read the new topic back and compare it with the plan. Raises SparkFault."""
    spans = topics.spans(plan.target, plan.partitions, committed=True)
    target = topic_frame(spark, plan.target, kafka, spans, committed=True, whole=True)
    sums: list[Callable[[], Sum]] = [lambda: summed(staged(run), "target", "index"),
                                     lambda: summed(target, "partition", "offset")]  # fmt: skip
    planned, found = (spark.call(each, f"comparing {plan.target} with the plan") for each in sums)
    wrong = spark.call(lambda: misplaced(target, plan.partitions), f"checking the partitions of {plan.target}")
    return Compared(planned, found, wrong)
