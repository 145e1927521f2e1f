"""Map the offsets of consumer groups from a repaired topic to the new one: what to read, look up and commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_conformance.audit.engines.spark.sources import topic_frame
from kafka_conformance.audit.repair.copy_passes import reached_by
from kafka_conformance.audit.repair.group_offsets import (
    Committed,
    Copied,
    GroupOffsets,
    Unread,
    cuts_of,
    lookups_of,
    mapped_offsets,
    unread_of,
)
from kafka_conformance.audit.repair.groups import (
    check_members,
    commit,
    committed_groups,
    offsets_for_times,
    without_moved,
)
from kafka_conformance.audit.repair.moves import target_partitions
from kafka_conformance.audit.repair.plan import RepairPlan, resumed_plan
from kafka_conformance.audit.topics import Span, Topics
from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.spark.session import Spark

__all__ = ["GroupMapping", "map_groups"]


class GroupMapping(msgspec.Struct, frozen=True):
    """The mapping of all groups; ``behind`` counts offsets of the source that are not copied yet."""

    source: str
    target: str
    groups: tuple[GroupOffsets, ...]
    committed: bool
    behind: int


def map_groups(
    spark: Spark, *, topic: str, target: str, kafka: Mapping[str, str], folder: str, named: Sequence[str], execute: bool
) -> GroupMapping:
    """Map the committed offsets of the groups ``named``, or of all, and with ``execute`` commit them to the new topic.

    ``folder`` is that of the repair. Raises BadInput if nothing is copied yet, or, before anything is committed, if a group
    has members; KitError, SparkFault.
    """
    if (written := Run.plan(spark, folder)) is None:
        raise BadInput(f"{folder} holds no repair: copy {topic} to {target} first, or give its folder")
    first = resumed_plan(written, topic, target, None, folder)
    with Topics(spark, kafka) as topics:
        return _map_in_turn(spark, topics, kafka, folder, first, named, execute=execute)


def _map_in_turn(
    spark: Spark, topics: Topics, kafka: Mapping[str, str], folder: str, first: RepairPlan, named: Sequence[str], *,
    execute: bool,
) -> GroupMapping:  # fmt: skip
    plan, reached = reached_by(spark, folder, first)
    if reached is None:
        raise BadInput(f"{plan.source} is not copied to {plan.target} yet: use --execute without --map-groups first")
    source, target = topics.require(plan.source), topics.require(plan.target)
    if (source.id, target.id) != (plan.source_id, reached.target_id):
        raise BadInput(
            f"{plan.source} or {plan.target} was recreated since the repair in {folder}: it cannot be mapped"
        )
    spans = topics.spans(plan.source, source.partitions)
    written = {number: reached.totals.written.get(number, 0) for number in range(plan.partitions)}
    new = {number: span.first for number, span in topics.spans(plan.target, plan.partitions).items()}
    old = {number: span.first for number, span in spans.items()}
    copied = Copied(reached.begins, reached.ends, old, written, new)
    groups = committed_groups(topics, plan.source, plan.target, named)
    skipped = {group.group: without_moved(group, plan.target, named) for group in groups}
    if execute:
        check_members(group for group in groups if not skipped[group.group])
    found = [msgspec.structs.replace(one, skipped=skipped[one.group])
             for one in _mapped(spark, topics, kafka, plan, copied, groups)]  # fmt: skip
    for one in found if execute else ():
        if not one.skipped:
            commit(topics, plan.target, one)
    return GroupMapping(plan.source, plan.target, tuple(found), execute, reached.behind(spans))


def _mapped(
    spark: Spark,
    topics: Topics,
    kafka: Mapping[str, str],
    plan: RepairPlan,
    copied: Copied,
    groups: Sequence[Committed],
) -> list[GroupOffsets]:
    cuts = cuts_of(groups, copied)
    spans = {number: Span(offsets[0], copied.ends[number]) for number, offsets in cuts.items()}
    rows: list[Unread] = []
    if spans:
        frame = topic_frame(spark, plan.source, kafka, spans, committed=True)
        rows = unread_rows(spark, frame, cuts, plan.partitions, plan.source)
    unread = {group.group: unread_of(group, copied, cuts, rows) for group in groups}
    found: dict[tuple[int, int], int | None] = {}
    for times in lookups_of(unread):
        offsets = offsets_for_times(topics, plan.target, times)
        found.update({(number, time): offsets[number] for number, time in times.items()})
    return [mapped_offsets(group, copied, unread[group.group], found) for group in groups]


def unread_rows(
    spark: Spark, frame: DataFrame, cuts: Mapping[int, Sequence[int]], partitions: int, source: str
) -> list[Unread]:
    """Return the earliest timestamp and the number of records by partition, cut and target partition."""
    from pyspark.sql import functions as f

    offsets_of = {number: list(offsets) for number, offsets in cuts.items()}

    def placed(batches: Iterable[Any]) -> Iterator[Any]:
        import numpy as np
        import pyarrow as pa

        for batch in batches:
            partition, offset = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("partition", "offset"))
            cut = np.zeros(len(partition), dtype=np.int32)
            for number in np.unique(partition):
                here = partition == number
                cut[here] = np.searchsorted(offsets_of[int(number)], offset[here], side="right") - 1
            yield pa.record_batch({
                "partition": batch.column("partition"), "cut": pa.array(cut),
                "target": target_partitions(batch, partitions), "timestamp_ms": batch.column("timestamp_ms"),
            })  # fmt: skip

    columns = frame.select("partition", "offset", "timestamp_ms", "key")
    rows = mapped(columns, placed, "partition int, cut int, target int, timestamp_ms long")
    least = rows.groupBy("partition", "cut", "target").agg(f.min("timestamp_ms").alias("t"), f.count("*").alias("n"))
    collected = spark.call(least.collect, f"reading what the groups have not read of {source}")
    return [Unread(*(int(value) for value in row)) for row in collected]
