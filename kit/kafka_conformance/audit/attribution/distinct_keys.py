"""Pack the distinct keys of a block of records, small enough to keep for every block of a topic.

A key with records in several partitions is found by comparing the keys of all blocks, and a topic's keys do not fit into
memory. So a key is identified by 128 bits, MurmurHash3_x64_128 of its bytes with seed 0: two of ten billion keys collide
with a probability below 1 in 10^18. It does not protect against keys made to collide.

A block's keys are packed, each once, in the order of their first records. All numbers are little-endian:

=====================  ==================================================================
bytes                  content
=====================  ==================================================================
4                      ``KSN2``
4                      widths in bytes: offset (4 or 8), timestamp (4 or 8), count (2 or 4); then 0
8                      the number of keys, n
8                      int64: the lowest first offset
8                      int64: the lowest first timestamp
16 n                   the identities: two uint64 each, low half first
4 n or 8 n             the first offset of each, less the lowest
4 n or 8 n             its timestamp in ms since 1970, -1 if it has none, less the lowest
2 n or 4 n             the number of records with the key, less one
=====================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.compilation import DATA, OFFSETS, Int, compiled, inlined, read
from kafka_reference.bulk import Data, Offsets

__all__ = ["KeysSeen", "distinct", "identities", "keys_seen", "pack", "taken", "unpack"]

u64, i64 = np.uint64, np.int64
C1, C2 = u64(0x87C37B91114253D5), u64(0x4CF5AD432745937F)
MAGIC = b"KSN2"
_HEAD = 32
"""Bytes before the identities: 4 + 4 + 8 + 8 + 8."""


@dataclass(frozen=True, slots=True, eq=False)
class KeysSeen:
    """One row per key, in the order of their first records; ``ids`` has two columns, low half first."""

    ids: NDArray[np.uint64]
    first_offset: NDArray[np.int64]
    first_ms: NDArray[np.int64]
    records: NDArray[np.uint32]


def identities(offsets: Offsets, data: Data) -> NDArray[np.uint64]:
    """Return the 128 bits of each key as two columns; a hash of ``bulk`` must have validated the offsets before."""
    out = np.empty((offsets.size - 1, 2), u64)
    _identifying()(np.ascontiguousarray(offsets), np.ascontiguousarray(data), out)
    return out


def distinct(ids: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return the rows at which an identity first occurs, and the number of its rows."""
    rows, counts = np.empty(len(ids), i64), np.zeros(len(ids), np.uint32)
    slots = np.full(1 << max(4, int(2 * len(ids) - 1).bit_length()), -1, np.int32)
    found = _compiled_distinguish()(ids, slots, rows, counts)
    return rows[:found].copy(), counts[:found].copy()


def keys_seen(ids: NDArray[np.uint64], record_offsets: NDArray[np.int64], timestamps_ms: NDArray[np.int64]) -> KeysSeen:
    """Return the distinct keys of a block, from the identity, offset and timestamp of each record with a key."""
    rows, counts = distinct(ids)
    return KeysSeen(ids[rows], record_offsets[rows], timestamps_ms[rows], counts)


def taken(seen: KeysSeen, rows: NDArray[Any] | slice) -> KeysSeen:
    """Return the keys of these rows."""
    return KeysSeen(seen.ids[rows], seen.first_offset[rows], seen.first_ms[rows], seen.records[rows])


def pack(seen: KeysSeen) -> bytes:
    """Pack keys in the format of this module."""
    columns = [_narrow(seen.first_offset, 4), _narrow(seen.first_ms, 4), _narrow(seen.records, 2, lowest=1)]
    head = [MAGIC, bytes([*(numbers.itemsize for _, numbers in columns), 0]), len(seen.ids).to_bytes(8, "little")]
    head += [lowest.to_bytes(8, "little", signed=True) for lowest, _ in columns[:2]]
    return b"".join([*head, seen.ids.astype("<u8").tobytes(), *(numbers.tobytes() for _, numbers in columns)])


def _narrow(numbers: NDArray[Any], width: int, lowest: int | None = None) -> tuple[int, NDArray[Any]]:
    """Return the lowest number, and the differences to it in ``width`` bytes each, or twice as many if needed."""
    if not len(numbers):
        return 0, np.zeros(0, f"<u{width}")
    least = int(numbers.min()) if lowest is None else lowest
    fits = int(numbers.max()) - least < 1 << 8 * width
    return least, (numbers.astype(i64) - least).astype(f"<u{width if fits else 2 * width}")


def unpack(packed: bytes) -> KeysSeen:
    """Unpack the result of :func:`pack`. Raises ValueError for anything else."""
    *widths, _ = packed[4:8].ljust(4, b"\0")
    count = int.from_bytes(packed[8:16], "little")
    if packed[:4] != MAGIC or len(packed) != _HEAD + count * (16 + sum(widths)):
        raise ValueError(f"not the keys of a block: {len(packed)} bytes that begin with {packed[:4]!r}")
    bases = [int.from_bytes(packed[at : at + 8], "little", signed=True) for at in (16, 24)]
    ids = np.frombuffer(packed, "<u8", 2 * count, _HEAD).reshape(count, 2)
    at, columns = _HEAD + 16 * count, []
    for width, lowest in zip(widths, (*bases, 1), strict=True):
        columns.append(np.frombuffer(packed, f"<u{width}", count, at).astype(i64) + lowest)
        at += width * count
    return KeysSeen(ids, columns[0], columns[1], columns[2].astype(np.uint32))


@inlined
def _turned(x: np.uint64, left: int) -> np.uint64:
    return u64(u64(x << u64(left)) | x >> u64(64 - left))


@inlined
def _eight(data: Data, at: Int) -> np.uint64:
    out = u64(0)
    for i in range(8):
        out |= u64(data[u64(at + i)]) << u64(8 * i)
    return out


@inlined
def _some(data: Data, at: Int, count: Int) -> np.uint64:
    out = u64(0)
    for i in range(count):
        out |= u64(data[u64(at + i)]) << u64(8 * i)
    return out


@inlined
def _scrambled_1(k: np.uint64) -> np.uint64:
    return u64(_turned(u64(k * C1), 31) * C2)


@inlined
def _scrambled_2(k: np.uint64) -> np.uint64:
    return u64(_turned(u64(k * C2), 33) * C1)


@inlined
def _avalanche(h: np.uint64) -> np.uint64:
    h = u64((h ^ h >> u64(33)) * u64(0xFF51AFD7ED558CCD))
    h = u64((h ^ h >> u64(33)) * u64(0xC4CEB9FE1A85EC53))
    return u64(h ^ h >> u64(33))


def _identify(offsets: Offsets, data: Data, out: NDArray[np.uint64]) -> None:
    for i in range(len(out)):
        start, end = i64(offsets[i]), i64(offsets[i + 1])
        length = end - start
        h1, h2 = u64(0), u64(0)
        for at in range(start, end - 15, 16):
            h1 = u64(_turned(u64(h1 ^ _scrambled_1(_eight(data, at))), 27) + h2)
            h1 = u64(u64(h1 * u64(5)) + u64(0x52DCE729))
            h2 = u64(_turned(u64(h2 ^ _scrambled_2(_eight(data, at + 8))), 31) + h1)
            h2 = u64(u64(h2 * u64(5)) + u64(0x38495AB5))
        count = length & 15
        rest = end - count
        h2 = u64(h2 ^ _scrambled_2(_some(data, rest + 8, count - 8 if count > 8 else 0)) ^ u64(length))
        h1 = u64(h1 ^ _scrambled_1(_eight(data, rest) if count >= 8 else _some(data, rest, count)) ^ u64(length))
        h1 = u64(h1 + h2)
        h2 = u64(h2 + h1)
        h1, h2 = _avalanche(h1), _avalanche(h2)
        h1 = u64(h1 + h2)
        out[i, 0], out[i, 1] = h1, u64(h2 + h1)


def _distinguish(
    ids: NDArray[np.uint64], slots: NDArray[np.int32], rows: NDArray[np.int64], counts: NDArray[np.uint32]
) -> int:
    """Number the keys in an open-addressing table, a power of two: ``slots`` hold key numbers, -1 if free."""
    found, last = 0, u64(slots.size - 1)
    for i in range(len(ids)):
        at = ids[i, 0] & last
        while slots[at] >= 0 and (ids[rows[slots[at]], 0] != ids[i, 0] or ids[rows[slots[at]], 1] != ids[i, 1]):
            at = u64(at + u64(1)) & last
        if slots[at] < 0:
            slots[at] = found
            rows[found] = i
            found += 1
        counts[slots[at]] += np.uint32(1)
    return found


@lru_cache(maxsize=1)
def _identifying() -> Callable[..., Any]:
    return compiled(_identify, *(types.void(kind, DATA, types.uint64[:, ::1]) for kind in OFFSETS))


@lru_cache(maxsize=1)
def _compiled_distinguish() -> Callable[..., Any]:
    return compiled(
        _distinguish, types.int64(read(types.uint64, 2), types.int32[::1], types.int64[::1], types.uint32[::1])
    )
