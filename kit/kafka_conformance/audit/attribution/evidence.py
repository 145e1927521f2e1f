"""Measure how much more often than by chance a placement explains keys."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CLEARLY", "HANDFUL", "HINT", "LIKELY", "SURE", "SURE_OF_EXPECTED", "chance_of_foreign_keys", "evidence", "spaced",
]  # fmt: skip

SURE = log(1e9)
"""The required evidence, in nats; a search among c candidates requires log c more.

At log 1e6, one of a million audits would name a rule that wrote nothing. At log 1e12, 30 rules and 12 partitions would
take 14 distinct keys in place of 11.
"""
SURE_OF_EXPECTED = log(1e6)
"""The required evidence for the expected placement, in nats: it is likely in advance.

At log 1e3, one foreign topic in a thousand would pass for Java's, with 3 keys in 12 partitions. At log 1e9, it would take
9 keys in place of 6.
"""
CLEARLY = 12.0
"""The nats by which one explanation has to be likelier than another: once in 160,000 by chance.

At 6, once in 400: of the 16 rules that are tried in the place of each member, one wins in a few topics of a hundred. At 24,
rules with 12 partitions that differ for fewer than 10 keys cannot be told apart, in place of 5.
"""
LIKELY = log(1e3)
"""The evidence, in nats, for a suspicion: enough to attribute less, too little to name a rule.

Of an old count that explains a quarter by chance, 5 keys in a row raise it. At log 1e6, 10 would, and as many records
could go to the wrong count; at log 30, one sample in 30 would raise it for nothing.
"""
HINT = 3.0
"""The evidence, in nats, with which a rule is compared at all: of 512 keys and 12 partitions, 15 more than chance.

At 1, one rule in 13 would have it by chance: of 30 rules with 12 counts 28, more than are compared. At 6, a rule needs
22 keys.
"""
HANDFUL = 5
"""The fewest keys of which a share is measured.

Four keys in 31 partitions or fewer are never the required evidence. At 10, a second producer with 8 keys in 50
partitions, which are enough, would not be found.
"""


def spaced(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return up to ``most`` of these rows, evenly spaced."""
    return rows[np.linspace(0, rows.size - 1, most).astype(np.int64)] if rows.size > most else rows


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
