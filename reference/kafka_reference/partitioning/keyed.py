"""The partition of a key: the hash with its sign bit cleared, modulo the number of partitions.

``partition = to_positive(murmur2(key)) % partitions``, over *all* partitions of the topic, those without a leader
included: a record with a key waits for its leader rather than move. The empty key is a key. The same key in a topic of
the same number of partitions has been given the same partition by every release, which is what joins and compaction
stand on; a topic that grows breaks it.

What Java does with arguments nobody should pass, kept as it is:

- no key (null): the hash dereferences it first, so NullPointerException, whatever the number of partitions;
- zero partitions: ArithmeticException;
- a negative number of partitions: no error. Java's remainder takes the sign of the dividend, which is never negative
  here, so the answer is the one for the absolute value, and for -2^31 it is the positive hash itself.

Java source mirrored: ``BuiltInPartitioner.partitionForKey(byte[], int)``, 3.3.0 to 4.4.0; before that the same
expression inside ``DefaultPartitioner.partition``, 0.10.0.1 to 3.2.3.
"""

from __future__ import annotations

from operator import index

from kafka_reference.errors import ArithmeticException
from kafka_reference.partitioning.murmur2 import INT_MAX, Key, murmur2

__all__ = ["partition_for_key"]


def partition_for_key(key: Key, partitions: int) -> int:
    """The partition Kafka's Java client gives a record with this serialized key.

    ``key`` is bytes, empty included; ``partitions`` is the topic's number of partitions, an int32. The answer counts
    from 0 to ``partitions - 1``. Mirrors ``BuiltInPartitioner.partitionForKey``, 3.3.0 to 4.4.0, and the same
    expression in ``DefaultPartitioner.partition`` before.

    Raises, as Java does, NullPointerException (a TypeError) for a key of None and ArithmeticException (a
    ZeroDivisionError) for zero partitions; a negative number raises nothing there (see above). Raises TypeError for a
    ``str`` key, and for a number of partitions that is no int; ValueError for one that no Java int can hold.
    """
    hashed = murmur2(key) & INT_MAX
    if type(partitions) is int and 0 < partitions <= INT_MAX:
        return hashed % partitions
    return hashed % _odd_count(partitions)


def _odd_count(partitions: int) -> int:
    partitions = index(partitions)  # a float is refused here; NumPy's integers are not
    if partitions == 0:
        raise ArithmeticException
    if not -INT_MAX - 1 <= partitions <= INT_MAX:
        raise ValueError(f"{partitions} partitions: Java's int ends at 2147483647")
    return abs(partitions)
