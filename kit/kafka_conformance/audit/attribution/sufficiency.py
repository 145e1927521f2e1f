"""Decide whether the distinct keys of a topic are enough to tell which placement wrote it.

A placement with n partitions explains every key by chance with a probability of n^-k for k distinct keys, however many
records they have. So few keys fit several placements, or one by chance. There is a *doubt* about a topic in these cases:

* It has one partition: every placement puts every key there.
* Several placements fit all keys. Those that choose the same partition for any such key, such as murmur2 with signed bytes
  for keys of ASCII, count as one.
* One placement fits, but by chance one would fit as many keys in one of 10^6 topics (the expected one) or of 10^9 (any).
* None fits, no present placement was found, and two producers that share the keys could not have been found.

``needed`` is the number of distinct keys beyond which chance is as rare as stated above.
"""

from __future__ import annotations

from itertools import combinations
from math import ceil, exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.candidate_search import agreement, fitting_candidates, kinds_of_keys
from kafka_conformance.audit.attribution.chance import made_alike, random_hashes
from kafka_conformance.audit.attribution.distinct_keys import distinct
from kafka_conformance.audit.attribution.evidence import SURE, SURE_OF_EXPECTED, evidence
from kafka_conformance.audit.attribution.explanation import KeyColumn, folded
from kafka_conformance.audit.attribution.hash_columns import hash_column
from kafka_conformance.audit.attribution.placements import PLACEMENTS, Placement
from kafka_conformance.audit.result import Doubt, Placed

__all__ = ["MOST_KEYS", "find_doubt"]

MOST_KEYS = 256
"""The number of distinct keys that are always enough: the two folds of a hash that are hardest to tell apart agree on 3 of
4 keys, and 108 keys show which it is with 30 rules and 1,000 partitions.
"""
SAME = 0.999
"""The agreement from which two placements are one: those that differ for one key in 1,000 would need 27,000 keys."""
WHOLE = 2**31 - 1
"""A partition count with which equal partitions mean equal hashes: an index of 31 bits is its own remainder."""


def find_doubt(keys: KeyColumn, expected: Placed, members: tuple[Placed, ...]) -> Doubt | None:
    """Return the doubt about which placement these keys of a topic show, or None.

    ``members`` are the placements that are present (``presence.present``). Without keys there is no doubt.
    """
    if not keys.size:
        return None
    different = len(distinct(keys.ids)[0])
    if keys.count == 1:
        return Doubt(different, (), None, exp(-SURE_OF_EXPECTED))
    if different > MOST_KEYS:
        return None
    sample = keys.taken(keys.distinct_pairs())
    fits = int(np.bitwise_and.reduce(sample.masks))
    known = [each for bit, each in enumerate(PLACEMENTS) if fits >> bit & 1] + fitting_candidates(sample)
    fitting = _different(known, sample)
    sure, candidates = SURE, len(PLACEMENTS) * keys.count
    if any(each.slug == expected.rule for each in fitting):
        sure, candidates = SURE_OF_EXPECTED, 1
    needed = _needed(fitting, sample, different, sure + log(candidates), found=bool(members))
    if needed is None:
        return None
    return Doubt(different, tuple(each.slug for each in fitting), needed, exp(-sure))


def _different(fitting: list[Placement], keys: KeyColumn) -> list[Placement]:
    """Return the first of all placements that put any such key into the same partition."""
    out: list[Placement] = []
    for each in fitting:
        if all(_agreement(each, other, keys) < SAME for other in out):
            out.append(each)
    return out


def _needed(fitting: list[Placement], keys: KeyColumn, different: int, required: float, *, found: bool) -> int | None:
    """Return the number of distinct keys that would be enough, or None if there are as many."""
    if not fitting:
        shared = 2 * evidence(1000, 500, 1 / keys.count) / 1000  # each key is twice there, and explained once
        needed = min(ceil(required / shared) if shared else MOST_KEYS + 1, MOST_KEYS + 1)
        return needed if not found and different < needed else None
    if len(fitting) > 1:
        alike = max(_agreement(one, other, keys) for one, other in combinations(fitting, 2))
        return different + ceil(required / -log(alike))
    distinguished = np.unique(_kinds(fitting[0], keys)).size
    needed = ceil(required / log(keys.count))
    return needed if distinguished < needed else None


def _kinds(placement: Placement, keys: KeyColumn) -> NDArray[Any]:
    """Return a number for each key, equal for keys that the placement does not distinguish."""
    if not placement.hash:
        return kinds_of_keys(placement.slug, keys)
    return hash_column(placement.hash, keys.offsets, keys.data)


def _agreement(one: Placement, other: Placement, keys: KeyColumn) -> float:
    """Return the share of keys like these that both placements put into the same partition."""
    count = keys.count
    if not (one.hash and other.hash):
        return agreement(one, other, made_alike(keys))
    mine, others = (_kinds(each, keys) for each in (one, other))
    if np.array_equal(mine, others):
        draws: Any = random_hashes()
        return float((folded(one.fold, draws, count) == folded(other.fold, draws, count)).mean())
    if one.fold == other.fold and np.array_equal(folded(one.fold, mine, WHOLE), folded(one.fold, others, WHOLE)):
        return 1.0
    return 1 / count
