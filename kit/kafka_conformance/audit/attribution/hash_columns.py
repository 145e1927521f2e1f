"""Compute every hash of a placement over a whole column of keys.

A column is two arrays, ``data`` and ``offsets``, as in :mod:`kafka_reference.bulk`, whose murmur2, the verified one, is the
first hash here. The others must equal, key by key, the gate's mutants that they are named after
(:mod:`kafka_conformance.rules.murmur2.mutants`, ``ported_hashes``); tests hold them to it.

All are computed in one pass over a key. Chains of multiplications that do not wait for each other share the time of one,
so that twenty hashes cost what four would one after another. What is bent for speed:

* A key of bytes below 0x80 alone is its own text: the hashes of its characters are those of its bytes. Any other is decoded
  as JavaScript and Python do it, a piece that is not UTF-8 becoming U+FFFD.
* Java's two hashes of 31 differ, for such a key, by a power of 31; kafka-node's is String.hashCode without its top bit.
* CRC32 takes four bytes at a time, with a table for each.

Arithmetic is cut to 32 bits after each step, since Numba widens it (see :mod:`kafka_reference.bulk`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.compilation import DATA, OFFSETS, Int, compiled, inlined, read
from kafka_reference.bulk import Data, Offsets, murmur2_columns
from kafka_reference.partitioning.murmur2 import SEED, M

__all__ = ["HASH_NAMES", "hash_column", "hash_columns"]

HASH_NAMES: tuple[str, ...] = (
    "murmur2", "crc32", "fnv-1a", "murmur2-by-doubles", "seed-left-out", "signed-tail", "characters-for-bytes",
    "length-in-characters", "murmur3", "murmur3-no-seed", "murmur2-64a", "string-hash-code", "arrays-hash-code",
    "kafka-node", "murmur3-of-low-bytes", "seed-left-out-of-low-bytes", "tail-not-fallen-through", "first-byte-only",
    "big-endian", "one-bit",
)  # fmt: skip
"""The hashes, in the order of the rows of :func:`hash_columns`."""

u32, i32, u64, i64, f64 = np.uint32, np.int32, np.uint64, np.int64, np.float64
M_, SEED_, MF, ONE_BIT = u32(M), u32(SEED), f64(M), u32(M ^ 1)
C1, C2 = u32(0xCC9E2D51), u32(0x1B873593)
M64, FNV, FNV_START = u64(0xC6A4A7935BD1E995), u32(0x01000193), u32(0x811C9DC5)
REPLACED = 0xFFFD
"""The character that stands for bytes that are not UTF-8."""


def hash_columns(offsets: Offsets, data: Data) -> NDArray[np.uint32]:
    """Return all hashes of all keys: an array of shape (len(HASH_NAMES), n).

    Raises what :func:`kafka_reference.bulk.murmur2_columns` raises for columns that are none or are damaged.
    """
    murmur2 = murmur2_columns(offsets, data).view(u32)  # it has also validated every offset
    offsets = np.require(offsets, requirements=("C", "A", "E"))
    data = np.require(data, requirements=("C", "A", "E"))
    out = np.empty((len(HASH_NAMES), offsets.size - 1), u32)
    _kernel()(offsets, data, murmur2, out)
    return out


def hash_column(name: str, offsets: Offsets, data: Data) -> NDArray[np.uint32]:
    """Return one hash of all keys; ``name`` is one of HASH_NAMES."""
    if name == "murmur2":
        murmur2: NDArray[np.uint32] = murmur2_columns(offsets, data).view(u32)
        return murmur2
    row: NDArray[np.uint32] = hash_columns(offsets, data)[HASH_NAMES.index(name)]
    return row


def _crc_tables() -> NDArray[np.uint32]:
    """Return the CRC32 tables of a byte followed by zero to three zero bytes."""
    tables = np.zeros((4, 256), u32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        tables[0, byte] = value
    for further in range(1, 4):
        before = tables[further - 1]
        tables[further] = before >> u32(8) ^ tables[0][before & u32(0xFF)]
    return tables


CRC = _crc_tables()


@inlined
def _word(data: Data, at: Int) -> np.uint32:
    at_ = u64(at)
    low = u32(data[at_]) | u32(data[at_ + u64(1)]) << u32(8)
    return u32(low | u32(data[at_ + u64(2)]) << u32(16) | u32(data[at_ + u64(3)]) << u32(24))


@inlined
def _left_over(data: Data, at: Int, count: Int) -> np.uint32:
    """Return the ``count`` bytes from ``at``, zero to three, as one little-endian number."""
    tail = u32(0)
    for i in range(count):
        tail = u32(tail | u32(data[u64(at + i)]) << u32(8 * i))
    return tail


@inlined
def _turned(x: np.uint32, left: Int) -> np.uint32:
    return u32(u32(x << u32(left)) | x >> u32(32 - left))


@inlined
def _mixed(h: np.uint32, word: np.uint32, m: np.uint32) -> np.uint32:
    """Mix one word into a murmur2 hash."""
    k = u32(word * m)
    k = u32((k ^ k >> u32(24)) * m)
    return u32(u32(h * m) ^ k)


@inlined
def _done(h: np.uint32, m: np.uint32) -> np.uint32:
    """Finish a murmur2 hash."""
    h = u32((h ^ h >> u32(13)) * m)
    return u32(h ^ h >> u32(15))


@inlined
def _ended(h: np.uint32, tail: np.uint32, count: Int, m: np.uint32) -> np.uint32:
    return _done(u32((h ^ tail) * m) if count else h, m)


@inlined
def _murmur2(data: Data, start: Int, end: Int, first: np.uint32) -> np.uint32:
    """Compute murmur2 from ``first``, the seed combined with the length."""
    h = first
    for at in range(start, end - 3, 4):
        h = _mixed(h, _word(data, at), M_)
    count = (end - start) & 3
    return _ended(h, _left_over(data, end - count, count), count, M_)


@inlined
def _scrambled(word: np.uint32) -> np.uint32:
    """Scramble a word as murmur3 does."""
    return u32(_turned(u32(word * C1), 15) * C2)


@inlined
def _mixed3(h: np.uint32, scrambled: np.uint32) -> np.uint32:
    return u32(u32(_turned(u32(h ^ scrambled), 13) * u32(5)) + u32(0xE6546B64))


@inlined
def _done3(h: np.uint32, length: Int) -> np.uint32:
    h = u32(h ^ u32(length))
    h = u32((h ^ h >> u32(16)) * u32(0x85EBCA6B))
    h = u32((h ^ h >> u32(13)) * u32(0xC2B2AE35))
    return u32(h ^ h >> u32(16))


@inlined
def _murmur3(data: Data, start: Int, end: Int) -> np.uint32:
    h = u32(0)
    for at in range(start, end - 3, 4):
        h = _mixed3(h, _scrambled(_word(data, at)))
    count = (end - start) & 3
    return _done3(u32(h ^ _scrambled(_left_over(data, end - count, count))), end - start)


@inlined
def _murmur2_64a(data: Data, start: Int, end: Int) -> np.uint32:
    h = u64(SEED_) ^ u64(u64(end - start) * M64)
    for at in range(start, end - 7, 8):
        k = u64((u64(_word(data, at)) | u64(_word(data, at + 4)) << u64(32)) * M64)
        h = u64((h ^ u64((k ^ k >> u64(47)) * M64)) * M64)
    count = (end - start) & 7
    if count:
        tail = u64(0)
        for i in range(count):
            tail |= u64(data[u64(end - count + i)]) << u64(8 * i)
        h = u64((h ^ tail) * M64)
    h = u64((h ^ h >> u64(47)) * M64)
    return u32(h ^ h >> u64(47))


@inlined
def _in_doubles(h: np.int32) -> np.int32:
    """Multiply by M in doubles, and convert to 32 bits as JavaScript's bitwise operators do."""
    return i32(u32(u64(i64(f64(h) * MF))))


@inlined
def _word_in_doubles(h: np.int32, word: np.uint32) -> np.int32:
    k = _in_doubles(i32(word))
    k = i32(k ^ i32(u32(k) >> u32(24)))
    return i32(_in_doubles(h) ^ _in_doubles(k))


@inlined
def _done_in_doubles(h: np.int32, tail: np.uint32, count: Int) -> np.int32:
    if count:
        h = _in_doubles(_word_in_doubles(h, tail) ^ i32(tail))
    h = _in_doubles(i32(h ^ i32(u32(h) >> u32(13))))
    return i32(h ^ i32(u32(h) >> u32(15)))


@inlined
def _reversed(word: np.uint32) -> np.uint32:
    return u32(
        u32(word << u32(24)) | u32(u32(word & u32(0xFF00)) << u32(8)) | (word >> u32(8) & u32(0xFF00)) | word >> u32(24)
    )


@inlined
def _signed_tail(tail: np.uint32, count: Int) -> np.uint32:
    """Combine the tail bytes as Java would without ``& 0xff``."""
    out = u32(0)
    for i in range(count):
        byte = u32(tail >> u32(8 * i) & u32(0xFF))
        if byte >= u32(0x80):
            byte = u32(byte | u32(0xFFFFFF00))
        out = u32(out ^ u32(byte << u32(8 * i)))
    return out


@inlined
def _least(lead: Int) -> int:
    """Return the lowest valid second byte after ``lead``; overlong forms are invalid."""
    return 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80


@inlined
def _most(lead: Int) -> int:
    """Return the highest valid second byte after ``lead``: no surrogates, nothing beyond U+10FFFF."""
    return 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF


@inlined
def _decoded(data: Data, start: Int, end: Int, low: NDArray[np.uint8], high: NDArray[np.uint8]) -> tuple[int, int]:
    """Write the low and the high bytes of UTF-16; return how many of each, and the number of characters."""
    at, units, characters = start, 0, 0
    while at < end:
        lead = i64(data[at])
        at += 1
        wanted = (
            0
            if lead < 0x80
            else 1
            if 0xC2 <= lead < 0xE0
            else 2
            if 0xE0 <= lead < 0xF0
            else 3
            if 0xF0 <= lead < 0xF5
            else -1
        )
        code: Int = lead if wanted <= 0 else lead & (0x3F >> wanted)
        least, most = _least(lead), _most(lead)
        if wanted < 0:
            code = REPLACED
        for _ in range(wanted):
            if at >= end or not least <= i64(data[at]) <= most:
                code = REPLACED
                break
            code = code << 6 | i64(data[at]) & 0x3F
            at += 1
            least, most = 0x80, 0xBF
        characters += 1
        if code >= 0x10000:
            code -= 0x10000
            first = 0xD800 | code >> 10
            low[units], high[units] = first & 0xFF, first >> 8
            units += 1
            code = 0xDC00 | code & 0x3FF
        low[units], high[units] = code & 0xFF, code >> 8
        units += 1
    return units, characters


@inlined
def _of_text(
    data: Data, start: Int, end: Int, low: NDArray[np.uint8], high: NDArray[np.uint8], out: NDArray[np.uint32], i: int
) -> None:
    """Compute the hashes that differ from those of the plain bytes, for a key with bytes of 0x80 and above."""
    units, characters = _decoded(data, start, end, low, high)
    out[6, i] = _murmur2(low, 0, units, u32(SEED_ ^ u32(units)))
    out[7, i] = _murmur2(data, start, end, u32(SEED_ ^ u32(characters)))
    out[14, i] = _murmur3(low, 0, units)
    out[15, i] = _murmur2(low, 0, units, u32(units))
    node, arrays = u32(0), u32(1)
    for at in range(units):
        node = u32(u32(node * u32(31)) + u32(u32(high[at]) << u32(8) | u32(low[at])))
    for at in range(start, end):
        byte = u32(data[u64(at)])
        arrays = u32(u32(arrays * u32(31)) + (u32(byte | u32(0xFFFFFF00)) if byte >= u32(0x80) else byte))
    out[12, i] = arrays
    out[13, i] = max(node & u32(0x7FFFFFFF), u32(1))


def _hash_all(offsets: Offsets, data: Data, murmur2: NDArray[np.uint32], out: NDArray[np.uint32]) -> None:
    longest = i64(0)
    for i in range(murmur2.size):
        longest = max(longest, i64(offsets[i + 1]) - i64(offsets[i]))
    low, high = np.empty(longest, np.uint8), np.empty(longest, np.uint8)
    for i in range(murmur2.size):
        start, end = i64(offsets[i]), i64(offsets[i + 1])
        length = end - start
        count = length & 3
        seed = u32(SEED_ ^ u32(length))
        seeded, seedless, one_bit, big, three, three0 = seed, u32(length), seed, seed, SEED_, u32(0)
        doubles, crc = i32(seed), u32(0xFFFFFFFF)
        for at in range(start, end - 3, 4):
            word = _word(data, at)
            k = u32(word * M_)
            k = u32((k ^ k >> u32(24)) * M_)
            seeded, seedless = u32(u32(seeded * M_) ^ k), u32(u32(seedless * M_) ^ k)
            one_bit = _mixed(one_bit, word, ONE_BIT)
            big = _mixed(big, _reversed(word), M_)
            scrambled = _scrambled(word)
            three, three0 = _mixed3(three, scrambled), _mixed3(three0, scrambled)
            doubles = _word_in_doubles(doubles, word)
            crc = u32(crc ^ word)
            crc = u32(
                CRC[3, crc & u32(0xFF)] ^ CRC[2, crc >> u32(8) & u32(0xFF)]
                ^ CRC[1, crc >> u32(16) & u32(0xFF)] ^ CRC[0, crc >> u32(24)]
            )  # fmt: skip
        tail = _left_over(data, end - count, count)
        for j in range(count):
            crc = u32(crc >> u32(8) ^ CRC[0, (crc ^ tail >> u32(8 * j)) & u32(0xFF)])
        fnv, string, power, bits = FNV_START, u32(0), u32(1), u32(0)
        for at in range(start, end):
            byte = u32(data[u64(at)])
            fnv = u32(u32(fnv ^ byte) * FNV)
            string = u32(u32(string * u32(31)) + byte)
            power = u32(power * u32(31))
            bits = u32(bits | byte)
        last = u32(tail >> u32(8 * (count - 1)) << u32(8 * (count - 1))) if count else u32(0)
        not_fallen = u32(seeded ^ last)
        scrambled = _scrambled(tail)
        out[0, i] = murmur2[i]
        out[1, i] = u32(~crc)
        out[2, i] = fnv
        out[3, i] = u32(_done_in_doubles(doubles, tail, count))
        out[4, i] = _ended(seedless, tail, count, M_)
        out[5, i] = murmur2[i] if bits < u32(0x80) else _ended(seeded, _signed_tail(tail, count), count, M_)
        out[8, i] = _done3(u32(three ^ scrambled), length)
        out[9, i] = _done3(u32(three0 ^ scrambled), length)
        out[10, i] = _murmur2_64a(data, start, end)
        out[11, i] = string
        out[16, i] = _done(u32(not_fallen * M_) if count == 1 else not_fallen, M_)
        out[17, i] = _done(u32((SEED_ ^ u32(1) ^ u32(data[u64(start)])) * M_), M_) if length else murmur2[i]
        out[18, i] = _ended(big, tail, count, M_)
        out[19, i] = _ended(one_bit, tail, count, ONE_BIT)
        if bits < u32(0x80):
            out[6, i] = murmur2[i]
            out[7, i] = murmur2[i]
            out[12, i] = u32(string + power)
            out[13, i] = max(string & u32(0x7FFFFFFF), u32(1))
            out[14, i] = out[9, i]
            out[15, i] = out[4, i]
        else:
            _of_text(data, start, end, low, high, out, i)


@lru_cache(maxsize=1)
def _kernel() -> Callable[..., Any]:
    return compiled(_hash_all, *(types.void(kind, DATA, read(types.uint32), types.uint32[:, ::1]) for kind in OFFSETS))
