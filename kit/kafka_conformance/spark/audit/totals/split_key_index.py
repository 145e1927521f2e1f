"""Where each of many keys was met first, and where first on another partition: one pass, without sorting.

A key's two places are kept while blocks' keys go by in any order. ``a`` is the earliest place of all, ``b`` the earliest one
on any partition but that of ``a``. A place x that comes by

* on the partition of ``a`` can only make ``a`` earlier;
* on another one, and earlier than ``a``, becomes ``a``, and ``a`` becomes ``b``: it is the earliest of the rest;
* on another one, and later, can only make ``b`` earlier.

The earlier of two places is that of the lower time, then of the lower partition, then of the lower offset.

The table in which a key is looked up is that of ``keys_seen``, written again: to number the keys there and to go over the
rows here took twice as long, since a key's place is out of the cache when it comes up again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.spark.audit.attribution.compiled import compiled, inlined, read

__all__ = ["Met", "met"]

u64 = np.uint64
NOWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """By key: how many records; the second place, whose partition is -1 where there is none. By row: the key's number."""

    key_of: NDArray[np.int32]
    records: NDArray[np.int64]
    ms: NDArray[np.int64]
    partition: NDArray[np.int32]
    offset: NDArray[np.int64]


def met(
    ids: NDArray[np.uint64],
    ms: NDArray[np.int64],
    partitions: NDArray[np.int32],
    offsets: NDArray[np.int64],
    records: NDArray[np.uint32],
) -> Met:
    """Of rows with an identity each (two columns), and the place where it was met; shape (n, 2), then (n,)."""
    count = len(ids)
    slots = np.full(1 << max(4, int(2 * count - 1).bit_length()), -1, np.int32)
    key_of, row_of = np.empty(count, np.int32), np.empty(count, np.int32)
    times, places = np.empty((count, 2), np.int64), np.empty((count, 2), np.int64)
    where, totals = np.empty((count, 2), np.int32), np.zeros(count, np.int64)
    rows = ids, ms, partitions, offsets, records
    found = _meeting()(*map(np.ascontiguousarray, rows), slots, key_of, row_of, times, where, places, totals)
    return Met(key_of, totals[:found], times[:found, 1], where[:found, 1], places[:found, 1])


@inlined
def _earlier(ms: int, partition: int, offset: int, than_ms: int, than_partition: int, than_offset: int) -> bool:
    if ms != than_ms:
        return ms < than_ms
    return partition < than_partition if partition != than_partition else offset < than_offset


def _meet(
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
    """A table of open addresses, a power of two: ``slots`` hold numbers of keys, -1 where there is none."""
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
def _meeting() -> Callable[..., Any]:
    signature = types.int64(
        read(types.uint64, 2), read(types.int64), read(types.int32), read(types.int64), read(types.uint32),
        types.int32[::1], types.int32[::1], types.int32[::1], types.int64[:, ::1], types.int32[:, ::1],
        types.int64[:, ::1], types.int64[::1],
    )  # fmt: skip
    return compiled(_meet, signature)
