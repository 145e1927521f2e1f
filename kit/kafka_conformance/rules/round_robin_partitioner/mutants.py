"""Mistakes in RoundRobinPartitioner: what it counts, and what it does about a new batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kafka_conformance.core.mutant import Ask, Mutant
from kafka_conformance.rules.common.mutations import all_led, on_clusters, renumbered
from kafka_conformance.rules.round_robin_partitioner.adapter import ask_of
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.round_robin import RoundRobinPartitioner, pick
from kafka_reference.releases import parse_release

__all__ = ["MUTANTS"]

_RULE = "round-robin-partitioner"


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
    """A record of another topic does not clear the remembered partition."""

    def partition(self, topic: str, cluster: Cluster) -> int:
        kept = None if self._remembered is None or self._remembered[0] == topic else self._remembered
        chosen = super().partition(topic, cluster)
        self._remembered = kept
        return chosen


def _by(partitioner: Callable[..., RoundRobinPartitioner]) -> Ask:
    return partial(ask_of, partitioner)


_ONE_COUNTER = ("https://github.com/apache/kafka/pull/2128",)
_MISTAKES: tuple[tuple[str, str, Ask, str, tuple[str, ...]], ...] = (
    ("round-remembers-on", "a new batch is remembered beyond a record of another topic", _by(_RemembersOn), "3.9.2",
     ()),
    ("round-one-counter", "all topics share one counter", _by(_OneCounter), "4.4.0", _ONE_COUNTER),
    ("round-from-one", "counting starts at 1", _by(_FromOne), "2.4.1", ()),
    ("round-counts-afterwards", "an exception leaves the counter where it was", _by(_CountsAfterwards), "4.4.0", ()),
    ("round-index-for-id", "returns an index where the id is right", on_clusters(_RULE, renumbered), "4.4.0", ()),
    ("round-leaderless", "ignores which partitions have a leader", on_clusters(_RULE, all_led), "3.6.2", ()),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(slug, _RULE, description, ask, parse_release(version), references)
    for slug, description, ask, version, references in _MISTAKES
)
