"""The rule ``builtin-partitioner``: BuiltInPartitioner, from 3.3.0 on, as the accumulator uses it for one topic.

::

    {"batch_size": 16384, "rack_aware": false, "rack": "", "cluster": C, "draws": [int32, …], "steps": [
        {"op": "peek"},                                          {"partition": 2, "drawn": 1}
        {"op": "append", "bytes": 900, "enable_switch": true},   {"partition": 2, "drawn": 1}
        {"op": "load", "queue_sizes": [0, 3, 1], "partition_ids": [0, 1, 2], "racks": ["a", "a", "b"], "length": 3},
                                                                 {"range_end": 8}
        {"op": "load", "queue_sizes": null},                     {"range_end": null}: there are no statistics
        {"op": "cluster", "cluster": C}]}                        {}

To append is to peek and then to report the bytes. The partition answered is the one after the step; ``drawn`` counts
the draws taken so far, those of steps that raised among them, and so tells a switch to the same partition from none.

To 4.3.x there are no racks, and what a question says about them is not looked at. A batch size below 1 is refused from
3.3.2 on, and that is then the whole answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Rule, Space
from kafka_conformance.core.timeline import Explained
from kafka_conformance.rules.builtin_partitioner.question import (
    AppendStep,
    BuiltInPartitionerQuestion,
    LoadStep,
    PeekStep,
    every_kind_of_load,
    every_size,
    every_small_script,
    every_small_table,
    every_table_of_racks,
    int32,
    questions,
)
from kafka_conformance.rules.common.scripts import cluster_labels, play
from kafka_conformance.rules.common.scripts_explain import Held, Take, Watched, explain_script
from kafka_reference.errors import DrawsExhausted
from kafka_reference.java.thread_local_random import ListedDraws
from kafka_reference.partitioning.behaviour import BuiltInPartitionerBehaviour
from kafka_reference.partitioning.builtin import BuiltInPartitioner, StickyPartitionInfo
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.releases import NEWEST, Release, since

__all__ = ["RULE", "ask_of"]


Made = TypeVar("Made", bound=BuiltInPartitioner)


def _made(made: Callable[..., Made], question: BuiltInPartitionerQuestion, at: Release) -> tuple[Made, ListedDraws]:
    draws = ListedDraws(question.draws)
    rack_aware = question.rack_aware and BuiltInPartitionerBehaviour.of(at).rack_aware
    return made(at, question.batch_size, draws, rack_aware, question.rack), draws


def _taker(partitioner: BuiltInPartitioner, draws: ListedDraws) -> Take:
    def take(step: PeekStep | AppendStep | LoadStep, cluster: Cluster) -> Answer:
        if isinstance(step, LoadStep):
            return {"range_end": partitioner.load(step.queue_sizes, step.partition_ids, step.racks, step.length)}
        if isinstance(step, AppendStep):
            partitioner.update(partitioner.peek(cluster), step.bytes, cluster, step.enable_switch)
        return {"partition": partitioner.peek(cluster).partition, "drawn": draws.used}

    return take


def ask_of(made: Callable[..., BuiltInPartitioner], question: BuiltInPartitionerQuestion, at: Release) -> Answer:
    """What a partitioner made by ``made`` answers: the reference's own, or one that something is different about."""
    return play(question.cluster, question.steps, _taker(*_made(made, question, at)))


class _Watched(BuiltInPartitioner):
    """The newest release's, which notes the branches of the rule that it takes."""

    def __init__(self, *configuration: Any) -> None:
        super().__init__(*configuration)
        self.seen: list[str] = []

    def update(
        self, info: StickyPartitionInfo | None, appended_bytes: int, cluster: Cluster, enable_switch: bool = True
    ) -> None:
        if info is not None:
            before, after = info.produced, int32(info.produced + appended_bytes)
            self.seen += _switch(before, after, self._batch_size, enable_switch)
        super().update(info, appended_bytes, cluster, enable_switch)

    def next_partition(self, cluster: Cluster) -> int:
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
        self.seen.append(_kind_of_load(queue_sizes, length))
        return super().load(queue_sizes, partition_ids, racks, length)

    @property
    def held(self) -> Held:
        """Where it is, the bytes of this stay, and the tables it goes by."""
        found: Held = {}
        if self._current is not None:
            found["current"] = "partition", self._current.partition
            found["this stay"] = f"bytes, of batch.size {self._batch_size}:", self._current.produced
        for name, table in (("table", self._table), ("table of the rack", self._rack_table)):
            if table is not None:
                found[name] = "ends", f"{list(table.range_ends)} for partitions {list(table.partition_ids)}"
        return found


def _explain(question: BuiltInPartitionerQuestion, at: Release, answers: Sequence[Any]) -> Iterator[Explained]:
    partitioner, draws = _made(_Watched, question, at)
    watched = Watched(_taker(partitioner, draws), lambda: partitioner.held, lambda: draws.used, partitioner.seen)
    return explain_script(question, answers, watched)


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


def _labels(question: BuiltInPartitionerQuestion) -> Iterator[str]:
    yield from cluster_labels(question.cluster, question.steps)
    if question.batch_size < 1:
        yield "batch size below 1"
        return
    if question.rack_aware:
        yield "racks"
    watched: list[_Watched] = []

    def made(*configuration: Any) -> _Watched:
        watched.append(_Watched(*configuration))
        return watched[0]

    with suppress(DrawsExhausted):
        ask_of(made, question, NEWEST)
    yield from watched[0].seen


def _path(question: BuiltInPartitionerQuestion) -> str:
    """Where releases part ways: at a batch size below 1, and at racks."""
    return "batch size below 1" if question.batch_size < 1 else "racks" if question.rack_aware else "no racks"


_QUESTIONS = questions()
_WIKI = "https://cwiki.apache.org/confluence/display/KAFKA"

RULE = Rule(
    slug="builtin-partitioner",
    title="BuiltInPartitioner: sticky by bytes, adaptive, in the client's rack",
    area=Area.PLACEMENT,
    releases=since("3.3.0"),
    question=BuiltInPartitionerQuestion,
    ask=partial(ask_of, BuiltInPartitioner),
    strategy=lambda: _QUESTIONS,
    spaces=(
        Space("batch size 2: every script of up to 3 of 9 steps × three clusters", every_small_script),
        Space("edge batch sizes × two appends of edge sizes", every_size),
        Space("edge queue sizes × every edge length × racks or none", every_kind_of_load),
        Space("every table of up to 3 queue sizes 0-3, every number in it drawn", every_small_table),
        Space(
            'three partitions led from racks a, b, none and "" in every way × three client racks', every_table_of_racks
        ),
    ),
    explain=_explain,
    labels=_labels,
    path=_path,
    required_labels=frozenset(
        {"no partitions", "no leader", "some led", "all led", "the cluster changes", "batch size below 1", "racks"}
        | {"left at exactly the size", "left at the size", "left later than wanted", "may not leave", "below the size"}
        | {"left at exactly twice the size", "left at twice the size", "twice the batch size wraps"}
        | {"by the table", "by the table of the rack", "among the rack's", "no partition to choose"}
        | {"none available", "one available", "several available"}
        | {"load", "load: nothing known", "load: all left out", "load: fewer than two", "load: longer than the sizes"}
        | {"load: sums wrap", "load: sizes below zero", "load: all equal", "load: one left over", "load: some left out"}
    ),
    java=((since("3.3.0"), "kafkaoracle.builtin_partitioner.BuiltInPartitionerRule"),),
    source="BuiltInPartitioner.peekCurrentPartitionInfo, updatePartitionInfo, updatePartitionLoadStats, loadStatsRangeEnd",
    harness=(
        "The draws are the question's, put in by reflection, and the calls are the kit's, in place of "
        "RecordAccumulator's: the step append peeks at the partition and then reports the bytes."
    ),
    links=(
        f"{_WIKI}/KIP-794%3A+Strictly+Uniform+Sticky+Partitioner",
        f"{_WIKI}/KIP-1123%3A+Rack-aware+partitioning+for+Kafka+Producer",
        "https://issues.apache.org/jira/browse/KAFKA-14156",
        "https://issues.apache.org/jira/browse/KAFKA-14303",
    ),
)
