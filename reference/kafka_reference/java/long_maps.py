"""The iteration order of a hash map of producer ids, which is their order in a snapshot file.

There are three maps, depending on the Scala version a release of the broker is compiled for. All start with 16 buckets,
double them, and never halve them.

============  =================  ===========================  =======================================  ==============
releases      map                bucket of a key              order                                    doubles
============  =================  ===========================  =======================================  ==============
up to 2.3.x   Scala 2.12         top bits of a scrambled one  buckets descending, latest key first     over 3/4 full
up to 3.4.x   Scala 2.13         ``h ^ h >>> 16``, low bits   buckets ascending, by that hash          at 3/4 full
since 3.5.0   java.util.HashMap  ``h ^ h >>> 16``, low bits   buckets ascending, earliest key first    over 3/4 full
============  =================  ===========================  =======================================  ==============

The hash of an id is ``(int) (id ^ id >>> 32)``. For Scala an id that fits an int is its own hash, which differs only for
negative ids, as only a broken snapshot has. Not mirrored: a bucket of 8 keys or more among 64 buckets or more, which Java
turns into a tree.

Sources mirrored: ``java.util.HashMap`` (JDK 17 and 21), ``scala.collection.mutable.HashMap`` and ``HashTable`` of
scala-library 2.12.20, ``scala.collection.mutable.HashMap`` of 2.13.16, ``scala.runtime.Statics.longHash``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from kafka_reference.java.int32 import int32

__all__ = ["JavaMap", "LongMap", "Scala212Map", "Scala213Map", "java_hash", "scala_hash"]

V = TypeVar("V")
_FIRST_BUCKETS = 16
_MASK = 0xFFFFFFFF


def java_hash(key: int) -> int:
    """Return ``Long.hashCode``, without a sign."""
    return (key ^ key >> 32) & _MASK


def scala_hash(key: int) -> int:
    """Return ``Statics.longHash``, without a sign: the key itself if it fits an int."""
    return key & _MASK if int32(key) == key else java_hash(key)


def _spread(hashed: int) -> int:
    return hashed ^ hashed >> 16


class LongMap(Generic[V]):
    """A map whose :meth:`items` come in the order of a hash map; each subclass implements one."""

    def __init__(self) -> None:
        self._values: dict[int, V] = {}
        self._buckets = _FIRST_BUCKETS

    def get(self, key: int) -> V | None:
        """Return the value of ``key``, or None."""
        return self._values.get(key)

    def put(self, key: int, value: V) -> None:
        """Set the value of ``key``; an existing key keeps its place."""
        if key not in self._values:
            self._make_room()
        self._values[key] = value

    def remove(self, key: int) -> None:
        """Remove an existing key."""
        del self._values[key]

    def clear(self) -> None:
        """Remove all keys; the number of buckets stays."""
        self._values.clear()

    def items(self) -> Iterator[tuple[int, V]]:
        """Return keys and values in the map's order."""
        for key in self._order():
            yield key, self._values[key]

    def _make_room(self) -> None:
        raise NotImplementedError

    def _order(self) -> list[int]:
        raise NotImplementedError


class JavaMap(LongMap[V]):
    """``java.util.HashMap``."""

    def _make_room(self) -> None:
        if len(self._values) + 1 > self._buckets * 3 // 4:
            self._buckets *= 2

    def _order(self) -> list[int]:
        return sorted(self._values, key=lambda key: _spread(java_hash(key)) & (self._buckets - 1))


class Scala213Map(LongMap[V]):
    """``mutable.HashMap`` of Scala 2.13: within a bucket, keys are in order of their signed hash."""

    def _make_room(self) -> None:
        if len(self._values) + 1 >= self._buckets * 3 // 4:
            self._buckets *= 2

    def _order(self) -> list[int]:
        def place(key: int) -> tuple[int, int]:
            spread = _spread(scala_hash(key))
            return spread & (self._buckets - 1), int32(spread)

        return sorted(self._values, key=place)


class Scala212Map(LongMap[V]):
    """``mutable.HashMap`` of Scala 2.12: new keys go to the front of their bucket, and doubling reverses buckets."""

    hash_of = staticmethod(scala_hash)

    def __init__(self) -> None:
        super().__init__()
        self._table: list[list[int]] = [[] for _ in range(_FIRST_BUCKETS)]

    def put(self, key: int, value: V) -> None:
        """Set the value of ``key``; an existing key keeps its place."""
        new = key not in self._values
        self._values[key] = value
        if new:
            self._table[self._bucket(key)].insert(0, key)
            if len(self._values) > self._buckets * 3 // 4:
                self._double()

    def remove(self, key: int) -> None:
        """Remove an existing key."""
        super().remove(key)
        self._table[self._bucket(key)].remove(key)

    def clear(self) -> None:
        """Remove all keys; the number of buckets stays."""
        super().clear()
        self._table = [[] for _ in range(self._buckets)]

    def _order(self) -> list[int]:
        return [key for bucket in reversed(self._table) for key in bucket]

    def _double(self) -> None:
        order = self._order()
        self._buckets *= 2
        self._table = [[] for _ in range(self._buckets)]
        for key in order:
            self._table[self._bucket(key)].insert(0, key)

    def _bucket(self, key: int) -> int:
        scrambled = (
            int.from_bytes((self.hash_of(key) * 0x9E3775CD & _MASK).to_bytes(4, "little"), "big") * 0x9E3775CD & _MASK
        )
        # Rotated by 4 bits, the number of bits set in the initial size less one; that never changes.
        turned = (scrambled >> 4 | scrambled << 28) & _MASK
        return turned >> 32 - (self._buckets.bit_length() - 1)
