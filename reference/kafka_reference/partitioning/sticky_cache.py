"""The sticky cache: one partition per topic, kept until a batch of that very partition is full.

One rule, the same from its first release to its last (2.4.0 to 3.9.x; removed in 4.0.0, and since 3.3.0 the producer
asks it only if ``partitioner.class`` names one of its two users, see ``default``):

- ``partition``: the topic's partition if it has one, else as if a new batch had been announced for partition -1.
- ``next_partition``: somebody started a new batch because the one of partition ``previous`` was full. If the topic has
  a partition and it is not ``previous``, somebody else switched already and nothing happens; no draw is consumed. Else
  a partition is chosen, remembered and answered.

The choice depends on how many partitions are available, that is, have a leader:

========== ======= =====================================================================================================
available  draws   chosen
========== ======= =====================================================================================================
none       1       ``draw % all``: an *index* among all partitions, taken for an id. It may be the old one again.
one        0       its id. It may be the old one again.
two +      1 +     the id of ``available[draw % n]``, drawn again for as long as it is the old id.
========== ======= =====================================================================================================

A draw is an int32 whose sign bit is cleared. Without any partition the first line is Java's ``% 0``: the draw is gone,
ArithmeticException is raised, the cache stays as it was.

The last line can go on for ever: Java's ``Cluster`` lets two entries of its list carry the same id, and if every
available entry carries the old one, no draw ends the loop. Here that raises DrawsExhausted before drawing, whatever
the source of draws: it is a question no Java answers either, not an answer. If one available id differs, every draw
source that is not a list ends the loop (mix32 of a full-period sequence reaches every int32); a list may run out
first, which is DrawsExhausted too.

What Java does for threads only is left out: ``putIfAbsent`` and ``replace``, which cannot fail when there is one
thread.

Java source mirrored: ``org.apache.kafka.clients.producer.internals.StickyPartitionCache``, 2.4.0 to 3.9.2.
"""

from __future__ import annotations

from kafka_reference.errors import DrawsExhausted
from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.partitioning.round_robin import pick

__all__ = ["StickyPartitionCache"]

NO_PARTITION = -1


class StickyPartitionCache:
    """One sticky partition per topic; ``draws`` gives the int32 it consumes. Mirrors the class, 2.4.0 to 3.9.2."""

    def __init__(self, draws: DrawSource) -> None:
        self._draws = draws
        self._sticky: dict[str, int] = {}

    @property
    def held(self) -> dict[str, int]:
        """The partition of each topic that has one."""
        return dict(self._sticky)

    def partition(self, topic: str, cluster: Cluster) -> int:
        """The topic's partition, an int32, chosen now if there is none yet.

        Raises as :meth:`next_partition`. Mirrors ``StickyPartitionCache.partition(String, Cluster)``.
        """
        if topic in self._sticky:
            return self._sticky[topic]
        return self.next_partition(topic, cluster, NO_PARTITION)

    def next_partition(self, topic: str, cluster: Cluster, previous: int) -> int:
        """The topic's partition after a batch of ``previous``, an int32, was full.

        Raises ArithmeticException for a topic without partitions, when one has to be chosen; DrawsExhausted when the
        draws run out, or when Java would draw for ever. Mirrors ``StickyPartitionCache.nextPartition(String, Cluster,
        int)``.
        """
        old = self._sticky.get(topic)
        if old is None or old == previous:
            self._sticky[topic] = self._choose(cluster, old)
        return self._sticky[topic]

    def _choose(self, cluster: Cluster, old: int | None) -> int:
        if len(cluster.available) == 1:
            return cluster.available[0].id
        if cluster.available and all(partition.id == old for partition in cluster.available):
            raise DrawsExhausted(
                f"every available partition has the id {old}, and Java draws until it differs: give them distinct ids"
            )
        while True:
            chosen = pick(to_positive(self._draws.next()), cluster.available, len(cluster.partitions))
            if chosen != old or not cluster.available:
                return chosen
