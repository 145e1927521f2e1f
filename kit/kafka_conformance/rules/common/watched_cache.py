"""A sticky cache whose calls return the branch of the rule that they took.

Generators run it to know what the sticky partition is at each step, labels to know what a script covers. The cache's rule
is the same from 2.4.0 to its end, so both depend on no release.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_reference.errors import ArithmeticException
from kafka_reference.java.thread_local_random import SeededDraws
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.sticky_cache import NO_PARTITION, StickyPartitionCache

__all__ = ["WatchedCache"]


@dataclass(slots=True)
class WatchedCache:
    """A sticky cache whose calls return the branch of the rule that they took."""

    draws: SeededDraws
    cache: StickyPartitionCache = field(init=False)
    held: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cache = StickyPartitionCache(self.draws)

    def place(self, topic: str, cluster: Cluster) -> str:
        """Place a record."""
        return "sticks" if topic in self.held else self._choose(topic, cluster, NO_PARTITION, "first choice")

    def new_batch(self, topic: str, cluster: Cluster, previous: int) -> str:
        """Announce a new batch."""
        if topic not in self.held:
            return self._choose(topic, cluster, previous, "first choice at a new batch")
        if self.held[topic] != previous:
            return "a batch of another partition"
        return self._choose(topic, cluster, previous, "switch")

    def _choose(self, topic: str, cluster: Cluster, previous: int, why: str) -> str:
        used = self.draws.used
        try:
            self.held[topic] = self.cache.next_partition(topic, cluster, previous)
        except ArithmeticException:
            return f"{why}, no partitions"
        if self.draws.used > used + 1:
            return f"{why}, drawn again"
        many = min(len(cluster.available), 2)
        return f"{why}, {('none', 'one', 'several')[many]} available"
