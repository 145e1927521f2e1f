"""The partition of a key: the hash with its sign bit cleared, modulo the number of partitions.

``partition = to_positive(murmur2(key)) % partitions``, over *all* partitions of the topic, those without a leader
included: a record with a key waits for its leader rather than move. An empty key is a key. Every release gives the same
key the same partition of a topic with the same number of partitions; joins and compaction rely on it. Adding partitions
to a topic moves keys.

Arguments out of their range, as Java treats them:

- a null key: NullPointerException, whatever the number of partitions, because the hash comes first;
- 0 partitions: ArithmeticException;
- a negative number of partitions: no exception. Java's remainder has the sign of the dividend, which is never negative
  here, so the result is the one for the absolute value; for -2^31 it is the positive hash itself.

Java source mirrored: ``BuiltInPartitioner.partitionForKey(byte[], int)``, since 3.3.0,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/clients/producer/internals/BuiltInPartitioner.java
and the same expression in ``DefaultPartitioner.partition``, up to 3.2.3,
https://github.com/apache/kafka/blob/3.2.3/clients/src/main/java/org/apache/kafka/clients/producer/internals/DefaultPartitioner.java
"""

from __future__ import annotations

from operator import index

from kafka_reference.arguments import INT32, checked
from kafka_reference.errors import ArithmeticException
from kafka_reference.java.int32 import INT_MAX, INT_MIN
from kafka_reference.partitioning.murmur2 import Key
from kafka_reference.partitioning.murmur2_fast import murmur2

__all__ = ["partition_for_key"]


@checked(num_partitions=INT32)
def partition_for_key(key: Key, num_partitions: int) -> int:
    """Return the partition that Kafka's Java client gives a record with this serialized key.

    ``key`` is bytes, empty included; ``num_partitions`` is the topic's number of partitions, an int32. The result is 0
    to ``num_partitions - 1``.

        >>> partition_for_key(b"home", 3)
        1

    Raises, as Java does, NullPointerException (a TypeError) for a key of None and ArithmeticException (a
    ZeroDivisionError) for 0 partitions, and nothing for a negative number (see above). Raises TypeError for a ``str``
    key and for a number of partitions that is not an int, ValueError for one that no Java int can hold.

    Mirrors ``BuiltInPartitioner.partitionForKey``, since 3.3.0, and ``DefaultPartitioner.partition`` before.
    """
    hashed = murmur2(key) & INT_MAX
    if type(num_partitions) is int and 0 < num_partitions <= INT_MAX:
        return hashed % num_partitions
    return hashed % _divisor(num_partitions)


def _divisor(num_partitions: int) -> int:
    """Return what Java's remainder by ``num_partitions`` amounts to dividing by."""
    num_partitions = index(num_partitions)  # raises for a float; NumPy's integers are fine
    if num_partitions == 0:
        raise ArithmeticException
    if not INT_MIN <= num_partitions <= INT_MAX:
        raise ValueError(f"{num_partitions} partitions: expected a Java int, {INT_MIN} to {INT_MAX}")
    return abs(num_partitions)
