"""KafkaProducer's own choice of a partition, before anything is appended: explicit, plugged, by key, or nobody's.

The order of the questions is the rule, and it has four versions:

============== ========================================================================================================
to 0.10.0.1    A partition named in the record must exist: IllegalArgumentException otherwise. Else the partitioner,
               which is DefaultPartitioner unless another was plugged in; its answer is not looked at.
0.10.1 – 3.1.x A partition named in the record is taken without a look at the cluster; a negative one was refused
               earlier, by the record's constructor. Else the partitioner, its answer not looked at: a plugged one that
               says -1 sends the record to partition -1.
3.2.x          The same, but a negative answer of the partitioner is an IllegalArgumentException.
3.3 on         Named in the record; else the plugged partitioner, checked as in 3.2; else, if there is a key and
               ``partitioner.ignore.keys`` is off, the hash of the key; else UNKNOWN_PARTITION, -1: the accumulator
               chooses when it appends (see ``builtin``).
============== ========================================================================================================

The empty key is a key in all of them. What is decided on is the *serialized* key.

A topic without partitions: up to 0.10.2 ``Cluster`` answered null for it (NullPointerException), since 0.11.0 an empty
list (so ArithmeticException, from the remainder by zero).

Java source mirrored: the private ``KafkaProducer.partition(ProducerRecord, byte[], byte[], Cluster)`` and the
constructor of ``ProducerRecord``, 0.10.0.1 to 4.4.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_reference.errors import IllegalArgumentException, NullPointerException
from kafka_reference.java.thread_local_random import ListedDraws
from kafka_reference.partitioning.cluster import Cluster
from kafka_reference.partitioning.default import DefaultPartitioner
from kafka_reference.partitioning.keyed import partition_for_key
from kafka_reference.partitioning.murmur2 import Key
from kafka_reference.releases import NEWEST, Release, parse_release, since

__all__ = ["UNKNOWN_PARTITION", "CustomPartitioner", "choose_partition"]

UNKNOWN_PARTITION = -1

RECORD_REFUSES_NEGATIVE = since("0.10.1.0")
EXPLICIT_MUST_EXIST = since("0.10.0.0", until="0.10.0.1")
PARTITIONER_CHECKED = since("3.2.0")
CHOICE_LEFT_TO_ACCUMULATOR = since("3.3.0")


@dataclass(frozen=True, slots=True)
class CustomPartitioner:
    """A partitioner set by ``partitioner.class``, reduced to what it returns for this record, an int32."""

    returns: int


def choose_partition(
    *,
    partition: int | None = None,
    key: Key | None = None,
    cluster: Cluster,
    ignore_keys: bool = False,
    partitioner: CustomPartitioner | None = None,
    draws: Sequence[int] = (),
    version: str | Release = NEWEST,
) -> int:
    """The partition ``KafkaProducer`` of release ``version`` picks for a record, or -1, UNKNOWN_PARTITION.

    ``partition`` is the one named in the record, an int32, or None; ``key`` the serialized key, or None; ``cluster``
    the topic's partitions; ``ignore_keys`` is ``partitioner.ignore.keys`` (3.3 on; earlier releases do not know it);
    ``partitioner`` a plugged one. ``draws``, int32 each, serve releases before 3.3, where a record without a key
    consumes one.

    Raises IllegalArgumentException, with Kafka's text, and NullPointerException or ArithmeticException for a topic
    without partitions, each where that release does; DrawsExhausted when a draw is needed and none is given. Mirrors
    ``KafkaProducer.partition``, 0.10.0.1 to 4.4.0.
    """
    at = parse_release(version)
    if partition is not None:
        return _explicit(partition, cluster, at)
    if partitioner is not None:
        return _checked(partitioner.returns, at)
    if at in CHOICE_LEFT_TO_ACCUMULATOR:
        if key is None or ignore_keys:
            return UNKNOWN_PARTITION
        return partition_for_key(key, len(cluster.partitions))
    return _checked(DefaultPartitioner(at, ListedDraws(draws)).partition("t", key, cluster), at)


def _explicit(partition: int, cluster: Cluster, at: Release) -> int:
    if partition < 0 and at in RECORD_REFUSES_NEGATIVE:
        raise IllegalArgumentException(
            f"Invalid partition: {partition}. Partition number should always be non-negative or null."
        )
    if at in EXPLICIT_MUST_EXIST:
        if not cluster.partitions:
            raise NullPointerException
        last = len(cluster.partitions) - 1
        if not 0 <= partition <= last:
            raise IllegalArgumentException(
                f"Invalid partition given with record: {partition} is not in the range [0...{last}]."
            )
    return partition


def _checked(chosen: int, at: Release) -> int:
    if chosen < 0 and at in PARTITIONER_CHECKED:
        raise IllegalArgumentException(
            f"The partitioner generated an invalid partition number: {chosen}."
            " Partition number should always be non-negative."
        )
    return chosen
