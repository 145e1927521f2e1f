"""RoundRobinPartitioner: one counter per topic, starting at 0, whatever the key.

The counter's value is taken and the counter moves on. If any partition is available (has a leader), the record goes to
``available[number % how many]``, and the result is that partition's *id*. If none is, the result is ``number % all``: an
*index* among all partitions, used as an id. :func:`pick` is that choice; DefaultPartitioner and BuiltInPartitioner
choose by it as well, from other numbers.

The counter is a Java int that wraps; its sign bit is cleared before use, so the number after 2^31-1 is 0. The counter
here never wraps: the 31 bits that are used are the same.

A topic without partitions is an ArithmeticException (``% 0``), in every release; the counter has moved by then.

``onNewBatch``, 2.4.0 to 3.9.x. When a record needs a new batch, the producer calls ``onNewBatch(topic, cluster,
previous)`` and then ``partition()`` again for the same record:

- Up to 3.9.1 ``onNewBatch`` does nothing. The counter moves twice for that record and a partition is skipped
  (KAFKA-9965, KAFKA-13303): if every record starts a batch and the number of partitions is even, every other partition
  gets nothing.
- In 3.9.2 it remembers topic and partition, one pair per thread, the latest. The next ``partition()`` forgets the pair;
  if it is for the same topic it returns the remembered partition and ignores counter and cluster (KAFKA-17632).
- Since 4.0.0 there is no ``onNewBatch`` and the producer calls ``partition()`` once.

Java keeps the remembered pair in a ThreadLocal. A question runs on one thread, so here it is a field.

Java source mirrored: ``RoundRobinPartitioner.partition`` and ``onNewBatch``, since 2.4.0,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/clients/producer/RoundRobinPartitioner.java
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_reference.arguments import INT32, checked, proven_by
from kafka_reference.errors import ArithmeticException, NotInThisRelease
from kafka_reference.partitioning.behaviour import PartitionerBehaviour, RoundRobinPartitionerBehaviour
from kafka_reference.partitioning.cluster import Cluster, Partition
from kafka_reference.partitioning.murmur2 import to_positive
from kafka_reference.releases import NEWEST, Release

__all__ = ["RoundRobinPartitioner", "pick"]


def pick(number: int, available: Sequence[Partition], partitions: int) -> int:
    """Return the id of the ``number``-th available partition, counted round; without any, ``number % partitions``.

    ``number`` is 0 to 2^31-1, ``partitions`` the number of all partitions. Raises ArithmeticException if none is
    available and there are 0.
    """
    if available:
        return available[number % len(available)].id
    if not partitions:
        raise ArithmeticException
    return number % partitions


@checked(previous=INT32, version=proven_by("round-robin-partitioner"))
class RoundRobinPartitioner:
    """The partitioner of release ``version``. Raises NotInThisRelease before 2.4.0.

    >>> from kafka_reference import Cluster
    >>> partitioner = RoundRobinPartitioner()
    >>> [partitioner.partition("t", Cluster.of(3)) for _ in range(4)]
    [0, 1, 2, 0]
    """

    def __init__(self, version: str | Release = NEWEST) -> None:
        self._behaviour = RoundRobinPartitionerBehaviour.of(version)
        self.has_on_new_batch = PartitionerBehaviour.of(version).has_on_new_batch
        self._next: dict[str, int] = {}
        self._remembered: tuple[str, int] | None = None

    @property
    def counters(self) -> dict[str, int]:  # unreached: for timelines
        """The next number of each topic."""
        return dict(self._next)

    @property
    def remembered(self) -> tuple[str, int] | None:  # unreached: for timelines
        """The topic and partition that ``onNewBatch`` of 3.9.2 remembers."""
        return self._remembered

    def partition(self, topic: str, cluster: Cluster) -> int:
        """Return the partition of the topic's next record, an int32.

        Raises ArithmeticException for a topic without partitions. Mirrors ``RoundRobinPartitioner.partition(String,
        Object, byte[], Object, byte[], Cluster)``, which uses topic and cluster alone.
        """
        remembered, self._remembered = self._remembered, None
        if remembered is not None and remembered[0] == topic:
            return remembered[1]
        number = self._next.get(topic, 0)
        self._next[topic] = number + 1
        return pick(to_positive(number), cluster.available, len(cluster.partitions))

    def on_new_batch(self, topic: str, cluster: Cluster, previous: int) -> None:  # noqa: ARG002 (Java's parameters)
        """Announce a new batch for a record that was given partition ``previous``, an int32.

        Raises NotInThisRelease since 4.0.0. Mirrors ``Partitioner.onNewBatch(String, Cluster, int)``, 2.4.0 to 3.9.1,
        and ``RoundRobinPartitioner.onNewBatch``, 3.9.2.
        """
        if not self.has_on_new_batch:
            raise NotInThisRelease("this release has no Partitioner.onNewBatch: it was removed in 4.0.0")
        if self._behaviour.new_batch_keeps_partition:
            self._remembered = topic, previous
