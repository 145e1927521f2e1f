"""The iteration order of Java's hash maps, where Kafka's behaviour depends on it.

A HashMap has ``capacity`` buckets, a power of two. A key's bucket is ``(h ^ h >>> 16) & (capacity - 1)``; iteration goes
through the buckets in ascending order, and within a bucket in order of insertion. A put that exceeds three quarters of the
capacity doubles it, which keeps the order within buckets.

``CopyOnWriteMap`` copies its HashMap for every new key, and a copy has the smallest capacity that holds the old entries
(JDK 17: above ``size / 0.75``, JDK 21: at least that; once the new key is in, both are the same). The very first map is
empty, with 16 buckets. So partitions 0, 4, 1, put in that order, iterate in that order (4 buckets), and after 5 is put
they iterate as 0, 1, 4, 5 (8 buckets).

Not mirrored: a bucket of 8 keys or more, which Java turns into a tree, or doubles the capacity for.

Java source mirrored: ``java.util.HashMap``, ``String.hashCode``, JDK 17 and 21; ``CopyOnWriteMap`` and
``TopicPartition.hashCode``, every release,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/common/utils/CopyOnWriteMap.java
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Generic, TypeVar

__all__ = ["CopyOnWriteMap", "capacity_for", "partition_hash", "string_hash", "table_order"]

K = TypeVar("K")
V = TypeVar("V")


@lru_cache(maxsize=4096)
def string_hash(text: str) -> int:
    """Return ``String.hashCode`` as 32 bits without a sign."""
    hashed = 0
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H").tolist():
        hashed = (31 * hashed + unit) & 0xFFFFFFFF
    return hashed


def partition_hash(topic_partition: tuple[str, int]) -> int:
    """Return ``TopicPartition.hashCode`` as 32 bits without a sign."""
    topic, partition = topic_partition
    return (31 * (31 + partition) + string_hash(topic)) & 0xFFFFFFFF


def capacity_for(wanted: int) -> int:
    """Return the smallest power of two that is at least ``wanted``. Mirrors ``HashMap.tableSizeFor``."""
    return 1 << (wanted - 1).bit_length() if wanted > 1 else 1


def table_order(keys: Iterable[K], hash_of: Callable[[K], int], capacity: int) -> list[K]:
    """Return these distinct keys, put one after the other, in the order of a HashMap that began with ``capacity``."""
    put = list(keys)
    while len(put) > capacity * 3 // 4:
        capacity *= 2

    def bucket(key: K) -> int:
        hashed = hash_of(key) & 0xFFFFFFFF
        return (hashed ^ hashed >> 16) & (capacity - 1)

    return sorted(put, key=bucket)


class CopyOnWriteMap(Generic[K, V]):
    """A map that is copied for each new key, iterated in Java's order."""

    def __init__(self, hash_of: Callable[[K], int]) -> None:
        self._hash_of = hash_of
        self._values: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return the value of ``key``, or None."""
        return self._values.get(key)

    def get_or_put(self, key: K, made: Callable[[], V]) -> V:
        """Return the value of ``key``; if there is none, put the one that ``made`` returns."""
        found = self._values.get(key)
        if found is None:
            found = made()
            self._put(key, found)
        return found

    def _put(self, key: K, value: V) -> None:
        before = len(self._values)
        copied = 16 if before == 0 else capacity_for(before * 4 // 3 + 1)
        self._values[key] = value
        order = table_order(self._values, self._hash_of, copied)
        self._values = {each: self._values[each] for each in order}

    def clear(self) -> None:
        """Remove all keys."""
        self._values = {}

    def items(self) -> Iterable[tuple[K, V]]:
        """Return keys and values in Java's order."""
        return self._values.items()

    def __len__(self) -> int:
        return len(self._values)
