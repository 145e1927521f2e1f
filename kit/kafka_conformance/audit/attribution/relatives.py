"""Further rules: every hash and fold of :mod:`kafka_reference.partitioning.places` that :mod:`.placements` has not.

The rules of :mod:`.placements` are computed for every record, so they are few. These *relatives* are tried on a sample only,
where the others leave records unexplained; those that fit are then judged as a user's partitioner is (:mod:`.candidates`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mmh3
import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.hash_columns import HASH_NAMES, hash_column
from kafka_reference.bulk import Data, Offsets
from kafka_reference.partitioning.key_hashes import HASHES
from kafka_reference.partitioning.places import NAMED, RULES, PlacingRule

__all__ = ["RELATIVES", "relative_partitions"]

_OF_CHARACTERS = "string-hash-code"  # the column's is of bytes
RELATIVES = {
    slug: rule
    for slug, rule in RULES.items()
    if rule.hash_name == _OF_CHARACTERS or (rule.hash_name, rule.fold) not in NAMED
}
"""The rules by slug, those of a known product first: of several that place all keys of a topic alike, the first is named."""


_QUICKER: dict[str, Callable[[bytes], int]] = {
    "murmur3-25342": lambda key: mmh3.hash(key, 25342, signed=False),
    "murmur3-128": lambda key: mmh3.hash64(key, 0, x64arch=True, signed=False)[0],
}  # the library's are written in Python


_CACHED_KEYS = 4096
"""The most keys of a column whose numbers are kept, eight samples of 512: 64 columns of them take 2 MiB."""
_CACHED_COLUMNS = 64
"""Columns kept: every hash of one sample, some 30, and of the next."""


def relative_partitions(slug: str, offsets: Offsets, data: Data, count: int) -> NDArray[np.int64]:
    """Return the partition of each key by this rule; -1 for a key that it does not place."""
    rule = RELATIVES[slug]
    first = int(offsets[0])
    content, ends = data[first : int(offsets[-1])].tobytes(), np.asarray(offsets, np.int64) - first
    column = _cached_numbers if ends.size <= _CACHED_KEYS + 1 else _cached_numbers.__wrapped__
    numbers, known = column(rule.hash_name, content, ends.tobytes())
    chosen = (numbers % count).astype(np.int64) if rule.bits > 64 else _folded(rule, numbers, count)
    return np.where(known, chosen, -1)


@lru_cache(maxsize=_CACHED_COLUMNS)
def _cached_numbers(hash_name: str, content: bytes, ends: bytes) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the numbers of a column of keys, 0 for a key that the hash does not take, and which keys it takes."""
    offsets, data = np.frombuffer(ends, np.int64), np.frombuffer(content, np.uint8)
    if hash_name in HASH_NAMES and (hash_name != _OF_CHARACTERS or bool((data < 0x80).all())):
        return hash_column(hash_name, offsets, data).astype(np.uint64), np.ones(offsets.size - 1, np.bool_)
    bounds = offsets.tolist()
    numbers = [_number(hash_name, content[bounds[at] : bounds[at + 1]]) for at in range(len(bounds) - 1)]
    kind = np.uint64 if HASHES[hash_name].bits <= 64 else object
    return np.array([number or 0 for number in numbers], kind), np.array(
        [each is not None for each in numbers], np.bool_
    )


@lru_cache(maxsize=1 << 16)
def _number(hash_name: str, key: bytes) -> int | None:
    return _QUICKER.get(hash_name, HASHES[hash_name].function)(key)


def _folded(rule: PlacingRule, numbers: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    bits = np.uint64(rule.bits - 1)
    lowest, n = np.uint64(1) << bits, np.uint64(count)
    negative = numbers >= lowest
    size = np.where(negative, (~numbers + np.uint64(1)) & (lowest - np.uint64(1) | lowest), numbers)
    if rule.fold == "masked":
        found = (numbers & (lowest - np.uint64(1))) % n
    elif rule.fold == "abs":
        found = size % n
    elif rule.fold == "abs-or-zero":
        found = np.where(numbers == lowest, np.uint64(0), size) % n
    elif rule.fold == "floor-mod":
        found = np.where(negative, (n - size % n) % n, numbers % n)
    else:
        found = numbers % n
    return np.asarray(found, np.int64)
