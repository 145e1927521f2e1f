"""Find the first place of each key, and its first place in another partition, in one pass without sorting.

Two places are kept per key while the keys of blocks are read in any order. ``a`` is the earliest place of all, ``b`` the
earliest one in any partition but that of ``a``. A further place x

* in the partition of ``a`` can only replace ``a`` by an earlier one;
* in another partition and earlier than ``a`` becomes ``a``, and ``a`` becomes ``b``: it is the earliest of the rest;
* in another partition and later can only replace ``b`` by an earlier one.

The earlier of two places has the lower time, then the lower partition, then the lower offset.

The hash table is the one of ``distinct_keys``, repeated here: numbering the keys there and going over the rows here took
twice as long, because a key's place was out of the cache when it was needed again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.compilation import compiled, inlined, read

__all__ = ["SplitKeyIndex", "build_index"]

u64 = np.uint64
NOWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class SplitKeyIndex:
    """The number of each row's key (``key_of``); by key, its records and second place, with partition -1 if it has none."""

    key_of: NDArray[np.int32]
    records: NDArray[np.int64]
    ms: NDArray[np.int64]
    partition: NDArray[np.int32]
    offset: NDArray[np.int64]


def build_index(
    ids: NDArray[np.uint64],
    ms: NDArray[np.int64],
    partitions: NDArray[np.int32],
    offsets: NDArray[np.int64],
    records: NDArray[np.uint32],
) -> SplitKeyIndex:
    """Index rows of a key's identity (shape (n, 2)) and place (shapes (n,)), with the number of records of each row."""
    count = len(ids)
    slots = np.full(1 << max(4, int(2 * count - 1).bit_length()), -1, np.int32)
    key_of, row_of = np.empty(count, np.int32), np.empty(count, np.int32)
    times, places = np.empty((count, 2), np.int64), np.empty((count, 2), np.int64)
    where, totals = np.empty((count, 2), np.int32), np.zeros(count, np.int64)
    rows = ids, ms, partitions, offsets, records
    found = _compiled_index()(*map(np.ascontiguousarray, rows), slots, key_of, row_of, times, where, places, totals)
    return SplitKeyIndex(key_of, totals[:found], times[:found, 1], where[:found, 1], places[:found, 1])


@inlined
def _earlier(ms: int, partition: int, offset: int, than_ms: int, than_partition: int, than_offset: int) -> bool:
    if ms != than_ms:
        return ms < than_ms
    return partition < than_partition if partition != than_partition else offset < than_offset


def _index_rows(
    ids: NDArray[np.uint64],
    ms: NDArray[np.int64],
    partitions: NDArray[np.int32],
    offsets: NDArray[np.int64],
    records: NDArray[np.uint32],
    slots: NDArray[np.int32],
    key_of: NDArray[np.int32],
    row_of: NDArray[np.int32],
    times: NDArray[np.int64],
    where: NDArray[np.int32],
    places: NDArray[np.int64],
    totals: NDArray[np.int64],
) -> int:
    """Fill an open-addressing table, a power of two: ``slots`` hold key numbers, -1 if free."""
    found, last = 0, u64(slots.size - 1)
    for i in range(len(ids)):
        at = ids[i, 0] & last
        while slots[at] >= 0 and (ids[row_of[slots[at]], 0] != ids[i, 0] or ids[row_of[slots[at]], 1] != ids[i, 1]):
            at = u64(at + u64(1)) & last
        key = slots[at]
        if key < 0:
            key = found
            slots[at], row_of[key] = key, i
            times[key, 0], where[key, 0], places[key, 0] = ms[i], partitions[i], offsets[i]
            where[key, 1] = NOWHERE
            found += 1
        else:
            first = _earlier(ms[i], partitions[i], offsets[i], times[key, 0], where[key, 0], places[key, 0])
            side = 0
            if partitions[i] != where[key, 0]:
                if first:
                    times[key, 1], where[key, 1], places[key, 1] = times[key, 0], where[key, 0], places[key, 0]
                else:
                    side = 1
                    first = where[key, 1] == NOWHERE or _earlier(
                        ms[i], partitions[i], offsets[i], times[key, 1], where[key, 1], places[key, 1]
                    )
            if first:
                times[key, side], where[key, side], places[key, side] = ms[i], partitions[i], offsets[i]
        key_of[i] = key
        totals[key] += records[i]
    return found


@lru_cache(maxsize=1)
def _compiled_index() -> Callable[..., Any]:
    signature = types.int64(
        read(types.uint64, 2), read(types.int64), read(types.int32), read(types.int64), read(types.uint32),
        types.int32[::1], types.int32[::1], types.int32[::1], types.int64[:, ::1], types.int32[:, ::1],
        types.int64[:, ::1], types.int64[::1],
    )  # fmt: skip
    return compiled(_index_rows, signature)
