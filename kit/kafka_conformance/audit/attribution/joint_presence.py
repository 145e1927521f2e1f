"""Judge a placement found beside others: among the keys that these leave, chance is larger than one in n.

A key that the present placements do not explain is in none of the partitions that they choose for it. With two partitions
and one placement present, it is in the other one, and a hash that always differs from the first explains every key left:
FNV-1a and String.hashCode of keys of one length, whose parities are opposite.

If each of the keys left is in one partition, although many are repeated, a single function of the key placed them. One that
follows the pattern of the keys, but explains a part of them only, is another function.

Once all are found, a weak one is taken back if the keys that none explains follow it, or are never where it puts them
although many are repeated: then it has the remainders of another function of the key, which placed all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.distinct_keys import distinct
from kafka_conformance.audit.attribution.evidence import LIKELY, evidence
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.patterns import WEAK, correlated
from kafka_conformance.audit.attribution.placements import PLACEMENTS, find_placement
from kafka_conformance.audit.result import Placed

__all__ = ["evidence_beside", "founded", "is_function_of_key"]

REPEATED = 20
"""Records that repeat a key, none in another partition: two producers of equal shares and 12 partitions leave 20 so
once in 200,000 times.

With 5, they would once in 22, and be taken for one function of the key. With 80, no function of the key is seen in a
topic of 80 records.
"""
PATTERN = 4.0
"""Standard deviations, as CORRELATED, but of what all present placements leave: once in 30,000, because members are
few.

A hash that is off by multiples of 3 of 12 partitions is seen with 15 keys; at 6, with 25. At 2, one rightful member in
44 would be dropped.
"""
MOST_PARTITIONS = 1024
"""With more partitions, the 8 at most that the present placements choose change chance by less than 1 %."""


def evidence_beside(placed: Placed, members: Sequence[Placed], sample: KeyColumn) -> float:
    """Return the evidence that ``placed`` explains more than chance would of keys that no member explains."""
    count = placed.partitions
    known = np.flatnonzero(sample.where < count)
    if count > MOST_PARTITIONS:
        return float("inf")
    chosen = np.zeros((sample.size, count), np.bool_)
    for member in members:
        at = sample.chosen(member)
        rows = np.flatnonzero((at >= 0) & (at < count))
        chosen[rows, at[rows]] = True
    own = sample.chosen(placed)[known]
    free = count - chosen[known].sum(axis=1)
    possible = (own >= 0) & ~chosen[known, np.maximum(own, 0)]
    chance = float(np.where(free > 0, possible / np.maximum(free, 1), 1.0).mean()) if known.size else 1.0
    return evidence(known.size, int(np.count_nonzero(sample.by(placed)[known])), min(chance, 1.0))


def founded(members: list[Placed], keys: KeyColumn, wanted: Callable[[Placed], float]) -> list[Placed]:
    """Return the members without those that follow another function of the key, which no member explains."""
    left = ~keys.explained_by(members)
    if not left.any():
        return members
    rows = keys.distinct_pairs()
    sample = keys.taken(rows)
    words = keys.ids.view(np.dtype((np.void, 16))).ravel()
    apart = is_function_of_key(keys, np.flatnonzero(np.isin(words, words[left])))

    def follows(member: Placed) -> bool:
        return _follows_rest(member, sample, left[rows]) or (apart and _odd(member, sample) < wanted(member))

    return [member for member in members if not (_weak(member) and follows(member))]


def _weak(placed: Placed) -> bool:
    return find_placement(placed.rule).hash in WEAK | {""}


def _follows_rest(placed: Placed, sample: KeyColumn, left: NDArray[np.bool_]) -> bool:
    """Whether the keys left follow a placement: those aside that another count or fold of it explains."""
    rows = sample.taken(np.flatnonzero(left & (sample.chosen(placed) >= 0)))
    rule = find_placement(placed.rule)
    rest = rows.where < placed.partitions
    for other in [each for each in PLACEMENTS if each.hash == rule.hash] or [rule]:
        for count in range(2, sample.count + 1):
            by = rows.by(Placed(other.slug, count))
            known = np.count_nonzero(rows.where < count)
            if evidence(int(known), int(np.count_nonzero(by)), 1 / count) > LIKELY:
                rest &= ~by
    chosen = rows.chosen(placed)[rest]
    return correlated(chosen, rows.where[rest].astype(np.int64), placed.partitions, PATTERN)


def _odd(placed: Placed, sample: KeyColumn) -> float:
    """Return the evidence of the odd part of the partition count, among keys explained as far as its powers of two go.

    Modulo a power of two, a weak hash follows the lowest bits of a key, or the exclusive or of some.
    """
    even = placed.partitions & -placed.partitions
    odd = placed.partitions // even
    chosen = sample.chosen(placed)
    rows = (chosen >= 0) & (sample.where < placed.partitions) & (chosen % even == sample.where % even)
    return evidence(int(rows.sum()), int((chosen == sample.where)[rows].sum()), 1 / odd)


def is_function_of_key(keys: KeyColumn, rows: NDArray[np.int64]) -> bool:
    """Return whether many of these rows repeat a key, and each key is in one partition."""
    different = len(distinct(keys.ids[rows])[0])
    return rows.size - different >= REPEATED and keys.distinct_pairs(rows).size == different
