"""Mistakes in the built-in partitioner: when it switches, which record does, how tables are used, and what a rack is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced, replaced_in
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.builtin_partitioner.adapter import ask_of, make, taker
from kafka_conformance.rules.builtin_partitioner.question import BuiltInPartitionerQuestion, SendBytesStep
from kafka_conformance.rules.builtin_partitioner.rule import RULE
from kafka_conformance.rules.common.mutations import all_led, on_clusters, renumbered
from kafka_conformance.rules.common.scripts import play
from kafka_reference.java.int32 import int32
from kafka_reference.partitioning.builtin import BuiltInPartitioner, LoadTable, StickyPartitionInfo
from kafka_reference.partitioning.cluster import Cluster, Partition
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]


class _Switching(BuiltInPartitioner):
    """The condition for a switch, and the bytes that the next stay starts with, as methods to override."""

    def enough(self, _: int, after: int, allowed: bool) -> bool:
        return (allowed and after >= self._batch_size) or after >= int32(2 * self._batch_size)

    def carried(self, _: int) -> int:
        return 0

    def update(
        self, info: StickyPartitionInfo | None, appended_bytes: int, cluster: Cluster, enable_switch: bool = True
    ) -> None:
        if info is not None:
            before, info.produced = info.produced, int32(info.produced + appended_bytes)
            if self.enough(before, info.produced, enable_switch):
                self._current = StickyPartitionInfo(self.next_partition(cluster), self.carried(info.produced))


class _Above(_Switching):
    def enough(self, _: int, after: int, allowed: bool) -> bool:
        return (allowed and after > self._batch_size) or after >= int32(2 * self._batch_size)


class _AboveTwice(_Switching):
    def enough(self, _: int, after: int, allowed: bool) -> bool:
        return (allowed and after >= self._batch_size) or after > int32(2 * self._batch_size)


class _NoCap(_Switching):
    def enough(self, _: int, after: int, allowed: bool) -> bool:
        return allowed and after >= self._batch_size


class _AlwaysAllowed(_Switching):
    def enough(self, before: int, after: int, _allowed: bool) -> bool:
        return super().enough(before, after, True)


class _Forgets(_Switching):
    """Only the append that crosses the size can switch; if that is not allowed, the switch is forgotten."""

    def enough(self, before: int, after: int, allowed: bool) -> bool:
        return super().enough(before, after, allowed and before < self._batch_size)


class _Wide(_Switching):
    def enough(self, _: int, after: int, allowed: bool) -> bool:
        return (allowed and after >= self._batch_size) or after >= 2 * self._batch_size


class _Carries(_Switching):
    def carried(self, produced: int) -> int:
        return produced - self._batch_size


class _EmptyBatches(BuiltInPartitioner):
    def __init__(self, release: Release, batch_size: int, *others: Any) -> None:
        super().__init__(release, max(1, batch_size), *others)
        self._batch_size = batch_size


class _DrawsOnlyForChoices(BuiltInPartitioner):
    def next_partition(self, cluster: Cluster) -> int:
        near = self._nearby(cluster) or cluster.available
        return near[0].id if self._table is None and len(near) == 1 else super().next_partition(cluster)


class _Uniform(BuiltInPartitioner):
    def next_partition(self, cluster: Cluster) -> int:
        self._table, kept = None, self._table
        self._rack_table = None
        try:
            return super().next_partition(cluster)
        finally:
            self._table = kept


class _OneTooEarly(BuiltInPartitioner):
    """A number that equals an entry of the table selects the entry before the right one."""

    def next_partition(self, cluster: Cluster) -> int:
        table = self._rack_table or self._table
        if table is None or table.range_ends[-1] <= 0:
            return super().next_partition(cluster)
        number = to_positive(self._draws.next()) % table.range_ends[-1]
        return table.partition_ids[bisect_left(table.range_ends, number)]


class _Loading(BuiltInPartitioner):
    """Loads other weights."""

    def weights(self, sizes: Sequence[int]) -> Sequence[int]:
        return [max(sizes) + 1 - size for size in sizes]

    def load(
        self,
        queue_sizes: Sequence[int] | None,
        partition_ids: Sequence[int] = (),
        racks: Sequence[str | None] | None = None,
        length: int = 0,
    ) -> int | None:
        loaded = super().load(queue_sizes, partition_ids, racks, length)
        if loaded is None or queue_sizes is None:
            return loaded
        ends = tuple(map(int32, accumulate(self.weights(queue_sizes[:length]))))
        self._table = LoadTable(ends, tuple(partition_ids))
        return ends[-1]


class _NoPlusOne(_Loading):
    def weights(self, sizes: Sequence[int]) -> Sequence[int]:
        return [max(sizes) - size for size in sizes]


class _Straight(_Loading):
    def weights(self, sizes: Sequence[int]) -> Sequence[int]:
        return [size + 1 for size in sizes]


class _LeftOutCounts(BuiltInPartitioner):
    def load(
        self,
        queue_sizes: Sequence[int] | None,
        partition_ids: Sequence[int] = (),
        racks: Sequence[str | None] | None = None,
        length: int = 0,
    ) -> int | None:
        counted = length if queue_sizes is None or length < 1 else max(length, len(queue_sizes))
        return super().load(queue_sizes, partition_ids, racks, counted)


class _AnyRack(BuiltInPartitioner):
    def _nearby(self, _: Cluster) -> list[Partition]:
        return []


class _AnyRackLoaded(BuiltInPartitioner):
    def _table_of_my_rack(self, *_: Any) -> LoadTable | None:
        return None


class _StrictRack(BuiltInPartitioner):
    """With nothing in the rack, chooses among all partitions and not among the available ones."""

    def next_partition(self, cluster: Cluster) -> int:
        if not self._rack_aware or self._table is not None or self._nearby(cluster):
            return super().next_partition(cluster)
        return super().next_partition(Cluster(cluster.nodes, tuple(Partition(p.id) for p in cluster.partitions)))


class _Sending(_Switching):
    """Which partition a record goes to, and when its bytes count, as a method to override."""

    def send(self, step: SendBytesStep, cluster: Cluster) -> int:
        info = self.peek(cluster)
        self.update(info, step.bytes, cluster, step.enable_switch)
        return info.partition

    def _begin(self, cluster: Cluster) -> StickyPartitionInfo:
        self._current = StickyPartitionInfo(self.next_partition(cluster))
        return self._current


class _Early(_Sending):
    def send(self, step: SendBytesStep, cluster: Cluster) -> int:
        info = self.peek(cluster)
        if info.produced and self.enough(0, int32(info.produced + step.bytes), step.enable_switch):
            info = self._begin(cluster)
        info.produced = int32(info.produced + step.bytes)
        return info.partition


class _CrossingMoves(_Sending):
    def send(self, step: SendBytesStep, cluster: Cluster) -> int:
        super().send(step, cluster)
        return self.peek(cluster).partition


class _CountedLate(_Sending):
    def send(self, step: SendBytesStep, cluster: Cluster) -> int:
        info = now = self.peek(cluster)
        if self.enough(0, info.produced, step.enable_switch):
            now = self._begin(cluster)
        now.produced = int32(now.produced + step.bytes)
        return info.partition


def _sent(made: Callable[..., _Sending]) -> Ask:
    def ask(question: BuiltInPartitionerQuestion, release: Release) -> Answer:
        partitioner, draws = make(made, question, release)
        take_other = taker(partitioner, draws)

        def take(step: Any, cluster: Cluster) -> Answer:
            if isinstance(step, SendBytesStep):
                return {"partition": partitioner.send(step, cluster)}
            return take_other(step, cluster)

        return play(question.cluster, question.steps, take)

    return ask


def _null_rack_is_empty(question: Any, release: Release) -> Any:
    nodes = tuple(replaced(node, rack=node.rack or "") for node in question.cluster.nodes)
    return RULE.ask(replaced_in(question, "cluster", nodes=nodes), release)


def _made(made: Callable[..., BuiltInPartitioner]) -> Ask:
    return partial(ask_of, made)


_SWITCH_DEFERRED = ("https://github.com/apache/kafka/pull/12570",)
_BATCH_SIZE = ("https://github.com/apache/kafka/pull/12752",)
_ADAPTIVE = ("https://github.com/thomhurst/Dekaf/issues/1385",)
_UNIFORM_BYTES = (
    "https://github.com/twmb/franz-go/blob/f57c050039038b0397eb70390263b75eb609a775/pkg/kgo/partitioner.go",
)
_MISTAKES: tuple[tuple[str, str, Ask, str, tuple[str, ...]], ...] = (
    ("above-the-size", "switches above the batch size, not at it", _made(_Above), "4.4.0", ()),
    ("above-twice-the-size", "the cap is above twice the batch size, not at it", _made(_AboveTwice), "4.4.0", ()),
    ("no-cap", "while no switch is allowed, stays however much is appended", _made(_NoCap), "4.4.0", ()),
    ("always-allowed", "ignores whether a switch is allowed (KAFKA-14156)", _made(_AlwaysAllowed), "4.3.1",
     _SWITCH_DEFERRED),
    ("deferred-forgotten", "a deferred switch is forgotten", _made(_Forgets), "4.4.0", ()),
    ("wide-arithmetic", "twice the batch size does not wrap", _made(_Wide), "4.4.0", ()),
    ("excess-carried", "bytes beyond the batch size count for the next stay", _made(_Carries), "4.4.0", ()),
    ("switches-one-record-early", "the record that would cross the limit goes to the next partition, and counts there",
     _sent(_Early), "4.4.0", _UNIFORM_BYTES),
    ("crossing-record-moves", "the record that crosses the limit goes to the next partition, and counts at the old one",
     _sent(_CrossingMoves), "4.4.0", ()),
    ("counted-after-the-switch", "a record's bytes count after the check, so that the switch comes one record late",
     _sent(_CountedLate), "4.4.0", ()),
    ("empty-batches", "accepts a batch size below 1", _made(_EmptyBatches), "4.4.0", _BATCH_SIZE),
    ("draws-for-choices-only", "the only partition uses no draw", _made(_DrawsOnlyForChoices), "4.4.0", ()),
    ("adaptive-ignored", "loads statistics and does not use them", _made(_Uniform), "4.4.0", _ADAPTIVE),
    ("search-off-by-one", "a number in the table selects the entry before", _made(_OneTooEarly), "4.4.0", ()),
    ("no-plus-one", "the longest queue gets nothing", _made(_NoPlusOne), "4.3.1", ()),
    ("not-inverted", "longer queues get more", _made(_Straight), "4.3.1", ()),
    ("left-out-counts", "partitions that were left out get records", _made(_LeftOutCounts), "4.4.0", ()),
    ("builtin-leaderless", "ignores which partitions have a leader", on_clusters(RULE.slug, all_led), "4.4.0", ()),
    ("builtin-index-for-id", "returns an index where the id is right", on_clusters(RULE.slug, renumbered), "4.4.0", ()),
    ("rack-ignored", "uses the rack for tables only", _made(_AnyRack), "4.4.0", ()),
    ("rack-ignored-in-tables", "does not use the rack for tables", _made(_AnyRackLoaded), "4.4.0", ()),
    ("rack-or-nothing", "ignores leaders if no partition is in the rack", _made(_StrictRack), "4.4.0", ()),
    ("null-rack-is-empty", 'treats a broker without a rack as in the rack named ""', _null_rack_is_empty, "4.4.0", ()),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(slug, RULE.slug, description, ask, parse_release(version), references)
    for slug, description, ask, version, references in _MISTAKES
)
