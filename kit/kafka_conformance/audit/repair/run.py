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
* **Pass.** What the source gains later is copied in a separate pass (:mod:`~kafka_conformance.audit.repair.remainder`),
  whose records come after all records of the passes before it. The order of each old partition is kept: its records of a
  later pass have higher offsets there. Merging by time ends at the border of a pass.

=====  ==================================================================================================================
chunk  of the run's folder
=====  ==================================================================================================================
0      the planned records, one Parquet file per partition, in order. The source is not read after this, so deletion or
       compaction there changes nothing. It is removed once the new topic is as planned
1      the sum of the source, counted while it was read
2      the id of the new topic, by which a resumed run recognises it
3      the comparison, once the new topic was read back and is as planned
4      the new topic has its final settings; absent while a later pass is written
5      the number of records that each partition has and gets
=====  ==================================================================================================================

Writing (``RepairWriting.java``) is not a chunk. If the new topic has records of this pass, the last one of every partition
is compared with the plan before anything is written. Each partition is written by one task, which continues after the
records that exist, compares the last of these once more, and stops at the first record with another offset than planned. It
may thus end anywhere: the records written are the beginning of the plan. Offsets cannot prevent a second writer; it is
detected, and the new topic is given up.

At the end, the source as counted while read, the plan, and the new topic as read back must have the same sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.audit.engines.spark.sources import topic_frame
from kafka_conformance.audit.repair.checksums import Sum, largest, misplaced, sum_column, sum_of, summed
from kafka_conformance.audit.repair.moves import moves_of
from kafka_conformance.audit.repair.plan import Compared, Counted, Moved, Moves, RepairPlan, Staged, Totals
from kafka_conformance.audit.repair.remainder import check_beginning
from kafka_conformance.audit.repair.target import await_quiet, own_target, watched
from kafka_conformance.audit.repair.topics import client_settings, hold, settle
from kafka_conformance.audit.topics import Span, Topics
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.errors import SparkFault
from kafka_conformance.spark.runs import Run, remove_folder, size_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = [
    "PATIENCE_S", "compared", "finished_pass", "is_staged", "rewrite", "settle_once", "staged", "staged_copy",
    "staged_path", "target_id", "unsettle",
]  # fmt: skip

PATIENCE_S = 120.0
"""Seconds without an acknowledged record after which writing is given up."""

PLANNED = """target int, index long, source_partition int, source_offset long, timestamp_ms long, key binary, value binary,
    headers array<struct<key: string, value: binary>>"""
_STAGED, _COUNTED, _TARGET, _FOUND, _SETTLED, _MOVES = range(6)
_BATCH_BYTES = 64 << 20
_WHOLE = str(1 << 42)  # larger than any file: each file is read by one task, from beginning to end
_NUMBERS = (1 << 33) - 1  # Spark's ascending ids hold the task's number, and in the lower 33 bits the row's


def rewrite(
    spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: RepairPlan, progress: Steps,
    patience_s: float = PATIENCE_S,
) -> Totals:  # fmt: skip
    """Write a pass's missing records, read them back and compare; return what the pass has copied.

    ``patience_s`` limits the seconds without an acknowledged record. A pass is finished only if the comparison is equal;
    otherwise the next run compares again. Raises BadInput, KitError, SparkFault.
    """
    if str(spark.session.sparkContext.getConf().get("spark.speculation", "false")).lower() == "true":
        raise BadInput("spark.speculation runs a task twice, and both would write: set spark.speculation to false")
    finished = run.finished()
    if not is_staged(run):
        progress.doing(f"reading and sorting {plan.source}")
        _stage(spark, topics, kafka, run, plan)
    counted = msgspec.json.decode(_kept(run, _COUNTED), type=Counted)
    moves, spread = _moves(spark, run)
    known = msgspec.json.decode(_kept(run, _TARGET), type=str) if _TARGET in finished else None
    created, own = own_target(topics, plan, known, rewrite=_STAGED in run.finished())
    if not own:
        _keep(run, _TARGET, created)
    if _FOUND in finished and own:
        result = msgspec.json.decode(_kept(run, _FOUND), type=Compared)
        return Totals(1, result, moves, spread)
    if plan.earlier is None:
        await_quiet(topics, plan)
    else:
        changed = hold(topics, plan.target)
        if changed or run.resumed:  # the settings take a moment to reach every broker
            await_quiet(topics, plan, empty=changed)
    ends = {number: span.end for number, span in topics.spans(plan.target, plan.partitions).items()}
    if plan.earlier is not None:
        check_beginning(plan, {one.partition: one.after for one in moves}, ends)
    begun = any(end > plan.bases[partition] for partition, end in ends.items())
    progress.doing(f"writing {plan.target}")
    with watched(topics, plan, progress):
        _write(spark, kafka, run, plan, counted, patience_s, begun=begun)
    progress.doing(f"reading {plan.target} back")
    result = compared(spark, topics, kafka, run, plan)
    if result.same:
        _keep(run, _FOUND, result)
    return Totals(1, result, moves, spread)


def is_staged(run: Run) -> bool:
    """Whether the pass's records are fixed: they were read and sorted, and perhaps written."""
    finished = run.finished()
    return finished >= {_STAGED, _COUNTED} or _FOUND in finished


def finished_pass(run: Run) -> Totals | None:
    """Return what a pass has copied, or None if it is not finished."""
    finished = run.finished()
    if not finished >= {_FOUND, _MOVES}:
        return None
    moved = msgspec.json.decode(_kept(run, _MOVES), type=Moved)
    return Totals(1, msgspec.json.decode(_kept(run, _FOUND), type=Compared), moved.moves, moved.spread)


def target_id(run: Run) -> str:
    """Return the id of the new topic, which the first pass has created."""
    return msgspec.json.decode(_kept(run, _TARGET), type=str)


def settle_once(topics: Topics, run: Run, plan: RepairPlan) -> None:
    """Apply the new topic's final settings unless that is done. Raises SparkFault."""
    if _SETTLED not in run.finished():
        settle(topics, plan.target, plan.settings)
        _keep(run, _SETTLED, sorted(plan.settings.items()))


def unsettle(run: Run) -> None:
    """Note that the new topic is written again, and needs its final settings again."""
    remove_folder(run.spark, run.path(_SETTLED))


def staged_path(run: Run) -> str:
    """Return the folder of the planned records."""
    return run.path(_STAGED)


def staged_copy(run: Run, *, keep: bool) -> Staged | None:
    """Remove the planned records of a finished pass, or ``keep`` them; return what was there, if anything was."""
    path = run.path(_STAGED)
    if not (size := size_of(run.spark, path)):
        return None
    if not keep:
        remove_folder(run.spark, path)
    return Staged(path, size, keep)


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


def _stage(spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: RepairPlan) -> None:
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

    number = f.monotonically_increasing_id().bitwiseAND(f.lit(_NUMBERS))
    if plan.earlier:
        pairs = ((f.lit(target), f.lit(base).cast("long")) for target, base in plan.bases.items())
        number = number + f.element_at(f.create_map(*(each for pair in pairs for each in pair)), f.col("target"))

    def frame() -> DataFrame:
        spark.add_java("RepairPlacing")
        placing = spark.jvm.kafkaoracle.spark.RepairPlacing
        placed = DataFrame(placing.placed(read._jdf, plan.partitions), spark.session)  # noqa: SLF001
        order = placed.repartition(plan.partitions, "slot").sortWithinPartitions("time", "partition", "offset")
        return order.select("target", number.alias("index"),
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


def _moves(spark: Spark, run: Run) -> tuple[tuple[Moves, ...], int]:
    """Return the moves of the staged records, counted once."""
    if _MOVES not in run.finished():
        frame = staged(run).selectExpr("source_partition as partition", "target", "key is null as keyless")
        _keep(run, _MOVES, Moved(*moves_of(spark, frame)))
    moved = msgspec.json.decode(_kept(run, _MOVES), type=Moved)
    return moved.moves, moved.spread


def _write(
    spark: Spark, kafka: Mapping[str, str], run: Run, plan: RepairPlan, counted: Counted, patience_s: float, *,
    begun: bool,
) -> None:  # fmt: skip
    """Write the missing records. A file holds one partition's plan and is read by one task, from beginning to end.

    ``begun`` says that the new topic has records of this pass: all of these are compared before anything is written.
    """
    rows = max(1, min(4096, _BATCH_BYTES // max(1, counted.largest)))
    reading = {
        "spark.sql.files.maxPartitionBytes": _WHOLE, "spark.sql.files.openCostInBytes": _WHOLE,
        "spark.sql.parquet.columnarReaderBatchSize": str(rows),
    }  # fmt: skip
    spark.add_java("RepairWriting")
    writing = spark.jvm.kafkaoracle.spark.RepairWriting
    given = plan.target, client_settings(kafka), plan.bases, int(patience_s * 1000)
    with _without_exception_name(), spark.conf(reading):
        planned = staged(run)._jdf  # noqa: SLF001
        if begun:
            spark.call(lambda: writing.check(planned, *given), f"comparing {plan.target} with the plan")
        spark.call(lambda: writing.write(planned, *given, counted.largest), f"writing {plan.target}")


@contextmanager
def _without_exception_name() -> Iterator[None]:
    """Remove the exception's name from errors of the kit's Java, whose message is complete without it."""
    try:
        yield
    except SparkFault as fault:
        raise SparkFault(str(fault).replace(": IllegalStateException: ", ": ", 1)) from fault


def compared(spark: Spark, topics: Topics, kafka: Mapping[str, str], run: Run, plan: RepairPlan) -> Compared:
    """Read back what the new topic has since the earlier passes, and compare it with the plan. Raises SparkFault."""
    bases, held = plan.bases, topics.spans(plan.target, plan.partitions, committed=True)
    spans = {number: Span(max(span.first, bases[number]), span.end) for number, span in held.items()}
    target = topic_frame(spark, plan.target, kafka, spans, committed=True, whole=True)
    sums: list[Callable[[], Sum]] = [lambda: summed(staged(run), "target", "index"),
                                     lambda: summed(target, "partition", "offset")]  # fmt: skip
    planned, found = (spark.call(each, f"comparing {plan.target} with the plan") for each in sums)
    wrong = spark.call(lambda: misplaced(target, plan.partitions), f"checking the partitions of {plan.target}")
    return Compared(planned, found, wrong)
