"""The plan of a repair, fixed before anything is written, and the data of its report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.repair.checksums import Sum
from kafka_conformance.spark.audit.topics import Span, Topics
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = [
    "Compared",
    "Counted",
    "Moves",
    "Plan",
    "Repair",
    "check_target",
    "make_plan",
    "moves_of",
    "planned_moves",
    "resumed_plan",
]


class Plan(msgspec.Struct, frozen=True):
    """Everything that determines the records to write.

    ``before`` and ``partitions`` are the old and the new partition count; ``begins`` (inclusive) and ``ends`` (exclusive)
    are the source's offsets, by partition.
    """

    source: str
    source_id: str
    target: str
    before: int
    partitions: int
    replication: int
    settings: dict[str, str]
    begins: dict[int, int]
    ends: dict[int, int]

    @property
    def spans(self) -> dict[int, Span]:
        """The source's offsets."""
        return {number: Span(first, self.ends[number]) for number, first in self.begins.items()}


class Counted(msgspec.Struct, frozen=True):
    """The sum of the source as it was read. ``largest`` is the size of the largest record in bytes."""

    source: Sum
    largest: int


class Compared(msgspec.Struct, frozen=True):
    """The planned and the written records; ``misplaced`` keyed ones are not where the reference puts them."""

    planned: Sum
    found: Sum
    misplaced: int

    @property
    def same(self) -> bool:
        """Whether the new topic is as planned."""
        return self.planned == self.found and not self.misplaced


def make_plan(topics: Topics, source: str, target: str, partitions: int | None) -> Plan:
    """Return the plan for the source as it is now. Raises BadInput for a missing source or invalid target options."""
    if source == target:
        raise BadInput(f"topic {source} cannot be rewritten to itself: give the name of a new topic")
    topic = topics.require(source)
    if partitions is not None and partitions < 1:
        raise BadInput(f"invalid partition count {partitions}: expected 1 or more")
    spans = topics.spans(source, topic.partitions, committed=True)
    return Plan(
        source, topic.id, target, topic.partitions, partitions or topic.partitions, topic.replication,
        topics.settings(source), {at: span.first for at, span in spans.items()},
        {at: span.end for at, span in spans.items()},
    )  # fmt: skip


def resumed_plan(written: Any, source: str, target: str, partitions: int | None, folder: str) -> Plan:
    """Return the plan in a run's folder. Raises BadInput if it is for other options than the given ones."""
    try:
        plan = msgspec.convert(written, Plan, str_keys=True)
    except msgspec.ValidationError as error:
        raise BadInput(f"{folder} holds another run: give another folder ({error})") from error
    for name, was, now in (("the source", plan.source, source), ("the target", plan.target, target),
                           ("the number of partitions", plan.partitions, partitions or plan.partitions)):  # fmt: skip
        if was != now:
            raise BadInput(f"{folder} holds another run: {name} is {was} there and {now} here; give another folder")
    return plan


def check_target(topics: Topics, plan: Plan) -> None:
    """Check that a new run's target does not exist. Raises BadInput if it does."""
    if topics.find(plan.target) is not None:
        raise BadInput(
            f"topic {plan.target} exists already and was not created by this run: give the name of a new topic"
        )


class Moves(msgspec.Struct, frozen=True):
    """The records of a partition in each topic; ``arriving`` ones come from another partition."""

    partition: int
    before: int
    after: int
    arriving: int
    keyless: int


class Repair(msgspec.Struct, frozen=True):
    """A repair, or a dry run if ``written`` is false. ``spread`` counts records without a key that change partition."""

    source: str
    target: str
    before: int
    partitions: int
    records: int
    keyless: int
    moved: int
    spread: int
    by_partition: tuple[Moves, ...]
    written: bool
    resumed: bool
    compared: Compared | None
    run: str
    kit: str
    took_s: float

    @property
    def right(self) -> bool:
        """Whether the new topic is as planned; true for a dry run."""
        return self.compared is None or self.compared.same


def planned_moves(read: DataFrame, partitions: int) -> DataFrame:
    """Return the target partition of each record by the reference: (partition, target, keyless)."""

    def placed(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import compute

        from kafka_reference.bulk import partition_for_key

        for batch in batches:
            keys, at, offsets = batch.column("key"), batch.column("partition"), batch.column("offset")
            spread = compute.subtract(offsets, compute.multiply(compute.divide(offsets, partitions), partitions))
            stays = compute.if_else(compute.less(at, partitions), at, spread.cast(pa.int32()))
            target = compute.coalesce(partition_for_key(keys, partitions), stays)
            yield pa.record_batch({"partition": at, "target": target, "keyless": compute.is_null(keys)})

    chosen = read.select("partition", "offset", "key")
    return mapped(chosen, placed, "partition int, target int, keyless boolean")


def moves_of(spark: Spark, frame: DataFrame) -> tuple[tuple[Moves, ...], int]:
    """Return each partition's moves from (partition, target, keyless), and the moves of records without a key."""
    from pyspark.sql import functions as f

    grouped = frame.groupBy("partition", "target", "keyless").count().persist()
    other = f.col("partition") != f.col("target")

    def count() -> tuple[list[Any], list[Any]]:
        before = grouped.groupBy("partition").agg(f.sum("count").alias("records")).collect()
        arriving, keyless = (f.sum(f.when(what, f.col("count")).otherwise(0)) for what in (other, f.col("keyless")))
        spread = f.sum(f.when(other & f.col("keyless"), f.col("count")).otherwise(0))
        after = grouped.groupBy("target").agg(f.sum("count").alias("records"), arriving.alias("arriving"),
                                              keyless.alias("keyless"), spread.alias("spread"))  # fmt: skip
        return before, after.collect()

    try:
        was, now = spark.call(count, "counting the records that change partition")
    finally:
        if spark.alive():
            grouped.unpersist()
    before = {row["partition"]: int(row["records"]) for row in was}
    after = {row["target"]: row for row in now}
    lines = [
        Moves(one, before.get(one, 0), *(int(after[one][name]) if one in after else 0
                                        for name in ("records", "arriving", "keyless")))
        for one in sorted({*before, *after})
    ]  # fmt: skip
    return tuple(lines), sum(int(row["spread"]) for row in now)
