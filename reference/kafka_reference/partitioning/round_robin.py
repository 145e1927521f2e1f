"""RoundRobinPartitioner: a counter per topic, from 0, whatever the key.

To place a record, take the topic's number and count on. If any partition is available, that is, has a leader, the
record goes to ``available[number % how many]``, and the answer is that partition's *id*. If none is, the answer is
``number % all``: an *index* among all partitions, taken for an id. (:func:`pick`; old releases of DefaultPartitioner
and BuiltInPartitioner choose in the same way, from other numbers.)

The counter is a Java int and wraps to -2^31; its sign bit is cleared before use, so what is used of it goes from 2^31-1
to 0. The counter here never wraps: the 31 bits that are used are the same.

A topic without partitions ends in Java's ``% 0``: ArithmeticException. The counter has advanced by then, in every
release. (From 3.7.0 on all partitions are counted only when none is available. No answer depends on it.)

What changed is what happens when a batch is started. To 3.9.x the producer asks ``partition()``, finds that the record
needs a new batch, says so by ``onNewBatch(topic, cluster, previous)``, and asks ``partition()`` again for the same
record:

============= ==========================================================================================================
2.4.0 – 3.9.1 ``onNewBatch`` does nothing: the default method of the interface. The counter moves twice for that record
              and a partition is passed over (KAFKA-9965, KAFKA-13303): if each record starts a batch and the number of
              partitions is even, every other partition gets nothing.
3.9.2         ``onNewBatch`` remembers topic and partition, one for the whole thread, the last one said. The next
              ``partition()`` forgets it, and if it is for the same topic answers the remembered partition, looking
              neither at the counter nor at the cluster. For another topic it goes on as usual (KAFKA-17632).
4.0.0 on      ``onNewBatch`` does not exist, nobody asks twice, and the class is again what it was before 3.9.2.
============= ==========================================================================================================

Java keeps that memory in a ThreadLocal. A question is asked on one thread, so here it is a field.

Java source mirrored: ``org.apache.kafka.clients.producer.RoundRobinPartitioner``, 2.4.0 to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_reference.errors import ArithmeticException, NotInThisRelease
from kafka_reference.partitioning.cluster import Cluster, Partition
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.releases import Release, parse_release, since

__all__ = ["RoundRobinPartitioner", "pick"]

PRESENT = since("2.4.0")
REMEMBERS = since("3.9.2")  # to the end of onNewBatch
NO_NEW_BATCH = since("4.0.0")


def pick(number: int, available: Sequence[Partition], partitions: int) -> int:
    """The id of the ``number``-th available partition, counted round and round; without any, ``number % partitions``.

    ``number`` is 0 to 2^31-1. Raises ArithmeticException if ``partitions``, the number of all of them, is needed and 0.
    """
    if available:
        return available[number % len(available)].id
    if not partitions:
        raise ArithmeticException
    return number % partitions


class RoundRobinPartitioner:
    """The partitioner of release ``version``. Mirrors ``RoundRobinPartitioner``, 2.4.0 to 4.4.0.

    Raises NotInThisRelease for a release before 2.4.0.
    """

    def __init__(self, version: str | Release) -> None:
        self._release = parse_release(version)
        if self._release not in PRESENT:
            raise NotInThisRelease(f"Kafka {self._release} has no RoundRobinPartitioner: ask about {PRESENT}")
        self._next: dict[str, int] = {}
        self._remembered: tuple[str, int] | None = None

    @property
    def counters(self) -> dict[str, int]:
        """The next number of each topic."""
        return dict(self._next)

    @property
    def remembered(self) -> tuple[str, int] | None:
        """The topic and partition of a batch that was announced, in 3.9.2."""
        return self._remembered

    def partition(self, topic: str, cluster: Cluster) -> int:
        """The partition of the topic's next record, an int32.

        Raises ArithmeticException for a topic without partitions. Mirrors ``RoundRobinPartitioner.partition(String,
        Object, byte[], Object, byte[], Cluster)``, which looks at topic and cluster alone.
        """
        remembered, self._remembered = self._remembered, None
        if remembered is not None and remembered[0] == topic:
            return remembered[1]
        number = self._next.get(topic, 0)
        self._next[topic] = number + 1
        return pick(to_positive(number), cluster.available, len(cluster.partitions))

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:  # noqa: ARG002 (Java's list of arguments)
        """The producer is about to start a batch for a record that was given partition ``previous``, an int32.

        Raises NotInThisRelease from 4.0.0 on. Mirrors ``Partitioner.onNewBatch(String, Cluster, int)``, 2.4.0 to 3.9.1,
        and ``RoundRobinPartitioner.onNewBatch``, 3.9.2.
        """
        if self._release in NO_NEW_BATCH:
            raise NotInThisRelease(f"Kafka {self._release} has no onNewBatch: it was removed in 4.0.0")
        if self._release in REMEMBERS:
            self._remembered = topic, previous
