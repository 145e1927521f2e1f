"""Mistakes in the sticky cache, for both partitioners that have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules.common.partitioner_steps import NewBatchStep
from kafka_conformance.rules.common.scripts import play
from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.partitioning.round_robin import pick
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache
from kafka_reference.releases import Release

__all__ = ["sticky_cache_mutants", "with_cache"]


class _MayRepeat(StickyPartitionCache):
    def _choose(self, cluster: Cluster, _: int | None) -> int:
        return super()._choose(cluster, None)


class _AlwaysSwitches(StickyPartitionCache):
    def next_partition(self, topic: str, cluster: Cluster, _: int) -> int:
        return super().next_partition(topic, cluster, self._sticky.get(topic, -1))


class _NeverSwitches(StickyPartitionCache):
    def next_partition(self, topic: str, cluster: Cluster, previous: int) -> int:
        return self._sticky[topic] if topic in self._sticky else super().next_partition(topic, cluster, previous)


class _CountsOn(StickyPartitionCache):
    """Draws once, then counts up from that number."""

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


class _LeavesUnavailable(StickyPartitionCache):
    def partition(self, topic: str, cluster: Cluster) -> int:
        if self._sticky.get(topic) not in {partition.id for partition in cluster.available}:
            self._sticky.pop(topic, None)
        return super().partition(topic, cluster)


class _OneForAll(StickyPartitionCache):
    def partition(self, _: str, cluster: Cluster) -> int:
        return super().partition("", cluster)

    def next_partition(self, _: str, cluster: Cluster, previous: int) -> int:
        return super().next_partition("", cluster, previous)


_NEVER_SWITCHES = ("https://github.com/dpkp/kafka-python/pull/2989",)
_CACHES: tuple[tuple[str, str, Callable[[DrawSource], StickyPartitionCache], tuple[str, ...]], ...] = (
    ("may-repeat", "a switch may choose the same partition again", _MayRepeat, ()),
    ("always-switches", "a new batch switches, whichever partition's batch was full", _AlwaysSwitches, ()),
    ("never-switches", "a new batch does not switch", _NeverSwitches, _NEVER_SWITCHES),
    ("counts-on", "only the first choice is drawn; later ones count up from it", _CountsOn, ()),
    ("draw-for-one", "the only available partition uses up a draw", _DrawsForOne, ()),
    ("loses-lost", "a sticky partition that loses its leader is replaced at once", _LeavesUnavailable, ()),
    ("one-for-all-topics", "all topics share one sticky partition", _OneForAll, ()),
)


def sticky_cache_mutants(rule: str, prefix: str, release: Release, *, keyed: bool) -> Iterator[Mutant]:
    """Return the mutants of the cache as mutants of ``rule``; ``keyed`` if the hash of a key decides before the cache."""
    for slug, description, cache, references in _CACHES:
        yield Mutant(f"{prefix}-{slug}", rule, description, with_cache(cache, keyed=keyed), release, references)


def with_cache(cache: Callable[[DrawSource], StickyPartitionCache], *, keyed: bool) -> Ask:
    """Answer by such a cache; ``keyed`` if the hash of a key decides before the cache."""

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
