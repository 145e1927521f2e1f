"""DefaultPartitioner, the choice of every producer up to 3.2.x, and UniformStickyPartitioner, which ignores keys.

A record with a key goes to the partition of its key (``keyed``): an *index* among all partitions, used as an id. If ids
have gaps, it may name a partition that does not exist. A record without a key:

=================== ====================================================================================================
2.4.0 to 3.9.x      Stays at the sticky partition of its topic (``sticky_cache``), so that batches fill (KIP-480). Since
                    3.3.0 only if ``partitioner.class`` names this class, and deprecated: a slow partition gets more
                    records than the others (KAFKA-10888).
0.10.2.0 to 2.3.x   Goes round (``round_robin.pick``), by a counter per topic.
0.9.0.0 to 0.10.1.x Goes round by one counter for all topics, so that one topic makes another skip partitions.
=================== ====================================================================================================

Both classes are removed in 4.0.0.

A counter starts at a random int32, one draw, and wraps as a Java int does; its sign bit is cleared before use. The
counters here do not wrap: the 31 bits that are used are the same. A topic's counter is drawn with the topic's first
record without a key. Java draws the single counter of 0.10.1.x when the partitioner is made; here it is drawn when it is
first needed, which no answer shows, since it is the only draw. Up to 0.10.2.x the number comes from a
``java.util.Random`` of the class's own, since 0.11.0.0 from ``ThreadLocalRandom``.

A topic without partitions:

=================== ====================================================================================================
0.9.0.0 to 0.10.2.x NullPointerException, with or without a key, before any counter moves: ``Cluster`` returns null.
0.11.0.0 to 2.3.x   ArithmeticException: ``Cluster`` returns an empty list, and Java computes ``% 0``. The counter has
                    moved by then.
2.4.0 to 3.9.x      With a key the same; without one, the sticky cache decides: it may hold a partition already.
=================== ====================================================================================================

Java source mirrored: ``DefaultPartitioner``, 0.9.0.0 to 3.9.2,
https://github.com/apache/kafka/blob/3.9.2/clients/src/main/java/org/apache/kafka/clients/producer/internals/DefaultPartitioner.java
and ``UniformStickyPartitioner``, 2.4.0 to 3.9.2,
https://github.com/apache/kafka/blob/3.9.2/clients/src/main/java/org/apache/kafka/clients/producer/UniformStickyPartitioner.java
"""

from __future__ import annotations

from kafka_reference.arguments import INT32, checked, proven_by
from kafka_reference.errors import NotInThisRelease, NullPointerException
from kafka_reference.java.thread_local_random import Draws, draw_source
from kafka_reference.partitioning.behaviour import (
    DefaultPartitionerBehaviour,
    PartitionerBehaviour,
    UniformStickyPartitionerBehaviour,
)
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.murmur2 import Key, to_positive
from kafka_reference.partitioning.round_robin import pick
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache
from kafka_reference.releases import Release

__all__ = ["DefaultPartitioner", "UniformStickyPartitioner"]


@checked(previous=INT32, version=proven_by("default-partitioner"))
class DefaultPartitioner:
    """The partitioner of release ``version``; ``draws`` gives the random int32 it uses, None random ones.

        >>> from kafka_reference import Cluster
        >>> partitioner = DefaultPartitioner("2.3.1", draws=[7])
        >>> [partitioner.partition("t", None, Cluster.of(3)) for _ in range(3)]
        [1, 2, 0]

    Raises NotInThisRelease before 0.9.0.0 and since 4.0.0.
    """

    def __init__(self, version: str | Release, draws: Draws = None) -> None:
        self._behaviour = DefaultPartitionerBehaviour.of(version)
        self.has_on_new_batch = PartitionerBehaviour.of(version).has_on_new_batch
        self._draws = draw_source(draws)
        self._counters: dict[str | None, int] = {}
        self._sticky = StickyPartitionCache(self._draws)

    @property
    def counters(self) -> dict[str | None, int]:  # unreached: for timelines
        """The next number of each topic, or of all topics under None; empty since 2.4.0."""
        return dict(self._counters)

    @property
    def held(self) -> dict[str, int]:  # unreached: for timelines
        """The sticky partition of each topic; empty up to 2.3.x."""
        return self._sticky.held

    def partition(self, topic: str, key: Key | None, cluster: Cluster) -> int:
        """Return the partition of a record, an int32. ``key`` is the serialized key, or None.

        Raises NullPointerException (up to 0.10.2.x) or ArithmeticException for a topic without partitions;
        DrawsExhausted. Mirrors ``DefaultPartitioner.partition(String, Object, byte[], Object, byte[], Cluster)``.
        """
        partitions = len(cluster.partitions)
        if not partitions and self._behaviour.npe_on_topic_without_partitions:
            raise NullPointerException
        if key is not None:
            return partition_for_key(key, partitions)
        if self._behaviour.sticks_without_key:
            return self._sticky.partition(topic, cluster)
        return pick(to_positive(self._count(topic)), cluster.available, partitions)

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:
        """Announce a new batch for a record that was given partition ``previous``, an int32.

        Raises NotInThisRelease before 2.4.0, and as ``StickyPartitionCache.next_partition``. Mirrors
        ``DefaultPartitioner.onNewBatch(String, Cluster, int)``, 2.4.0 to 3.9.2.
        """
        if not self.has_on_new_batch:
            raise NotInThisRelease("this release has no Partitioner.onNewBatch: it came in 2.4.0")
        self._sticky.next_partition(topic, cluster, previous)

    def _count(self, topic: str) -> int:
        counter = topic if self._behaviour.counter_per_topic else None
        if counter not in self._counters:
            self._counters[counter] = self._draws.next()
        self._counters[counter] += 1
        return self._counters[counter] - 1


@checked(previous=INT32, version=proven_by("uniform-sticky-partitioner"))
class UniformStickyPartitioner:
    """The sticky cache for every record, with a key or without; ``draws`` gives the random int32 it uses, None random ones.

        >>> from kafka_reference import Cluster
        >>> partitioner = UniformStickyPartitioner("3.9.1", draws=[5])
        >>> [partitioner.partition("t", None, Cluster.of(3)) for _ in range(3)]
        [2, 2, 2]

    Raises NotInThisRelease before 2.4.0 and since 4.0.0.
    """

    def __init__(self, version: str | Release, draws: Draws = None) -> None:
        UniformStickyPartitionerBehaviour.of(version)
        self.has_on_new_batch = PartitionerBehaviour.of(version).has_on_new_batch
        self._sticky = StickyPartitionCache(draws)

    @property
    def held(self) -> dict[str, int]:  # unreached: for timelines
        """The sticky partition of each topic."""
        return self._sticky.held

    def partition(self, topic: str, key: Key | None, cluster: Cluster) -> int:  # noqa: ARG002 (ignored, as in Java)
        """Return the partition of a record, an int32, whatever its ``key``.

        Raises as ``StickyPartitionCache.partition``. Mirrors ``UniformStickyPartitioner.partition``.
        """
        return self._sticky.partition(topic, cluster)

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:
        """Announce a new batch for a record that was given partition ``previous``, an int32.

        Raises as ``StickyPartitionCache.next_partition``. Mirrors ``UniformStickyPartitioner.onNewBatch``.
        """
        self._sticky.next_partition(topic, cluster, previous)
