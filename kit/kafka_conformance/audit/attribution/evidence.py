"""Measure how much more often than by chance a placement explains keys."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

__all__ = ["SURE", "SURE_OF_EXPECTED", "chance_of_foreign_keys", "evidence"]

SURE = log(1e9)
"""The required evidence, in nats; a search among c candidates requires log c more."""
SURE_OF_EXPECTED = log(1e6)
"""The required evidence for the expected placement, in nats: it is likely in advance."""


def evidence(keys: int, explained: int, chance: float) -> float:
    """Return the evidence that ``explained`` of ``keys`` is more than chance: a lower bound of -log P, in nats."""
    if not keys or explained <= keys * chance:
        return 0.0
    share = explained / keys
    missing = (1 - share) * log((1 - share) / (1 - chance)) if explained < keys else 0.0
    return keys * (share * log(share / chance) + missing)


def chance_of_foreign_keys(chosen: NDArray[np.int64], at: NDArray[np.int64], count: int) -> float:
    """Return the share of keys of other partitions that the hash would have put into a partition."""
    full, here = np.bincount(chosen, minlength=count), np.bincount(at, minlength=count)
    both = np.bincount(at[chosen == at], minlength=count)
    foreign = (full - both)[at] / np.maximum(at.size - here[at], 1)
    return float(foreign.mean())
