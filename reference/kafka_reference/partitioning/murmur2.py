"""Kafka's hash of a key: murmur2 with Kafka's own seed, 32 bits, signed as a Java int.

Ports go wrong in three places:

- A byte of 0x80 or more counts as 128 to 255, never as a negative number.
- The length counts bytes, never characters.
- The result is signed: half of all keys hash below zero. The sign bit has to be cleared before a partition is computed
  from it (:func:`to_positive`); the absolute value gives another partition for nearly every such key.

This is the readable form. :mod:`kafka_reference.partitioning.murmur2_fast` gives the same hash several times
faster; ``kafka_reference.murmur2`` is that one, and tests hold the two equal.

The hash is the same in every release. In 0.10.0.1 ``toPositive`` is a private method of
``DefaultPartitioner``. Since 4.3.0 Java reads whole words by a VarHandle instead of four shifts, with the same result.

Java source mirrored: ``Utils.murmur2`` and ``Utils.toPositive``,
https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/common/utils/Utils.java
"""

from __future__ import annotations

from typing import TypeAlias

from kafka_reference.arguments import checked
from kafka_reference.errors import NullPointerException
from kafka_reference.java.int32 import INT_MAX, int32, uint32

__all__ = ["SEED", "Key", "M", "as_bytes", "murmur2", "to_positive"]

SEED = 0x9747B28C
M = 0x5BD1E995

Key: TypeAlias = bytes | bytearray | memoryview


def murmur2(key: Key) -> int:  # unreached: the readable form, which tests compare with the fast one
    """Return the hash of a serialized key, a Java int from -2^31 to 2^31-1.

    ``key`` is bytes of any length; an empty key has a hash, too. Raises TypeError for a ``str`` (Kafka hashes bytes:
    encode it first) and for anything else that is not bytes, and
    :class:`~kafka_reference.errors.NullPointerException` (a TypeError) for None, as Java does.

    Mirrors ``Utils.murmur2(byte[])``, every release.
    """
    key = as_bytes(key)
    h = SEED ^ len(key)

    whole = len(key) - len(key) % 4
    for start in range(0, whole, 4):
        k = int.from_bytes(key[start : start + 4], "little")
        k = uint32(k * M)
        k ^= k >> 24
        k = uint32(k * M)
        h = uint32(h * M) ^ k

    tail = key[whole:]  # one to three bytes; with none left over, there is no multiplication
    if tail:
        h ^= int.from_bytes(tail, "little")
        h = uint32(h * M)

    h ^= h >> 13
    h = uint32(h * M)
    h ^= h >> 15
    return int32(h)


@checked
def to_positive(number: int) -> int:
    """Clear the sign bit of a Java int: ``number & 0x7fffffff``, which is *not* its absolute value.

    ``number`` is an int32, as :func:`murmur2` returns it; the result is 0 to 2^31-1. Raises TypeError for anything but
    an int. Mirrors ``Utils.toPositive(int)``, every release.

    >>> to_positive(-1), to_positive(5)
    (2147483647, 5)
    """
    return number & INT_MAX


def as_bytes(key: object) -> bytes:
    """Return ``key`` as bytes. Raises TypeError or NullPointerException as :func:`murmur2`."""
    if isinstance(key, (bytes, bytearray, memoryview)):  # unreached: the fast form takes the bytes of questions itself
        return bytes(key)
    if key is None:
        raise NullPointerException
    if isinstance(key, str):
        raise TypeError(
            "a key is bytes, not str: encode it as your serializer does, key.encode('utf-8') is Java's default"
        )
    raise TypeError(f"a key is bytes, not {type(key).__name__}")
