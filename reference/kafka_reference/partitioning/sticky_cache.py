"""The sticky cache: one partition per topic, kept until a batch of that very partition is full.

The rule is the same from 2.4.0 to 3.9.x, its first and last release. Since 3.3.0 the producer uses it only if
``partitioner.class`` names one of its two users (``default``).

- ``partition`` returns the topic's partition if there is one; if not, it chooses one as ``next_partition`` does.
- ``next_partition`` is called when a batch of partition ``previous`` was full. If the topic has a partition other than
  ``previous``, the switch has been made already: nothing changes and no draw is used. Otherwise a partition is chosen,
  remembered and returned.

The choice depends on how many partitions are available (have a leader):

========== ======= =====================================================================================================
available  draws   chosen
========== ======= =====================================================================================================
none       1       ``draw % all``: an *index* among all partitions, used as an id. It may be the old one again.
one        0       its id. It may be the old one again.
two +      1 +     the id of ``available[draw % n]``, drawn again for as long as it is the old id.
========== ======= =====================================================================================================

A draw is an int32 whose sign bit is cleared. Without any partition the first line is Java's ``% 0``:
ArithmeticException; the draw is used up and the cache is unchanged.

The last line can loop for ever: Java's ``Cluster`` accepts a list in which several entries carry the same id, and if
every available entry carries the old one, no draw ends the loop. Here that raises DrawsExhausted before drawing: Java
never answers such a question. If one available id differs, a seeded source of draws always ends the loop (a full-period
sequence reaches every int32); a list of draws may run out first, which is DrawsExhausted, too.

Not mirrored: ``putIfAbsent`` and ``replace``, which serve concurrent threads and cannot fail with one.

Java source mirrored: ``StickyPartitionCache``, 2.4.0 to 3.9.2,
https://github.com/apache/kafka/blob/3.9.2/clients/src/main/java/org/apache/kafka/clients/producer/internals/StickyPartitionCache.java
"""

from __future__ import annotations

from kafka_reference.arguments import INT32, checked
from kafka_reference.errors import DrawsExhausted
from kafka_reference.java.thread_local_random import Draws, draw_source
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.partitioning.round_robin import pick

__all__ = ["StickyPartitionCache"]

NO_PARTITION = -1


@checked(previous=INT32)
class StickyPartitionCache:
    """One sticky partition per topic; ``draws`` gives the random int32 it uses, None random ones.

    >>> from kafka_reference import Cluster
    >>> cache = StickyPartitionCache([4, 7, 9])
    >>> cache.partition("t", Cluster.of(3)), cache.next_partition("t", Cluster.of(3), previous=1)
    (1, 0)
    """

    def __init__(self, draws: Draws = None) -> None:
        self._draws = draw_source(draws)
        self._sticky: dict[str, int] = {}

    @property
    def held(self) -> dict[str, int]:  # unreached: for timelines
        """The partition of each topic that has one."""
        return dict(self._sticky)

    def partition(self, topic: str, cluster: Cluster) -> int:
        """Return the topic's partition, an int32, chosen now if there is none yet.

        Raises as :meth:`next_partition`. Mirrors ``StickyPartitionCache.partition(String, Cluster)``.
        """
        if topic in self._sticky:
            return self._sticky[topic]
        return self.next_partition(topic, cluster, NO_PARTITION)

    def next_partition(self, topic: str, cluster: Cluster, previous: int) -> int:
        """Return the topic's partition after a batch of ``previous``, an int32, was full.

        Raises ArithmeticException for a topic without partitions, when one has to be chosen; DrawsExhausted when the
        draws run out, or where Java would draw for ever. Mirrors ``StickyPartitionCache.nextPartition(String, Cluster,
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
