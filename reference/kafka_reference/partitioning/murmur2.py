"""Kafka's hash of a key: murmur2 with a seed of its own, 32 bits, signed as a Java int.

The rule, in four steps:

1. Start from ``SEED ^ length``. The length counts bytes, never characters.
2. For each whole little-endian word of four bytes: multiply it by M, fold its top byte down (``k ^= k >>> 24``),
   multiply again; multiply the hash by M and xor the word in. All of it modulo 2^32.
3. One to three bytes may be left over. They are *unsigned* in Java's code (``& 0xff``); xor them in as one little-endian
   number, then multiply by M once more. With nothing left over, there is no multiplication.
4. Fold: ``h ^= h >>> 13``, ``h *= M``, ``h ^= h >>> 15``.

Two things every port gets wrong sooner or later. A byte of 0x80 or more is not negative. And the result *is* signed,
half the keys hash below zero, so what turns it into a partition has to clear the sign bit (:func:`to_positive`), not
take the absolute value: ``abs`` gives another partition for nearly every such key.

Two things here are for speed. Step 2 mixes each word without looking at the others, so from four words on they are mixed
all at once: spread out to one word per 64 bits of a single large integer, where a product of two 32-bit numbers has
room, a multiplication of that integer multiplies every word. What is left for the loop is the chain through ``h``, whose
low 32 bits never depend on any others: it is cut to them once, at the end, unless there are so many words that letting
it grow would cost more than cutting it.

Java source mirrored: ``org.apache.kafka.common.utils.Utils.murmur2`` and ``Utils.toPositive``, the same rule in every
release from 0.10.0.1 to 4.4.0. In 0.10.0.1 ``toPositive`` is a private method of ``DefaultPartitioner``. From 4.3.0 on
Java reads whole words through a VarHandle instead of four shifts, with the same result.
"""

from __future__ import annotations

from struct import Struct
from typing import Any, TypeAlias

from kafka_reference.errors import NullPointerException

__all__ = ["Key", "murmur2", "to_positive"]

SEED = 0x9747B28C
M = 0x5BD1E995
MASK = 0xFFFFFFFF
INT_MAX = 0x7FFFFFFF

Key: TypeAlias = bytes | bytearray | memoryview


def _lanes(whole: int) -> tuple[Any, Any, int, int, int]:
    """How ``whole`` words are split, read back from lanes of 64 bits, the bytes these take, and two masks over them."""
    one_in_each = int.from_bytes(b"\1\0\0\0\0\0\0\0" * whole, "little")
    read_low_words = Struct("<" + "I4x" * whole).unpack
    return Struct("4s" * whole).unpack_from, read_low_words, 8 * whole, one_in_each * 0xFF, one_in_each * MASK


_SHORT = 16  # bytes; below, a plain loop over the words is faster than the lanes
_LONG = 132  # bytes; from here on cutting the hash after each word is faster than letting it grow
_UNPACK_WORDS = tuple(Struct(f"<{whole}I").unpack_from for whole in range(_SHORT // 4))
_LANES = tuple(map(_lanes, range(_LONG // 4)))
_spread = b"\0\0\0\0".join


def murmur2(key: Key) -> int:
    """Hash ``key`` as Kafka's Java client does.

    ``key`` is the serialized key: bytes, of any length, empty included. The answer is a Java int, from -2^31 to
    2^31-1. Mirrors ``org.apache.kafka.common.utils.Utils.murmur2(byte[])``, 0.10.0.1 to 4.4.0.

    Raises TypeError for a ``str`` (encode it first: Kafka hashes bytes) and for anything else that is not bytes, and
    :class:`~kafka_reference.errors.NullPointerException` (a TypeError too) for None, as Java does.
    """
    if type(key) is not bytes:
        key = as_bytes(key)
    m, mask = M, MASK  # locals, since this is the hot loop of everything that places records from Python
    length = len(key)
    h = SEED ^ length
    if length < _SHORT:
        for k in _UNPACK_WORDS[length >> 2](key):
            k = k * m & mask
            h = h * m ^ (k ^ k >> 24) * m
    elif length < _LONG:
        split, read, size, low8, low32 = _LANES[length >> 2]
        ks = int.from_bytes(_spread(split(key)), "little") * m & low32
        ks = (ks ^ ks >> 24 & low8) * m
        for k in read(ks.to_bytes(size, "little")):
            h = h * m ^ k
    else:
        h = _over_many_words(key, h)
    h &= mask
    tail = length & 3
    if tail == 1:
        h = (h ^ key[-1]) * m & mask
    elif tail == 2:
        h = (h ^ key[-2] ^ key[-1] << 8) * m & mask
    elif tail:
        h = (h ^ key[-3] ^ key[-2] << 8 ^ key[-1] << 16) * m & mask
    h = (h ^ h >> 13) * m & mask
    h ^= h >> 15
    return h - 0x100000000 if h > INT_MAX else h


def _over_many_words(key: bytes, h: int) -> int:
    """The hash so far, after the whole words of a long key, taken by as many as a short one has at most."""
    most = len(_LANES) - 1
    for first in range(0, len(key) & ~3, 4 * most):
        words = min(most, (len(key) - first) >> 2)
        split, read, size, low8, low32 = _LANES[words]
        ks = int.from_bytes(_spread(split(key, first)), "little") * M & low32
        ks = (ks ^ ks >> 24 & low8) * M
        for k in read(ks.to_bytes(size, "little")):
            h = (h * M ^ k) & MASK
    return h


def to_positive(number: int) -> int:
    """Clear the sign bit of a Java int: ``number & 0x7fffffff``, which is *not* its absolute value.

    ``number`` is an int32, as :func:`murmur2` gives; the answer lies in 0 to 2^31-1. Mirrors ``Utils.toPositive(int)``,
    0.10.0.1 to 4.4.0. Raises TypeError for anything but an int.
    """
    return number & INT_MAX


def as_bytes(key: object) -> bytes:
    """``key`` as bytes, or the error that says what it is instead (see :func:`murmur2`)."""
    if isinstance(key, (bytes, bytearray, memoryview)):
        return bytes(key)
    if key is None:
        raise NullPointerException
    if isinstance(key, str):
        raise TypeError(
            "a key is bytes, not str: encode it as your serializer does, key.encode('utf-8') is Java's default"
        )
    raise TypeError(f"a key is bytes, not {type(key).__name__}")
