"""Tell placements from patterns of the keys: integers and bytes that place keys, and weak hashes that follow them.

Evidence assumes that a hash explains by chance what another rule placed. A weak hash does not: String.hashCode of digits is,
modulo 3, the integer that they are, and explains a third, or none, of what that integer placed modulo 12, and more than
chance with old partition counts. So the structured placements compete with the hashes, and of these, the weak ones are held
against the pattern (:func:`follows_a_pattern`).
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.evidence import (
    HANDFUL,
    SURE,
    SURE_OF_EXPECTED,
    chance_of_foreign_keys,
    evidence,
)
from kafka_conformance.audit.attribution.explanation import KeyColumn, folded
from kafka_conformance.audit.attribution.hash_columns import HASH_NAMES
from kafka_conformance.audit.attribution.placements import CONSTANT, STRUCTURED, find_placement
from kafka_conformance.audit.attribution.structured import structured_values
from kafka_conformance.audit.result import Placed

__all__ = ["WEAK", "WEAKEST", "correlated", "follows_a_pattern", "follows_bytes", "structured_candidates"]

WEAKEST = frozenset({"string-hash-code", "arrays-hash-code", "kafka-node"})
WEAK = WEAKEST | {"fnv-1a", "crc32", "first-byte-only"}
"""Hashes whose remainders follow those of the bytes of a key, so that they also explain what another rule placed."""
PRINTABLE = 0x20, 0x7E
"""The bytes of ASCII text: keys of these alone, such as ``user``, are not the 4 or 8 bytes of an integer."""
CORRELATED = 6.0
"""Standard deviations of a chi-square, by Wilson and Hilferty's cube root: once in 10^9 by chance, as SURE.

A hash that is off by multiples of 3 of 12 partitions is seen with 25 keys; at 12, with 80. At 3, one in 740 would be
refused by chance, of the 200 that are tried for each member.
"""


def follows_bytes(placed: Placed) -> bool:
    """Whether a placement is structured, or of the weakest hashes: chance explains no fixed share of its keys."""
    return find_placement(placed.rule).hash in WEAKEST or placed.rule in {each.slug for each in STRUCTURED}


def structured_candidates(sample: KeyColumn) -> list[tuple[float, Placed]]:
    """Return the structured placements present among these keys of several partitions, with their evidence."""
    count, out = sample.count, []
    first = int(sample.where[0])
    if (sample.where == first).all():  # then a byte that all keys share tells no more
        held = (sample.size - 1) * log(count)
        return [(held, Placed(f"{CONSTANT}{first}", count))] if held >= SURE else []
    text = bool(((sample.data >= PRINTABLE[0]) & (sample.data <= PRINTABLE[1])).all())
    for rule in STRUCTURED:
        if text and rule.slug.startswith("int"):
            continue
        values, known = structured_values(rule.slug, sample.offsets, sample.data)
        if not known.any():
            continue
        pairs = np.unique(np.stack((values[known], sample.where[known].astype(np.int64))), axis=1)
        chosen, at = pairs[0] % count, pairs[1]
        chance = max(1 / count, chance_of_foreign_keys(chosen, at, count))
        held = evidence(at.size, int(np.count_nonzero(chosen == at)), chance)
        if held >= SURE_OF_EXPECTED + log(len(STRUCTURED)) and not correlated(chosen, at, count):
            out.append((held, Placed(rule.slug, count)))
    return out


def follows_a_pattern(
    placed: Placed, others: list[tuple[float, Placed]], where: NDArray[np.int32], hashes: NDArray[np.uint32]
) -> bool:
    """Whether the hash is weak and correlated with the partitions of the keys that no count or fold of it explains.

    One of the weakest also has to explain half of the keys.
    """
    rule = find_placement(placed.rule)
    if rule.hash not in WEAK:
        return False
    row = hashes[HASH_NAMES.index(rule.hash)]
    left = where < placed.partitions
    hits = np.count_nonzero(folded(rule.fold, row, placed.partitions)[left] == where[left])
    if rule.hash in WEAKEST and 2 * hits < np.count_nonzero(left):
        return True
    for _, other in others:
        fold = find_placement(other.rule)
        if other != placed and fold.hash == rule.hash:
            left &= folded(fold.fold, row, other.partitions) != where
    chosen = folded(rule.fold, row[left], placed.partitions)
    return correlated(chosen.astype(np.int64), where[left].astype(np.int64), placed.partitions)


def correlated(chosen: NDArray[np.int64], at: NDArray[np.int64], count: int, beyond: float = CORRELATED) -> bool:
    """Whether the keys that a placement does not explain are off by some distances more often than by others.

    A producer beside others explains its own keys, and is off by any distance for theirs. A weak hash follows the pattern of
    keys: 31 times a hash and a digit is their integer modulo 3, so that it is off by multiples of 3 from a rule that takes
    that integer, and the keys it explains are not evidence.
    """
    off = np.bincount((at - chosen) % count, minlength=count)[1:]
    total = int(off.sum())
    if count < 3 or total < HANDFUL:
        return False
    expected = total / off.size
    chi_square, degrees = float(((off - expected) ** 2).sum()) / expected, off.size - 1
    step = 2 / (9 * degrees)
    return bool(((chi_square / degrees) ** (1 / 3) - (1 - step)) / sqrt(step) > beyond)
