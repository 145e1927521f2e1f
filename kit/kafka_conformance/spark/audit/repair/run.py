"""A topic's records, rewritten to a new topic where Java puts them: nothing lost, nothing doubled, in order per key.

What is written is decided once. The *plan* fixes the source's offsets at the start, of transactions what is committed, and
every planned record gets a place in the new topic: a partition, and a number there.

* **Partition.** A record with a key goes where Kafka's own class puts the key (``BuiltInPartitioner.partitionForKey`` of
  the connector's client); the reference looks at the result again. A record without one stays in its partition, since where
  it is says nothing; where the new topic has fewer partitions, those of the others are spread, by offset modulo the count.
* **Order** in a new partition is by the greatest timestamp so far in the record's old partition, then the old partition,
  then the offset. A greatest timestamp so far never descends, so each old partition's own order stays whatever clocks said.
  Records of a key that lay on several partitions have no order of their own but time, so they are merged by it.
* **Number.** Nobody else writes to the new topic, so record *i* of a partition has to get offset *i*.

=====  ==================================================================================================================
chunk  of the run's folder
=====  ==================================================================================================================
0      the planned records, one file of Parquet for a partition, in order. The source is not needed after this, so that
       what is deleted from it or compacted meanwhile changes nothing
1      what was counted of the source while it was read
2      the id of the new topic, which is how a resumed run knows its own
3      what a reader gets to know, once the new topic was read back and is as planned
4      the new topic's settings are as they are to be
=====  ==================================================================================================================

Writing (``RepairWriting.java``) is no chunk. Each partition is written by one task, which goes on behind the records that
are there, compares the last of these with the plan, and stops at the first record that gets another offset than planned.
So it may end anywhere: what was written is the beginning of the plan. What no offset can prevent is a second writer that
is not us; that is seen, and the new topic is given up.

In the end the source, as counted while it was read, the plan, and the new topic as read back have to have the same sums.
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
"""For how long no record may be acknowledged until the writing is given up."""

PLANNED = """target int, index long, source_partition int, source_offset long, timestamp_ms long, key binary, value binary,
    headers array<struct<key: string, value: binary>>"""
_STAGED, _COUNTED, _TARGET, _FOUND, _SETTLED = range(5)
_STILL_S, _STILL_LIMIT_S, _LEADERS_LIMIT_S = 3.0, 60.0, 30.0
_BATCH_BYTES = 64 << 20
_WHOLE = str(1 << 42)  # larger than any file: a file is read by one task, from its beginning to its end
_NUMBERS = (1 << 33) - 1  # Spark's ascending ids are a task's number, and in the lower 33 bits the row's


def rewrite(
    spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: Plan, progress: Steps,
    patience_s: float = PATIENCE_S,
) -> Compared:  # fmt: skip
    """Write the plan's records, or what is missing of them, and compare. Raises BadInput, KitError, SparkFault.

    Only what was compared and is the same is finished: else the next run compares again.
    """
    if str(spark.session.sparkContext.getConf().get("spark.speculation", "false")).lower() == "true":
        raise BadInput("spark.speculation runs a task twice at once, and both would write: switch it off")
    spark.add_java()
    if not run.finished() >= {_STAGED, _COUNTED}:
        progress.doing(f"reading {plan.source} and putting it in order")
        _stage(spark, topics, kafka, run, plan)
    counted = msgspec.json.decode(_kept(run, _COUNTED), type=Counted)
    ours = _own_target(topics, run, plan)
    if _FOUND in run.finished() and ours:
        result = msgspec.json.decode(_kept(run, _FOUND), type=Compared)
    else:
        _await_stillness(topics, plan)
        progress.doing(f"writing {plan.target}")
        with _watched(topics, plan, progress):
            _write(spark, kafka, run, plan, counted, patience_s)
        progress.doing(f"reading {plan.target} back")
        result = compared(spark, topics, kafka, run, plan)
        if not result.same:
            return result
        _keep(run, _FOUND, result)
        ours = False
    if not (ours and _SETTLED in run.finished()):
        settle(topics, plan.target, plan.settings)
        _keep(run, _SETTLED, sorted(plan.settings.items()))
    return result


def staged(run: Run) -> DataFrame:
    """The planned records, in no order."""
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
    """Chunks 0 and 1."""
    from pyspark.sql import DataFrame, Observation
    from pyspark.sql import functions as f

    now = topics.find(plan.source)
    if now is None or now.id != plan.source_id:
        raise BadInput(f"{plan.source} is no longer the topic that was to be rewritten: begin anew, in another folder")
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

    with _plainly():
        run.do(_STAGED, frame)
    planned = spark.call(lambda: summed(staged(run), "source_partition", "source_offset"), "adding up the plan")
    # Where no record comes, Spark leaves the counting out, and an observation is waited for without end.
    counted = (lambda: seen.get) if planned.records else (lambda: plain.agg(*sums).collect()[0].asDict())
    told = spark.call(counted, "counting the source")
    source = sum_of(int(told["records"]), told["hashes"])
    if planned != source:
        raise KitError(f"{plan.source} was read as {source}, and the plan has {planned}: run the same command again")
    _keep(run, _COUNTED, Counted(source, int(told["largest"] or 0)))


def _own_target(topics: Topics, run: Run, plan: Plan) -> bool:
    """See to it that the new topic is there and this run's; whether it has been before. Raises BadInput."""
    found = topics.find(plan.target)
    known = msgspec.json.decode(_kept(run, _TARGET), type=str) if _TARGET in run.finished() else None
    if found is not None and known is not None and found.id == known:
        return True
    if found is None:
        make(topics, plan.target, plan.partitions, plan.replication, plan.settings)
        found = _with_leaders(topics, plan)
    elif not _begun(topics, found):
        raise BadInput(f"topic {plan.target} is there already, and not of this run: delete it, or give another name")
    if found.partitions != plan.partitions:
        raise BadInput(f"topic {plan.target} has {found.partitions} partitions, and {plan.partitions} were asked for")
    _keep(run, _TARGET, found.id)
    return False


def _with_leaders(topics: Topics, plan: Plan) -> Described:
    limit = time.monotonic() + _LEADERS_LIMIT_S
    while (found := topics.find(plan.target, _LEADERS_LIMIT_S)) is None:
        if time.monotonic() > limit:
            raise KitError(f"topic {plan.target} was made, and is not there after {_LEADERS_LIMIT_S:g} s: run it again")
        time.sleep(0.1)
    return found


def _begun(topics: Topics, found: Described) -> bool:
    """Whether a topic is as a run makes it, and nothing has been written to it."""
    as_made = MEANWHILE.items() <= topics.settings(found.name).items()
    return as_made and not _written(topics, found.name, found.partitions)


def _written(topics: Topics, name: str, partitions: int) -> int:
    return sum(span.end for span in topics.spans(name, partitions, committed=True).values())


def _await_stillness(topics: Topics, plan: Plan) -> None:
    """Wait until a run that was killed writes no more: what it had sent may still be arriving."""
    limit, before = time.monotonic() + _STILL_LIMIT_S, _written(topics, plan.target, plan.partitions)
    since = time.monotonic()
    while before and time.monotonic() < since + _STILL_S:
        time.sleep(0.2)
        if (now := _written(topics, plan.target, plan.partitions)) != before:
            before, since = now, time.monotonic()
        if time.monotonic() > limit:
            raise BadInput(
                f"another producer writes to {plan.target}: stop it, delete the topic and start again in another folder"
            )


@contextmanager
def _watched(topics: Topics, plan: Plan, progress: Steps) -> Iterator[None]:
    """Progress by what is in the new topic."""
    ends = Event()

    def watch() -> None:
        while not ends.wait(1.0):
            try:
                progress.advance(_written(topics, plan.target, plan.partitions) - progress.done)
            except KitError:  # the writing will say what is wrong
                continue

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join(_LEADERS_LIMIT_S)


def _write(spark: Spark, kafka: Mapping[str, str], run: Run, plan: Plan, counted: Counted, patience_s: float) -> None:
    """Write what is missing. A file is one partition's plan, and is read by one task from its beginning to its end."""
    rows = max(1, min(4096, _BATCH_BYTES // max(1, counted.largest)))
    reading = {
        "spark.sql.files.maxPartitionBytes": _WHOLE, "spark.sql.files.openCostInBytes": _WHOLE,
        "spark.sql.parquet.columnarReaderBatchSize": str(rows),
    }  # fmt: skip
    writing = spark.jvm.kafkaoracle.spark.RepairWriting
    clients = client_settings(kafka)
    with _plainly(), spark.conf(reading):
        planned = staged(run)._jdf  # noqa: SLF001
        write = lambda: writing.write(planned, plan.target, clients, int(patience_s * 1000), counted.largest)  # noqa: E731
        spark.call(write, f"writing {plan.target}")


@contextmanager
def _plainly() -> Iterator[None]:
    """What our own Java says is a line for the user already: without the name of the exception that carries it."""
    try:
        yield
    except SparkFault as fault:
        raise SparkFault(str(fault).replace(": IllegalStateException: ", ": ", 1)) from fault


def compared(spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: Plan) -> Compared:
    """The plan and the new topic as it is read back."""
    spans = topics.spans(plan.target, plan.partitions, committed=True)
    target = topic_frame(spark, plan.target, kafka, spans, committed=True, whole=True)
    sums: list[Callable[[], Sum]] = [lambda: summed(staged(run), "target", "index"),
                                     lambda: summed(target, "partition", "offset")]  # fmt: skip
    planned, found = (spark.call(each, f"comparing {plan.target} with the plan") for each in sums)
    wrong = spark.call(lambda: misplaced(target, plan.partitions), f"looking at the partitions of {plan.target}")
    return Compared(planned, found, wrong)
