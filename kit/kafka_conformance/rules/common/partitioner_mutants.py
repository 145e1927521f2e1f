"""Mistakes in the partitioners that are asked record by record: the round, the sticky cache, round robin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.clusters import AskedPartition
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep, PartitionStep
from kafka_conformance.rules.common.scripts import play
from kafka_reference.errors import NotInThisRelease
from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner, pick
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache
from kafka_reference.releases import Release, parse_release

__all__ = ["STICKY_MUTANTS", "all_led", "as_if", "on_clusters", "renumbered"]

_DEFAULT, _UNIFORM, _ROUND_ROBIN = "default-partitioner", "uniform-sticky-partitioner", "round-robin-partitioner"


def as_if(rule: str, version: str) -> Ask:
    """One release's rule taken for another's, wherever the other one has an answer."""

    def ask(question: Any, at: Release) -> Answer:
        try:
            return RULES[rule].ask(question, parse_release(version))
        except NotInThisRelease:
            return RULES[rule].ask(question, at)

    return ask


def on_clusters(rule: str, change: Callable[[tuple[AskedPartition, ...]], tuple[AskedPartition, ...]]) -> Ask:
    """The rule, with every cluster's partitions changed on the way."""

    def changed(holder: Any) -> Any:
        cluster = getattr(holder, "cluster", None)
        return (
            holder
            if cluster is None
            else replaced(holder, cluster=replaced(cluster, partitions=change(cluster.partitions)))
        )

    return lambda question, at: RULES[rule].ask(
        replaced(changed(question), steps=tuple(map(changed, question.steps))), at
    )


def renumbered(partitions: tuple[AskedPartition, ...]) -> tuple[AskedPartition, ...]:
    """Ids are taken for places."""
    return tuple(replaced(partition, id=place) for place, partition in enumerate(partitions))


def all_led(partitions: tuple[AskedPartition, ...]) -> tuple[AskedPartition, ...]:
    """Nobody looks at leaders."""
    return tuple(replaced(partition, leader=0) for partition in partitions)


def _only_led(partitions: tuple[AskedPartition, ...]) -> tuple[AskedPartition, ...]:
    return tuple(partition for partition in partitions if partition.leader is not None)


class _MayRepeat(StickyPartitionCache):
    def _choose(self, cluster: Cluster, _: int | None) -> int:
        return super()._choose(cluster, None)


class _AlwaysSwitches(StickyPartitionCache):
    def next_partition(self, topic: str, cluster: Cluster, _: int) -> int:
        return super().next_partition(topic, cluster, self._sticky.get(topic, -1))


class _NeverSwitches(StickyPartitionCache):
    def next_partition(self, topic: str, cluster: Cluster, previous: int) -> int:
        return self._sticky[topic] if topic in self._sticky else super().next_partition(topic, cluster, previous)


class _Counts(StickyPartitionCache):
    """In place of further draws, one is counted on from the first."""

    _number: int | None = None

    def _choose(self, cluster: Cluster, old: int | None) -> int:
        self._number = self._draws.next() if self._number is None else self._number + 1
        chosen = pick(to_positive(self._number), cluster.available, len(cluster.partitions))
        return chosen if chosen != old or len(cluster.available) < 2 else self._choose(cluster, old)


class _DrawsForOne(StickyPartitionCache):
    def _choose(self, cluster: Cluster, old: int | None) -> int:
        if len(cluster.available) == 1:
            self._draws.next()
        return super()._choose(cluster, old)


class _LosesLost(StickyPartitionCache):
    def partition(self, topic: str, cluster: Cluster) -> int:
        if self._sticky.get(topic) not in {partition.id for partition in cluster.available}:
            self._sticky.pop(topic, None)
        return super().partition(topic, cluster)


class _OneForAll(StickyPartitionCache):
    def partition(self, _: str, cluster: Cluster) -> int:
        return super().partition("", cluster)

    def next_partition(self, _: str, cluster: Cluster, previous: int) -> int:
        return super().next_partition("", cluster, previous)


def _cached(cache: Callable[[DrawSource], StickyPartitionCache], keyed: bool) -> Ask:
    """The sticky rule over such a cache; ``keyed`` if records with a key go by their hash."""

    def answer(question: Any, _: Release) -> Answer:
        sticky = cache(question.draws())

        def take(step: Any, cluster: Cluster) -> Answer:
            if isinstance(step, NewBatchStep):
                sticky.next_partition(step.topic, cluster, step.previous)
                return {}
            if keyed and step.key is not None:
                return {"partition": partition_for_key(bytes.fromhex(step.key), len(cluster.partitions))}
            return {"partition": sticky.partition(step.topic, cluster)}

        return play(question.cluster, question.steps, take)

    return answer


def _keys_as(key: Callable[[str | None], str | None]) -> Ask:
    def rekeyed(step: Any) -> Any:
        return replaced(step, key=key(step.key)) if isinstance(step, PartitionStep) else step

    return lambda question, at: RULES[_DEFAULT].ask(replaced(question, steps=tuple(map(rekeyed, question.steps))), at)


class _OneCounter(RoundRobinPartitioner):
    def partition(self, _: str, cluster: Cluster) -> int:
        return super().partition("", cluster)


class _CountsAfterwards(RoundRobinPartitioner):
    def partition(self, topic: str, cluster: Cluster) -> int:
        number = self._next.get(topic, 0)
        chosen = pick(number, cluster.available, len(cluster.partitions))
        self._next[topic] = number + 1
        return chosen


class _FromOne(RoundRobinPartitioner):
    def partition(self, topic: str, cluster: Cluster) -> int:
        self._next.setdefault(topic, 1)
        return super().partition(topic, cluster)


class _RemembersOn(RoundRobinPartitioner):
    """3.9.2 as it would be if a record of another topic left the memory alone."""

    def partition(self, topic: str, cluster: Cluster) -> int:
        kept = None if self._remembered is None or self._remembered[0] == topic else self._remembered
        chosen = super().partition(topic, cluster)
        self._remembered = kept
        return chosen


def _round(made: Callable[[Release], RoundRobinPartitioner]) -> Ask:
    def answer(question: Any, at: Release) -> Answer:
        partitioner = made(at)

        def take(step: Any, cluster: Cluster) -> Answer:
            if isinstance(step, NewBatchStep):
                if at < parse_release("4.0.0"):
                    partitioner.on_new_batch(step.topic, cluster, step.previous)
                return {}
            return {"partition": partitioner.partition(step.topic, cluster)}

        return play(question.cluster, question.steps, take)

    return answer


_CACHES: tuple[tuple[str, str, Callable[[DrawSource], StickyPartitionCache]], ...] = (
    ("may-repeat", "a switch may come to the same partition", _MayRepeat),
    ("always-switches", "a new batch switches, whichever partition was full", _AlwaysSwitches),
    ("never-switches", "a new batch does not switch", _NeverSwitches),
    ("counts-on", "further choices are counted on from one draw", _Counts),
    ("draw-for-one", "the only available partition costs a draw", _DrawsForOne),
    ("loses-lost", "a partition that is not available any more is not stuck to", _LosesLost),
    ("one-for-all-topics", "all topics stick to one partition", _OneForAll),
)
_MISTAKES: tuple[tuple[str, str, str, Ask, str], ...] = (
    ("default-index-for-id", _DEFAULT, "an index is answered as an id", on_clusters(_DEFAULT, renumbered), "2.8.2"),
    ("default-leaderless", _DEFAULT, "leaders are not looked at", on_clusters(_DEFAULT, all_led), "2.3.1"),
    ("default-available-only", _DEFAULT, "keys go over the available ones", on_clusters(_DEFAULT, _only_led), "3.9.2"),
    ("default-empty-key-is-none", _DEFAULT, "an empty key counts as no key", _keys_as(lambda key: key or None), "3.2.3"),
    ("default-null-is-empty", _DEFAULT, "no key is hashed as an empty one", _keys_as(lambda key: key or ""), "2.3.1"),
    ("default-2.3-in-2.4", _DEFAULT, "records without a key still go round", as_if(_DEFAULT, "2.3.1"), "2.4.1"),
    ("default-2.4-in-2.3", _DEFAULT, "records without a key stick already", as_if(_DEFAULT, "2.4.1"), "2.3.1"),
    ("default-0.10.1-in-0.11", _DEFAULT, "one counter for all topics", as_if(_DEFAULT, "0.10.1.1"), "0.11.0.3"),
    ("default-0.11-in-0.10.0", _DEFAULT, "a counter for each topic", as_if(_DEFAULT, "0.11.0.3"), "0.10.0.1"),
    ("uniform-index-for-id", _UNIFORM, "an index is answered as an id", on_clusters(_UNIFORM, renumbered), "2.8.2"),
    ("uniform-leaderless", _UNIFORM, "leaders are not looked at", on_clusters(_UNIFORM, all_led), "3.9.2"),
    ("uniform-keyed", _UNIFORM, "records with a key go by it", _cached(StickyPartitionCache, keyed=True), "3.2.3"),
    ("round-3.9.1-in-3.9.2", _ROUND_ROBIN, "asked again, it goes on", as_if(_ROUND_ROBIN, "3.9.1"), "3.9.2"),
    ("round-3.9.2-in-3.9.1", _ROUND_ROBIN, "asked again, it remembers", as_if(_ROUND_ROBIN, "3.9.2"), "3.9.1"),
    ("round-3.9.2-in-newest", _ROUND_ROBIN, "3.9.2's memory came to stay", as_if(_ROUND_ROBIN, "3.9.2"), "4.4.0"),
    ("round-remembers-on", _ROUND_ROBIN, "a batch outlives a record of another topic", _round(_RemembersOn), "3.9.2"),
    ("round-one-counter", _ROUND_ROBIN, "one counter for all topics", _round(_OneCounter), "4.4.0"),
    ("round-from-one", _ROUND_ROBIN, "counting starts at 1", _round(_FromOne), "2.4.1"),
    ("round-counts-afterwards", _ROUND_ROBIN, "an error leaves the counter", _round(_CountsAfterwards), "4.4.0"),
    ("round-index-for-id", _ROUND_ROBIN, "an index is answered as an id", on_clusters(_ROUND_ROBIN, renumbered), "4.4.0"),
    ("round-leaderless", _ROUND_ROBIN, "leaders are not looked at", on_clusters(_ROUND_ROBIN, all_led), "3.6.2"),
)  # fmt: skip


def _all() -> Iterator[Mutant]:
    for short, rule, version in (("default", _DEFAULT, "2.8.2"), ("uniform", _UNIFORM, "3.9.2")):
        for slug, story, cache in _CACHES:
            yield Mutant(f"{short}-{slug}", rule, story, _cached(cache, rule == _DEFAULT), parse_release(version))
    for slug, rule, story, ask, version in _MISTAKES:
        yield Mutant(slug, rule, story, ask, parse_release(version))


STICKY_MUTANTS = tuple(_all())
