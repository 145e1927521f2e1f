"""Mistakes in the built-in partitioner: when it leaves a partition, how it reads its tables, and what racks are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced, replaced_in
from kafka_conformance.rules.builtin_partitioner.question import int32
from kafka_conformance.rules.builtin_partitioner.rule import RULE, ask_of
from kafka_conformance.rules.common.partitioner_mutants import all_led, as_if, on_clusters, renumbered
from kafka_reference.partitioning.builtin import BuiltInPartitioner, LoadTable, StickyPartitionInfo
from kafka_reference.partitioning.cluster import Cluster, Partition
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]


class _Switching(BuiltInPartitioner):
    """Written plainly, so that the condition and what follows from it can be changed."""

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
    """Only the append that crosses the size can switch; if it may not, the wish is forgotten."""

    def enough(self, before: int, after: int, allowed: bool) -> bool:
        return super().enough(before, after, allowed and before < self._batch_size)


class _Wide(_Switching):
    def enough(self, _: int, after: int, allowed: bool) -> bool:
        return (allowed and after >= self._batch_size) or after >= 2 * self._batch_size


class _Carries(_Switching):
    def carried(self, produced: int) -> int:
        return produced - self._batch_size


class _EmptyBatches(BuiltInPartitioner):
    def __init__(self, at: Release, batch_size: int, *others: Any) -> None:
        super().__init__(at, max(1, batch_size), *others)
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
    """A number that stands in the table is taken for the entry before."""

    def next_partition(self, cluster: Cluster) -> int:
        table = self._rack_table or self._table
        if table is None or table.range_ends[-1] <= 0:
            return super().next_partition(cluster)
        number = to_positive(self._draws.next()) % table.range_ends[-1]
        return table.partition_ids[bisect_left(table.range_ends, number)]


class _Loading(BuiltInPartitioner):
    """What is loaded is changed on the way."""

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
    """With nothing in the rack, it goes by all partitions and not by the available ones."""

    def next_partition(self, cluster: Cluster) -> int:
        if not self._rack_aware or self._table is not None or self._nearby(cluster):
            return super().next_partition(cluster)
        return super().next_partition(Cluster(cluster.nodes, tuple(Partition(p.id) for p in cluster.partitions)))


def _null_rack_is_empty(question: Any, at: Release) -> Any:
    nodes = tuple(replaced(node, rack=node.rack or "") for node in question.cluster.nodes)
    return RULE.ask(replaced_in(question, "cluster", nodes=nodes), at)


def _made(made: Callable[..., BuiltInPartitioner]) -> Ask:
    return partial(ask_of, made)


_NO_RACKS = parse_release("4.3.1")
_MISTAKES: tuple[tuple[str, str, Ask, Release], ...] = (
    ("above-the-size", "it leaves above the batch size, not at it", _made(_Above), NEWEST),
    ("above-twice-the-size", "the cap is above twice the batch size, not at it", _made(_AboveTwice), NEWEST),
    ("no-cap", "while the switch is not allowed it stays, however much is appended", _made(_NoCap), NEWEST),
    ("always-allowed", "nobody asks whether the switch is allowed (KAFKA-14156)", _made(_AlwaysAllowed), _NO_RACKS),
    ("deferred-forgotten", "a switch that was not allowed is forgotten", _made(_Forgets), NEWEST),
    ("wide-arithmetic", "twice the batch size does not wrap", _made(_Wide), NEWEST),
    ("excess-carried", "bytes beyond the batch size count for the next stay", _made(_Carries), NEWEST),
    ("empty-batches", "a batch size below 1 is accepted", _made(_EmptyBatches), NEWEST),
    (
        "builtin-3.3.1-in-3.3.2",
        "a batch size below 1 is still accepted",
        as_if(RULE.slug, "3.3.1"),
        parse_release("3.3.2"),
    ),
    (
        "builtin-3.3.2-in-3.3.1",
        "a batch size below 1 is refused already",
        as_if(RULE.slug, "3.3.2"),
        parse_release("3.3.1"),
    ),
    ("draws-for-choices-only", "the only partition costs no draw", _made(_DrawsOnlyForChoices), NEWEST),
    ("adaptive-ignored", "statistics are loaded and not looked at", _made(_Uniform), NEWEST),
    ("search-off-by-one", "a number in the table is taken for the entry before", _made(_OneTooEarly), NEWEST),
    ("no-plus-one", "the longest queue gets nothing at all", _made(_NoPlusOne), _NO_RACKS),
    ("not-inverted", "long queues get more", _made(_Straight), _NO_RACKS),
    ("left-out-counts", "partitions that were left out get records", _made(_LeftOutCounts), NEWEST),
    ("builtin-leaderless", "leaders are not looked at", on_clusters(RULE.slug, all_led), NEWEST),
    ("builtin-index-for-id", "an index is answered as an id", on_clusters(RULE.slug, renumbered), NEWEST),
    ("rack-ignored", "the rack counts for tables only", _made(_AnyRack), NEWEST),
    ("rack-ignored-in-tables", "the rack does not count for tables", _made(_AnyRackLoaded), NEWEST),
    ("rack-or-nothing", "with nothing in the rack, leaders are not looked at", _made(_StrictRack), NEWEST),
    ("null-rack-is-empty", "a broker without a rack is in the rack with no name", _null_rack_is_empty, NEWEST),
    ("builtin-4.3-in-4.4", "racks are not looked at at all", as_if(RULE.slug, "4.3.1"), NEWEST),
)

MUTANTS = tuple(Mutant(slug, RULE.slug, story, ask, at) for slug, story, ask, at in _MISTAKES)
