"""The hash of :mod:`kafka_reference.partitioning.murmur2`, arranged for the speed of CPython.

Two things are different from the readable form, and neither changes a hash:

- Mixing a word (multiply, fold, multiply) does not depend on any other word. From four words on, all words are mixed at
  once: they are spread to one word per 64 bits of a single large integer, where the product of two 32-bit numbers has
  room, so that one multiplication multiplies every word.
- The loop that remains is the chain through ``h``. Its low 32 bits never depend on higher ones, so ``h`` is cut to 32
  bits once at the end; for long keys, where letting it grow would cost more than cutting it, after each word.
"""

from __future__ import annotations

from struct import Struct
from typing import Any

from kafka_reference.java.int32 import INT_MAX
from kafka_reference.partitioning.murmur2 import SEED, Key, M, as_bytes

__all__ = ["murmur2"]

MASK = 0xFFFFFFFF


def _lanes(whole: int) -> tuple[Any, Any, int, int, int]:
    """Return, for ``whole`` words: their splitter, the reader of 64-bit lanes, the lanes' bytes, and two masks."""
    one_in_each = int.from_bytes(b"\1\0\0\0\0\0\0\0" * whole, "little")
    read_low_words = Struct("<" + "I4x" * whole).unpack
    return Struct("4s" * whole).unpack_from, read_low_words, 8 * whole, one_in_each * 0xFF, one_in_each * MASK


_SHORT = 16  # bytes; below, a plain loop over the words is faster than the lanes
_LONG = 132  # bytes; from here on, cutting the hash after each word is faster than letting it grow
_UNPACK_WORDS = tuple(Struct(f"<{whole}I").unpack_from for whole in range(_SHORT // 4))
_LANES = tuple(map(_lanes, range(_LONG // 4)))
_spread = b"\0\0\0\0".join


def murmur2(key: Key) -> int:
    """Return the hash of a serialized key, as Kafka's Java client computes it: a Java int from -2^31 to 2^31-1.

    ``key`` is bytes of any length; an empty key has a hash, too.

        >>> murmur2(b"foobar")
        -790332482

    Raises TypeError for a ``str`` (Kafka hashes bytes: encode it first) and for anything else that is not bytes, and
    :class:`~kafka_reference.errors.NullPointerException` (a TypeError) for None, as Java does.

    Mirrors ``org.apache.kafka.common.utils.Utils.murmur2(byte[])``, every release.
    """
    if type(key) is not bytes:
        key = as_bytes(key)
    m, mask = M, MASK  # locals: this is the hot loop of everything that places records from Python
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
    """Return the hash after the whole words of a long key, taken in runs of as many words as there are lanes."""
    most = len(_LANES) - 1
    for first in range(0, len(key) & ~3, 4 * most):
        words = min(most, (len(key) - first) >> 2)
        split, read, size, low8, low32 = _LANES[words]
        ks = int.from_bytes(_spread(split(key, first)), "little") * M & low32
        ks = (ks ^ ks >> 24 & low8) * M
        for k in read(ks.to_bytes(size, "little")):
            h = (h * M ^ k) & MASK
    return h
