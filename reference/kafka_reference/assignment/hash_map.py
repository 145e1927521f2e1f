"""A HashMap whose iteration order is Java's, for assignors whose answers depend on it.

Keys iterate by bucket, and within a bucket in the order of insertion; the table doubles when a put makes it more than three
quarters full, and never shrinks. ``computeIfAbsent`` is different: it inserts in front of the bucket, and the table doubles
at the next call. Not mirrored: a bucket of eight keys or more.

Java source mirrored: ``java.util.HashMap`` and ``HashSet``, JDK 17 and 21; ``TopicPartition.hashCode``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from kafka_reference.errors import NullPointerException
from kafka_reference.java.hash_maps import partition_hash, string_hash

__all__ = ["HashMap", "by_partition", "by_text"]

K = TypeVar("K")
V = TypeVar("V")
_CAPACITY = 16


class HashMap(Generic[K, V]):
    """A map in Java's order of iteration. ``map[key]`` of an absent key is Java's null, dereferenced at once."""

    def __init__(self, hash_of: Callable[[K], int], items: Iterable[tuple[K, V]] = ()) -> None:
        self._hash_of = hash_of
        self._values: dict[K, V] = {}
        self._in_front: list[K] = []
        self._capacity = _CAPACITY
        for key, value in items:
            self[key] = value

    def get(self, key: K | None) -> V | None:
        """Return the value of ``key``, or None."""
        return self._values.get(key)  # type: ignore[arg-type]

    def __getitem__(self, key: K | None) -> V:
        """Return the value of ``key``. Raises NullPointerException if there is none."""
        found = self.get(key)
        if found is None:
            raise NullPointerException
        return found

    def __setitem__(self, key: K, value: V) -> None:
        self._values[key] = value
        self._grow()

    def _grow(self) -> None:
        if len(self._values) > self._capacity * 3 // 4:
            self._capacity *= 2

    def put_if_absent(self, key: K, value: V) -> V:
        """Return the value of ``key``, which is put if there was none."""
        if key not in self._values:
            self[key] = value
        return self._values[key]

    def compute_if_absent(self, key: K, value: V) -> V:
        """Return the value of ``key``, which is inserted in front of its bucket if there was none."""
        self._grow()
        if key not in self._values:
            self._values[key] = value
            self._in_front.insert(0, key)
        return self._values[key]

    def pop(self, key: K) -> V | None:
        """Remove ``key`` and return its value, or None."""
        if key in self._in_front:
            self._in_front.remove(key)
        return self._values.pop(key, None)

    def clear(self) -> None:
        """Remove all keys; the table keeps its size."""
        self._values.clear()
        self._in_front.clear()

    def keys(self) -> list[K]:
        """Return the keys in Java's order."""
        return sorted(dict.fromkeys([*self._in_front, *self._values]), key=self._bucket)

    def _bucket(self, key: K) -> int:
        hashed = self._hash_of(key)
        return (hashed ^ hashed >> 16) & (self._capacity - 1)

    def items(self) -> list[tuple[K, V]]:
        """Return keys and values in Java's order."""
        return [(key, self._values[key]) for key in self.keys()]

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)


def by_text(items: Iterable[tuple[str, V]] = ()) -> HashMap[str, V]:
    """Return a HashMap whose keys are texts."""
    return HashMap(string_hash, items)


def by_partition(items: Iterable[tuple[tuple[str, int], V]] = ()) -> HashMap[tuple[str, int], V]:
    """Return a HashMap whose keys are partitions."""
    return HashMap(partition_hash, items)
