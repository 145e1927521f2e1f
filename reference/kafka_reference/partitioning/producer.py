"""KafkaProducer's own choice of a partition, before anything is appended.

The first of these that applies decides:

1. A partition named in the record. The cluster is not looked at.
2. The partitioner set by ``partitioner.class``. A negative result is an IllegalArgumentException.
3. The hash of the serialized key (``keyed``), unless there is no key or ``partitioner.ignore.keys`` is on. An empty key
   is a key.
4. Otherwise UNKNOWN_PARTITION, -1: the accumulator chooses when it appends (``builtin``).

Exceptions, field by field in :class:`~kafka_reference.partitioning.behaviour.ProducerPartitionBehaviour`:

- Up to 3.2.x, DefaultPartitioner takes the place of 3 and 4, and ``partitioner.ignore.keys`` does not exist.
- Up to 3.1.x, a negative result of the partitioner passes: the record goes to partition -1.
- Up to 0.10.0.x, a partition named in the record must be one of the topic's: IllegalArgumentException otherwise. Since
  0.10.1.0 the constructor of ProducerRecord throws for a negative one.

A topic without partitions: up to 0.10.2.x ``Cluster`` returns null for it (NullPointerException), since 0.11.0.0 an
empty list (ArithmeticException, from the remainder by zero).

Java source mirrored: ``KafkaProducer.partition(ProducerRecord, byte[], byte[], Cluster)`` (private) and the constructor
of ``ProducerRecord``, every release,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/clients/producer/KafkaProducer.java
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_reference.arguments import INT32, checked, proven_by
from kafka_reference.errors import IllegalArgumentException, NullPointerException
from kafka_reference.java.thread_local_random import Draws
from kafka_reference.partitioning.behaviour import ProducerPartitionBehaviour
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import DefaultPartitioner
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.murmur2 import Key
from kafka_reference.releases import NEWEST, Release

__all__ = ["UNKNOWN_PARTITION", "CustomPartitioner", "choose_partition"]

UNKNOWN_PARTITION = -1


@checked(returns=INT32)
@dataclass(frozen=True, slots=True)
class CustomPartitioner:
    """A partitioner set by ``partitioner.class``, reduced to what it returns for this record, an int32.

    >>> from kafka_reference import Cluster
    >>> choose_partition(key=b"foo", cluster=Cluster.of(3), partitioner=CustomPartitioner(returns=1))
    1
    """

    returns: int


@checked(partition=INT32, version=proven_by("producer-partition"))
def choose_partition(
    *,
    partition: int | None = None,
    key: Key | None = None,
    cluster: Cluster,
    ignore_keys: bool = False,
    partitioner: CustomPartitioner | None = None,
    draws: Draws = None,
    version: str | Release = NEWEST,
) -> int:
    """Return the partition that ``KafkaProducer`` of release ``version`` chooses for a record, or UNKNOWN_PARTITION, -1.

    ``partition`` is the one named in the record, an int32, or None; ``key`` the serialized key, or None; ``cluster``
    the topic's partitions; ``ignore_keys`` is ``partitioner.ignore.keys`` (ignored up to 3.2.x, which do not have it);
    ``partitioner`` stands for ``partitioner.class``. ``draws`` are the random int32 available to releases up to 3.2.x,
    where a record without a key uses one; None draws a random one.

        >>> from kafka_reference import Cluster
        >>> choose_partition(key=b"foo", cluster=Cluster.of(3))
        2

    Raises IllegalArgumentException, with Kafka's message; NullPointerException or ArithmeticException for a topic
    without partitions; DrawsExhausted if a draw is needed and none is left; NotInThisRelease before 0.9.0.0; UnprovenRelease
    for a version, as text, that is not proven. Mirrors ``KafkaProducer.partition``, every release.
    """
    behaviour = ProducerPartitionBehaviour.of(version)
    if partition is not None:
        return _check_explicit(partition, cluster, behaviour)
    if partitioner is not None:
        return _check_choice(partitioner.returns, behaviour)
    if behaviour.keyless_left_to_accumulator:
        if key is None or ignore_keys:
            return UNKNOWN_PARTITION
        return partition_for_key(key, len(cluster.partitions))
    return _check_choice(DefaultPartitioner(version, draws).partition("t", key, cluster), behaviour)


def _check_explicit(partition: int, cluster: Cluster, behaviour: ProducerPartitionBehaviour) -> int:
    if partition < 0 and behaviour.negative_partition_refused:
        raise IllegalArgumentException(
            f"Invalid partition: {partition}. Partition number should always be non-negative or null."
        )
    if behaviour.explicit_partition_must_exist:
        if not cluster.partitions:
            raise NullPointerException
        last = len(cluster.partitions) - 1
        if not 0 <= partition <= last:
            raise IllegalArgumentException(
                f"Invalid partition given with record: {partition} is not in the range [0...{last}]."
            )
    return partition


def _check_choice(chosen: int, behaviour: ProducerPartitionBehaviour) -> int:
    if chosen < 0 and behaviour.negative_choice_refused:
        raise IllegalArgumentException(
            f"The partitioner generated an invalid partition number: {chosen}."
            " Partition number should always be non-negative."
        )
    return chosen
