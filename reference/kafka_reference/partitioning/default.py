"""DefaultPartitioner, which every producer had to 3.2.x, and UniformStickyPartitioner, its sibling that ignores keys.

A record with a key goes to the partition of its key, in every release (see ``keyed``): an *index* among all partitions,
taken for an id, so if ids have gaps it may name a partition that is not there. A record without one:

================== =====================================================================================================
0.9.0.0 – 0.10.1.x Round robin (``round_robin.pick``), by one counter for all topics.
0.10.2.0 – 2.3.x   Round robin, by a counter per topic. One topic no longer makes another one skip.
2.4.0 – 3.9.x      The sticky cache (see ``sticky_cache``), so that batches fill (KIP-480). From 3.3.0 on only if asked
                   for, and deprecated: a slow partition gets more records than the others (KAFKA-10888).
4.0.0 on           The class is gone, and UniformStickyPartitioner with it.
================== =====================================================================================================

A counter starts at a random int32, one draw, and steps by one as a Java int: after 2^31-1 comes -2^31, whose sign bit,
cleared, leaves 0. The counters here do not wrap: the 31 bits that are used are the same. A topic's counter is drawn
when the topic's first record without a key comes. Java draws the one counter of 0.10.1.x when the partitioner is made;
here it is drawn when it is first needed. No answer can tell, since it is the only draw there ever is, and records with
a key can be asked about without giving draws. To 0.10.2.x the number comes from a ``java.util.Random`` of its own,
from 0.11.0.0 from ``ThreadLocalRandom``.

A topic without partitions:

================== =====================================================================================================
0.9.0.0 – 0.10.2.x ``Cluster.partitionsForTopic`` answers null: NullPointerException, with or without a key, before any
                   counter moves.
0.11.0.0 – 2.3.x   It answers an empty list, so Java's ``% 0``: ArithmeticException. The counter has moved by then.
2.4.0 – 3.9.x      The same with a key; without one, what the sticky cache does: it may hold a partition already.
================== =====================================================================================================

``onNewBatch`` came with the sticky cache in 2.4.0 and hands the topic on to it.

Java source mirrored: ``org.apache.kafka.clients.producer.internals.DefaultPartitioner``, 0.9.0.0 to 3.9.2, and
``org.apache.kafka.clients.producer.UniformStickyPartitioner``, 2.4.0 to 3.9.2.
"""

from __future__ import annotations

from kafka_reference.errors import NotInThisRelease, NullPointerException
from kafka_reference.java.thread_local_random import DrawSource
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.murmur2 import Key, to_positive
from kafka_reference.partitioning.round_robin import pick
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache
from kafka_reference.releases import Release, parse_release, since

__all__ = ["DefaultPartitioner", "UniformStickyPartitioner"]

PRESENT = since("0.9.0.0")
COUNTER_PER_TOPIC = since("0.10.2.0")
EMPTY_TOPIC_IS_NULL = since("0.9.0.0", until="0.10.2.2")
STICKY = since("2.4.0")
REMOVED = since("4.0.0")


class DefaultPartitioner:
    """The partitioner of release ``version``; ``draws`` gives the int32 it consumes.

    Raises NotInThisRelease before 0.9.0.0 and from 4.0.0 on. Mirrors ``DefaultPartitioner``, 0.9.0.0 to 3.9.2.
    """

    def __init__(self, version: str | Release, draws: DrawSource) -> None:
        self._release = parse_release(version)
        if self._release not in PRESENT or self._release in REMOVED:
            raise NotInThisRelease(f"Kafka {self._release} has no DefaultPartitioner: ask about 0.9.0.0 to 3.9.x")
        self._draws = draws
        self._counters: dict[str | None, int] = {}
        self._sticky = StickyPartitionCache(draws)

    @property
    def counters(self) -> dict[str | None, int]:
        """The next number of each topic, or of all of them under None; empty since 2.4.0."""
        return dict(self._counters)

    @property
    def held(self) -> dict[str, int]:
        """The partition that each topic sticks to; empty to 2.3.x."""
        return self._sticky.held

    def partition(self, topic: str, key: Key | None, cluster: Cluster) -> int:
        """The partition of a record, an int32. ``key`` is the serialized key, or None.

        Raises NullPointerException (to 0.10.2.x) or ArithmeticException (later) for a topic without partitions;
        DrawsExhausted. Mirrors ``DefaultPartitioner.partition(String, Object, byte[], Object, byte[], Cluster)``.
        """
        partitions = len(cluster.partitions)
        if not partitions and self._release in EMPTY_TOPIC_IS_NULL:
            raise NullPointerException
        if key is not None:
            return partition_for_key(key, partitions)
        if self._release in STICKY:
            return self._sticky.partition(topic, cluster)
        return pick(to_positive(self._count(topic)), cluster.available, partitions)

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:
        """The producer is about to start a batch for a record that was given partition ``previous``, an int32.

        Raises NotInThisRelease before 2.4.0, and as ``StickyPartitionCache.next_partition``. Mirrors
        ``DefaultPartitioner.onNewBatch(String, Cluster, int)``, 2.4.0 to 3.9.2.
        """
        if self._release not in STICKY:
            raise NotInThisRelease(f"Kafka {self._release} has no onNewBatch: it came in 2.4.0")
        self._sticky.next_partition(topic, cluster, previous)

    def _count(self, topic: str) -> int:
        counter = topic if self._release in COUNTER_PER_TOPIC else None
        if counter not in self._counters:
            self._counters[counter] = self._draws.next()
        self._counters[counter] += 1
        return self._counters[counter] - 1


class UniformStickyPartitioner:
    """The sticky cache for every record, keyed or not; ``draws`` gives the int32 it consumes.

    Raises NotInThisRelease before 2.4.0 and from 4.0.0 on. Mirrors ``UniformStickyPartitioner``, 2.4.0 to 3.9.2.
    """

    def __init__(self, version: str | Release, draws: DrawSource) -> None:
        at = parse_release(version)
        if at not in STICKY or at in REMOVED:
            raise NotInThisRelease(f"Kafka {at} has no UniformStickyPartitioner: ask about 2.4.0 to 3.9.x")
        self._sticky = StickyPartitionCache(draws)

    @property
    def held(self) -> dict[str, int]:
        """The partition that each topic sticks to."""
        return self._sticky.held

    def partition(self, topic: str, key: Key | None, cluster: Cluster) -> int:  # noqa: ARG002 (ignored, as in Java)
        """The partition of a record, an int32, whatever its ``key``.

        Raises as ``StickyPartitionCache.partition``. Mirrors ``UniformStickyPartitioner.partition``.
        """
        return self._sticky.partition(topic, cluster)

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:
        """The producer is about to start a batch for a record that was given partition ``previous``, an int32.

        Raises as ``StickyPartitionCache.next_partition``. Mirrors ``UniformStickyPartitioner.onNewBatch``.
        """
        self._sticky.next_partition(topic, cluster, previous)
