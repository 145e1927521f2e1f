"""Measure what a placement explains by chance: of keys in some partitions, of random hashes, and of similar keys."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.evidence import HANDFUL, LIKELY, chance_of_foreign_keys, evidence
from kafka_conformance.audit.attribution.explanation import KeyColumn, folded
from kafka_conformance.audit.attribution.hash_columns import HASH_NAMES
from kafka_conformance.audit.attribution.placements import find_placement
from kafka_conformance.audit.result import Placed

__all__ = ["UNFAIR", "held_against_crowding", "made_alike", "mean_chance", "random_hashes"]

DRAWS = 1 << 18
"""Random hashes, on which a partition's share is measured: of 50 partitions to 1.4 %, with a sixteenth as many to 6 %."""
ALIKE = 4
"""Similar keys that are made for each key: 100 keys show a chance of 1/12 to 1.4 percentage points, with one for each
to 2.8.
"""
UNFAIR = "float-arithmetic"


@lru_cache(maxsize=1)
def random_hashes() -> NDArray[np.uint32]:
    """Return random hashes, always the same."""
    return np.random.default_rng(0).integers(0, 1 << 32, DRAWS, np.uint32)


@lru_cache(maxsize=64)
def _chances(fold: str, count: int) -> NDArray[np.float64]:
    """Return the probability of each partition. Doubles round some remainders down, so they are not uniform."""
    if fold != UNFAIR:
        return np.full(count, 1 / count)
    shares = np.bincount(folded(fold, random_hashes(), count), minlength=count) / DRAWS
    return np.maximum(shares, 1 / count)


def mean_chance(placed: Placed, where: NDArray[Any]) -> float:
    """Return the share of keys in these partitions that this placement explains by chance, of those it has."""
    known = where[where < placed.partitions]
    return float(_chances(find_placement(placed.rule).fold, placed.partitions)[known].mean()) if known.size else 1.0


def made_alike(keys: KeyColumn) -> KeyColumn:
    """Return random keys, each byte from a key of the same length; lengths with fewer than HANDFUL keys are left out."""
    draws = np.random.default_rng(1)
    lengths = np.diff(keys.offsets)
    made: list[NDArray[np.uint8]] = []
    sizes: list[int] = []
    for length in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == length)
        if rows.size < HANDFUL:
            continue
        bytes_ = keys.data[keys.offsets[rows][:, None] + np.arange(length)]
        picked = draws.integers(0, rows.size, (ALIKE * rows.size, length))
        made.append(bytes_[picked, np.arange(length)].ravel())
        sizes += [int(length)] * (ALIKE * rows.size)
    data = np.concatenate(made) if made else np.empty(0, np.uint8)
    return KeyColumn(np.concatenate(([0], np.cumsum(sizes))).astype(np.int64), data, int(keys.where[0]), keys.count)


def held_against_crowding(
    hashes: NDArray[np.uint32], where: NDArray[np.int32], alike: NDArray[np.uint32] | None, placed: Placed
) -> float:
    """Return the evidence with equal hashes counted once, and with the hash's own preference for partitions as chance."""
    rule = find_placement(placed.rule)
    row = HASH_NAMES.index(rule.hash)
    known = where < placed.partitions
    pairs = hashes[row][known].astype(np.uint64) << np.uint64(32)
    pairs = np.unique(pairs | where[known].astype(np.uint64))
    if pairs.size < HANDFUL:
        return 0.0
    at = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)
    chosen = folded(rule.fold, (pairs >> np.uint64(32)).astype(np.uint32), placed.partitions).astype(np.int64)
    explained = int(np.count_nonzero(chosen == at))
    fair = mean_chance(placed, at)
    if alike is None:
        chance = max(fair, chance_of_foreign_keys(chosen, at, placed.partitions))
    else:
        chance = max(fair, _of_keys_alike(folded(rule.fold, alike[row], placed.partitions) == at[0], fair))
    if explained < pairs.size * chance + HANDFUL * (1 - chance):
        return 0.0
    return evidence(pairs.size, explained, chance)


def _of_keys_alike(explained: NDArray[np.bool_], fair: float) -> float:
    """Return the share of similar keys that are explained if it is more than chance, else 0."""
    hits = int(np.count_nonzero(explained))
    if evidence(explained.size, hits, fair) < LIKELY:
        return 0.0
    return hits / explained.size
