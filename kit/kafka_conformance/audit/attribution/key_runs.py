"""Find stretches of consecutive explained records, measured in distinct keys: a repeated key is not new evidence.

Keys are distinguished by twelve bits of their identity, so at most 4,096 are counted, and keys with the same bits count
as one: the length of a stretch is never overestimated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.compilation import compiled, inlined, read

__all__ = ["inside", "longest"]

Flags = NDArray[np.uint8]
Ids = NDArray[np.uint64]
SLOTS = 4096
"""Keys are told apart by 12 bits. A stretch needs 30 distinct keys at most; in one of ten such stretches, two of them have
the same bits and count as one.
"""


def inside(flags: Flags, ids: Ids, wanted: int) -> NDArray[np.bool_]:
    """Return which records are inside stretches of set flags, ``wanted`` distinct keys away from either end.

    A stretch of fewer than twice as many keys has no inside. A border of the flags is not an end of a stretch.
    """
    out = np.zeros(flags.size, np.uint8)
    _finding()(flags, np.ascontiguousarray(ids), wanted, out)
    return out.astype(np.bool_)


def longest(flags: Flags, ids: Ids) -> int:
    """Return the number of distinct keys in the longest stretch of set flags."""
    return int(_measuring()(flags, np.ascontiguousarray(ids)))


@inlined
def _reached(
    ids: Ids, begin: int, end: int, step: int, wanted: int, stamps: NDArray[np.int64], stamp: int
) -> tuple[int, int]:
    """Walk from ``begin`` to ``end`` (exclusive) until ``wanted`` distinct keys are counted; return position and count."""
    found = 0
    at = begin
    while at != end:
        slot = ids[at] & np.uint64(SLOTS - 1)
        if stamps[slot] != stamp:
            stamps[slot] = stamp
            found += 1
            if found == wanted:
                break
        at += step
    return at, found


def _find(flags: Flags, ids: Ids, wanted: int, out: Flags) -> None:
    stamps = np.zeros(SLOTS, np.int64)
    stamp, i = 0, 0
    while i < flags.size:
        end = i
        while end < flags.size and flags[end]:
            end += 1
        if end > i:
            _, found = _reached(ids, i, end, 1, 2 * wanted, stamps, stamp + 1)
            if found == 2 * wanted:
                first, _ = _reached(ids, i, end, 1, wanted, stamps, stamp + 2)
                last, _ = _reached(ids, end - 1, i - 1, -1, wanted, stamps, stamp + 3)
                first = 0 if i == 0 else first + 1
                last = end if end == flags.size else last
                for j in range(first, last):
                    out[j] = 1
            stamp += 3
        i = end + 1


def _measure(flags: Flags, ids: Ids) -> int:
    stamps = np.zeros(SLOTS, np.int64)
    stamp, i, most = 0, 0, 0
    while i < flags.size:
        end = i
        while end < flags.size and flags[end]:
            end += 1
        if end - i > most:
            stamp += 1
            _, found = _reached(ids, i, end, 1, SLOTS + 1, stamps, stamp)
            most = max(most, found)
        i = end + 1
    return most


@lru_cache(maxsize=1)
def _finding() -> Callable[..., Any]:
    return compiled(_find, types.void(read(types.uint8), read(types.uint64), types.int64, types.uint8[::1]))


@lru_cache(maxsize=1)
def _measuring() -> Callable[..., Any]:
    return compiled(_measure, types.int64(read(types.uint8), read(types.uint64)))
