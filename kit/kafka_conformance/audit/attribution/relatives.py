"""Further rules: every hash and fold of :mod:`kafka_reference.partitioning.places` that :mod:`.placements` has not.

The rules of :mod:`.placements` are computed for every record, so they are few. These *relatives* are tried on a sample only,
where the others leave records unexplained; those that fit are then judged as a user's partitioner is (:mod:`.candidates`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

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


def relative_partitions(slug: str, offsets: Offsets, data: Data, count: int) -> NDArray[np.int64]:
    """Return the partition of each key by this rule; -1 for a key that it does not place."""
    rule = RELATIVES[slug]
    first = int(offsets[0])
    part = data[first : int(offsets[-1])]
    if rule.hash_name in HASH_NAMES and (rule.hash_name != _OF_CHARACTERS or bool((part < 0x80).all())):
        return _folded(rule, hash_column(rule.hash_name, offsets, data).astype(np.uint64), count)
    content, ends = part.tobytes(), (np.asarray(offsets, np.int64) - first).tolist()
    numbers = [_number(rule.hash_name, content[ends[at] : ends[at + 1]]) for at in range(len(ends) - 1)]
    known = np.array([number is not None for number in numbers], np.bool_)
    if rule.bits > 64:
        return np.array([-1 if number is None else number % count for number in numbers], np.int64)
    return np.where(known, _folded(rule, np.array([number or 0 for number in numbers], np.uint64), count), -1)


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
