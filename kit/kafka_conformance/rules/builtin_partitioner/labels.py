"""The kinds of ``builtin-partitioner`` questions: the branches of the rule that a question takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.builtin_partitioner.adapter import make, taker
from kafka_conformance.rules.builtin_partitioner.question import (
    AppendStep,
    BuiltInPartitionerQuestion,
    PeekStep,
    SendBytesStep,
)
from kafka_conformance.rules.common.scripts import Take, cluster_labels, play
from kafka_conformance.rules.common.scripts_explain import Held
from kafka_reference.errors import DrawsExhausted
from kafka_reference.java.int32 import int32
from kafka_reference.java.thread_local_random import ListedDraws
from kafka_reference.partitioning.builtin import BuiltInPartitioner, StickyPartitionInfo
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.releases import NEWEST

__all__ = ["REQUIRED_LABELS", "WatchedPartitioner", "labels", "watched_taker"]


class WatchedPartitioner(BuiltInPartitioner):
    """A partitioner that notes the branches of the rule it takes."""

    def __init__(self, *configuration: Any) -> None:
        super().__init__(*configuration)
        self.seen: list[str] = []
        self.crossed = False
        """Whether a record crossed the limit and none came after it."""

    def update(
        self, info: StickyPartitionInfo | None, appended_bytes: int, cluster: Cluster, enable_switch: bool = True
    ) -> None:
        """Note whether the report switches, and why."""
        if info is not None:
            before, after = info.produced, int32(info.produced + appended_bytes)
            self.seen += _switch(before, after, self._batch_size, enable_switch)
        super().update(info, appended_bytes, cluster, enable_switch)

    def next_partition(self, cluster: Cluster) -> int:
        """Note what the partition is chosen from."""
        if self._table is not None:
            self.seen.append("by the table of the rack" if self._rack_table else "by the table")
        elif self._nearby(cluster):
            self.seen.append("among the rack's")
        else:
            many = min(len(cluster.available), 2) if cluster.partitions else 3
            self.seen.append(("none available", "one available", "several available", "no partition to choose")[many])
        return super().next_partition(cluster)

    def load(
        self,
        queue_sizes: Sequence[int] | None,
        partition_ids: Sequence[int] = (),
        racks: Sequence[str | None] | None = None,
        length: int = 0,
    ) -> int | None:
        """Note the kind of load."""
        self.seen.append(_kind_of_load(queue_sizes, length))
        return super().load(queue_sizes, partition_ids, racks, length)

    @property
    def held(self) -> Held:
        """The current partition, the bytes of its stay, and the tables in use."""
        found: Held = {}
        if self._current is not None:
            found["current"] = "partition", self._current.partition
            found["this stay"] = f"bytes, of batch.size {self._batch_size}:", self._current.produced
        for name, table in (("table", self._table), ("table of the rack", self._rack_table)):
            if table is not None:
                found[name] = "ends", f"{list(table.range_ends)} for partitions {list(table.partition_ids)}"
        return found


def watched_taker(partitioner: WatchedPartitioner, draws: ListedDraws) -> Take:
    """Return the function that takes a step with ``partitioner`` and notes which records cross the limit."""
    take = taker(partitioner, draws)

    def watched(step: Any, cluster: Cluster) -> Answer:
        if not isinstance(step, SendBytesStep):
            return take(step, cluster)
        info = partitioner.peek(cluster)
        partitioner.seen += ["a record", "the record after a switch"] if partitioner.crossed else ["a record"]
        answer = take(step, cluster)
        partitioner.crossed = partitioner.is_changed(info)
        if partitioner.crossed:
            partitioner.seen.append("the record that crosses the limit")
        return answer

    return watched


def _switch(before: int, after: int, batch_size: int, enabled: bool) -> Iterator[str]:
    if 2 * batch_size != int32(2 * batch_size):
        yield "twice the batch size wraps"
    elif enabled and after >= batch_size:
        yield "left at exactly the size" if after == batch_size else "left at the size"
        if before >= batch_size:
            yield "left later than wanted"
    elif after >= 2 * batch_size:
        yield "left at exactly twice the size" if after == 2 * batch_size else "left at twice the size"
    else:
        yield "may not leave" if after >= batch_size else "below the size"


def _kind_of_load(sizes: Sequence[int] | None, length: int) -> str:
    if sizes is None:
        return "load: nothing known"
    if length < 1:
        return "load: all left out"
    if len(sizes) < 2:
        return "load: fewer than two"
    if length > len(sizes):
        return "load: longer than the sizes"
    loaded = sizes[:length]
    biggest = max(loaded)
    if any(total != int32(total) for total in (biggest + 1, sum(biggest + 1 - size for size in loaded))):
        return "load: sums wrap"
    if min(loaded) < 0:
        return "load: sizes below zero"
    if length == len(sizes):
        return "load: all equal" if biggest == min(loaded) else "load"
    return "load: one left over" if length == 1 else "load: some left out"


def labels(question: BuiltInPartitionerQuestion) -> Iterator[str]:
    """Return the kinds of clusters and the branches that a question takes in the newest release."""
    yield from cluster_labels(question.cluster, question.steps)
    if question.batch_size < 1:
        yield "batch size below 1"
        return
    if question.rack_aware:
        yield "racks"
    if any(isinstance(step, PeekStep | AppendStep) for step in question.steps):
        yield "peek or append"
    if not all(getattr(step, "enable_switch", True) for step in question.steps):
        yield "no switch allowed"
    partitioner, draws = make(WatchedPartitioner, question, NEWEST)
    with suppress(DrawsExhausted):
        play(question.cluster, question.steps, watched_taker(partitioner, draws))
    yield from partitioner.seen


REQUIRED_LABELS = frozenset(
    {"no partitions", "no leader", "some led", "all led", "the cluster changes", "batch size below 1", "racks"}
    | {"left at exactly the size", "left at the size", "left later than wanted", "may not leave", "below the size"}
    | {"left at exactly twice the size", "left at twice the size", "twice the batch size wraps"}
    | {
        "peek or append",
        "no switch allowed",
        "a record",
        "the record that crosses the limit",
        "the record after a switch",
    }
    | {"by the table", "by the table of the rack", "among the rack's", "no partition to choose"}
    | {"none available", "one available", "several available"}
    | {"load", "load: nothing known", "load: all left out", "load: fewer than two", "load: longer than the sizes"}
    | {"load: sums wrap", "load: sizes below zero", "load: all equal", "load: one left over", "load: some left out"}
)
