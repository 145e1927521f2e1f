"""The order in which Java's hash maps give back their keys, where Kafka lets that order decide.

A HashMap has ``capacity`` buckets, a power of two. A key's bucket is ``(h ^ h >>> 16) & (capacity - 1)``; buckets come in
ascending order, and within one the key that was put first. One put too many, above three quarters of the capacity,
doubles it, which keeps the order within buckets.

``CopyOnWriteMap`` copies its HashMap for every key put in, and a copy has the smallest capacity that holds what there was
(JDK 17: above ``size / 0.75``, JDK 21: at least that; once the new key is in, both are the same). The very first map is
made empty, with 16 buckets. So partitions 0, 4, 1, put in that way, come in that order (of 4 buckets), and once 5 is put
in too, they come as 0, 1, 4, 5 (of 8).

Not mirrored: a bucket of 8 keys or more, which Java makes a tree of, or doubles the capacity for.

Java source mirrored: ``java.util.HashMap``, ``String.hashCode``, JDK 17 and 21; ``CopyOnWriteMap`` and
``TopicPartition.hashCode``, 0.10.0.1 to 4.4.0.
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
    """``String.hashCode``, as 32 bits without a sign."""
    hashed = 0
    for unit in memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H").tolist():
        hashed = (31 * hashed + unit) & 0xFFFFFFFF
    return hashed


def partition_hash(of: tuple[str, int]) -> int:
    """``TopicPartition.hashCode``, as 32 bits without a sign."""
    topic, partition = of
    return (31 * (31 + partition) + string_hash(topic)) & 0xFFFFFFFF


def capacity_for(wanted: int) -> int:
    """The smallest power of two that is at least ``wanted``. Mirrors ``HashMap.tableSizeFor``."""
    return 1 << (wanted - 1).bit_length() if wanted > 1 else 1


def table_order(keys: Iterable[K], hash_of: Callable[[K], int], capacity: int) -> list[K]:
    """These distinct keys, put in one after the other, as a HashMap that began with ``capacity`` gives them back."""
    put = list(keys)
    while len(put) > capacity * 3 // 4:
        capacity *= 2

    def bucket(key: K) -> int:
        hashed = hash_of(key) & 0xFFFFFFFF
        return (hashed ^ hashed >> 16) & (capacity - 1)

    return sorted(put, key=bucket)


class CopyOnWriteMap(Generic[K, V]):
    """A map that is copied for each new key; iterated in Java's order. Mirrors ``CopyOnWriteMap``."""

    def __init__(self, hash_of: Callable[[K], int]) -> None:
        self._hash_of = hash_of
        self._values: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The value of ``key``, if it is there."""
        return self._values.get(key)

    def get_or_put(self, key: K, made: Callable[[], V]) -> V:
        """The value of ``key``; if there is none, it is made and put in."""
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
        """Forget all."""
        self._values = {}

    def items(self) -> Iterable[tuple[K, V]]:
        """Keys and values, in Java's order."""
        return self._values.items()

    def values(self) -> Iterable[V]:
        """The values, in Java's order."""
        return self._values.values()

    def __len__(self) -> int:
        return len(self._values)
