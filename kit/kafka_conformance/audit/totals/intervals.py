"""Estimate the share of each placement in a mixture, with an interval.

A record is explained by a set of the present placements. If placement j has a share p_j of the records, and a foreign
producer of unknown placement a share p, a record that the set S explains has the likelihood sum of p_j for j in S, plus
p / n: a foreign record is in any of the n partitions. The estimate is the maximum of the likelihood of all records, found by
expectation maximization. The interval of a share holds the values that a likelihood-ratio test does not reject with 99 %
confidence (Wilks), the other shares being those that fit best: a profile likelihood.

Records of one key go the same way, so a key with many records is less evidence than as many keys: the likelihood counts as
many records as keys of equal weight would be (Kish's effective size, of each block).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.result import UNEXPLAINED, Interval

__all__ = ["CONFIDENCE", "estimated_shares"]

CONFIDENCE = 0.99
CRITICAL = 6.634896601
"""The quantile of chi-square with one degree of freedom for CONFIDENCE."""
ROUNDS, HALVINGS, WIDE = 200, 9, 3.0
Floats = NDArray[np.float64]


def estimated_shares(sets: Mapping[tuple[str, ...], int], partitions: int, effective: float) -> dict[str, Interval]:
    """Return the share of each placement, and of UNEXPLAINED for a foreign producer if some records are unexplained.

    ``sets`` counts the keyed records by the placements that explain them; ``effective`` is their effective number.
    """
    total = sum(sets.values())
    names = sorted({name for explaining in sets for name in explaining})
    foreign = bool(sets.get(()))
    if not total or not names or (len(names) == 1 and not foreign):
        return {}
    columns = [*names, UNEXPLAINED] if foreign else names
    likely = np.array(
        [[float(name in explaining) for name in names] + [1 / partitions] * foreign for explaining in sets]
    )
    weights = np.array(list(sets.values()), np.float64) * min(1.0, effective / total)
    best = _maximized(likely, weights)
    return {
        name: Interval(float(best[at]), _limit(likely, weights, best, at, -1), _limit(likely, weights, best, at, 1))
        for at, name in enumerate(columns)
    }


def _maximized(
    likely: Floats, weights: Floats, fixed: int = -1, value: float = 0.0, begin: Floats | None = None
) -> Floats:
    """Return the shares of the greatest likelihood; the share ``fixed`` has this value."""
    size = likely.shape[1]
    shares = np.full(size, 1 / size) if begin is None else np.maximum(begin, 1e-6)
    for _ in range(ROUNDS):
        if fixed >= 0:
            shares[fixed] = 0.0
            shares *= (1 - value) / max(shares.sum(), 1e-300)
            shares[fixed] = value
        mixed = np.maximum(likely @ shares, 1e-300)
        updated = shares * ((weights / mixed) @ likely)
        updated /= max(updated.sum(), 1e-300)
        if np.abs(updated - shares).max() < 1e-7:
            break
        shares = updated
    if fixed >= 0:
        shares[fixed] = 0.0
        shares *= (1 - value) / max(shares.sum(), 1e-300)
        shares[fixed] = value
    return shares


def _limit(likely: Floats, weights: Floats, best: Floats, at: int, sign: int) -> float:
    """Return the lowest (``sign`` -1) or highest value of share ``at`` that the likelihood ratio does not reject."""
    top, size, share = _log_likelihood(likely, weights, best), float(weights.sum()), float(best[at])
    end, step = (0.0 if sign < 0 else 1.0), WIDE * (np.sqrt(share * (1 - share) / size) + 1 / size)
    inside, outside, near = share, share, best
    for _ in range(HALVINGS):
        outside = float(np.clip(outside + sign * step, 0.0, 1.0))
        near = _maximized(likely, weights, at, outside, near)
        if outside == end or 2 * (top - _log_likelihood(likely, weights, near)) > CRITICAL:
            break
        inside, step = outside, 2 * step
    for _ in range(HALVINGS):
        value = (inside + outside) / 2
        near = _maximized(likely, weights, at, value, near)
        if 2 * (top - _log_likelihood(likely, weights, near)) <= CRITICAL:
            inside = value
        else:
            outside = value
    return outside


def _log_likelihood(likely: Floats, weights: Floats, shares: Floats) -> float:
    return float((weights * np.log(np.maximum(likely @ shares, 1e-300))).sum())
