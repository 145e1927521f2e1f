"""Number records at random, always the same: for samples that depend on the records alone.

The number is Spark's ``xxhash64(partition, offset)``, so that Spark can select by it where the records are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["mixed"]

_1, _2, _3, _4, _5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
    )
)  # fmt: skip
_SEED = np.uint64(42)

Words = NDArray[np.uint64]


def mixed(partitions: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of each record: XXH64 of its offset, seeded with that of its partition."""
    words = np.ascontiguousarray(partitions, np.int32).view(np.uint32).astype(np.uint64)
    seeds = _finished(_turned((_SEED + _5 + np.uint64(4)) ^ words * _1, 23) * _2 + _3)
    words = np.ascontiguousarray(offsets, np.int64).view(np.uint64)
    hashes = seeds + _5 + np.uint64(8) ^ _turned(words * _2, 31) * _1
    return _finished(_turned(hashes, 27) * _1 + _4).view(np.int64)


def _turned(words: Words, left: int) -> Words:
    return words << np.uint64(left) | words >> np.uint64(64 - left)


def _finished(words: Words) -> Words:
    words = (words ^ words >> np.uint64(33)) * _2
    words = (words ^ words >> np.uint64(29)) * _3
    return words ^ words >> np.uint64(32)
