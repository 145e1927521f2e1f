"""Find further rules that explain the keys as well as a present placement does, in its place.

The placements are found among the built-in ones first, and further rules (:mod:`.relatives`) are tried where these leave
records unexplained. In a mixture that is too late: of four partitions, three rules that no producer used explain nearly all
keys between them, and two relatives of the rules that wrote the topic explain all. So each member of a mixture is held
against every relative with every partition count. Those that are likelier than the member, or nearly as likely
(:data:`~.evidence.CLEARLY`), and explain other keys, are its *contenders*: with these the keys are then judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.candidate_search import possible_counts
from kafka_conformance.audit.attribution.evidence import CLEARLY, HINT, SURE, SURE_OF_EXPECTED, evidence, spaced
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.mixture import log_likelihoods
from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_conformance.audit.attribution.relatives import RELATIVES, relative_partitions
from kafka_conformance.audit.result import Placed

__all__ = ["contenders"]

KEYS = 4096
"""Pairs of a key and its partition that are looked at: a producer of 1 % has 40 of them."""
SCREENED = 256
"""Pairs on which every rule is tried with every count: a rule has HINT if it explains 4 % more than chance of 12
partitions.

With 64, it would have to be 8 %; with 1,024, 2 % for four times the time.
"""
TRIED = 16
"""Rules of a member that are compared by likelihood, those of most evidence first: 5 folds of the 3 nearest hashes."""


def contenders(keys: KeyColumn, members: Sequence[Placed], expected: Placed) -> tuple[str, ...]:
    """Return the relatives that are as good as a member in its place, the likeliest first; none for a single rule's keys."""
    if not members or keys.count == 1 or (len(members) == 1 and keys.by(members[0]).all()):
        return ()
    pairs = keys.taken(spaced(keys.distinct_pairs(), KEYS))
    found: dict[str, float] = {}
    for away in members:
        others = [placed for placed in members if placed != away]
        wanted = SURE_OF_EXPECTED if away == expected else SURE + log(len(PLACEMENTS) * keys.count)
        for placed, gain in _as_good(pairs, away, others, wanted):
            if placed not in members:
                found[placed.rule] = max(gain, found.get(placed.rule, gain))
    return tuple(sorted(found, key=lambda slug: -round(found[slug], 6)))


def _as_good(pairs: KeyColumn, away: Placed, others: list[Placed], wanted: float) -> list[tuple[Placed, float]]:
    """Return the relatives that are as good as ``away``, each with what it gains."""
    rest = pairs.explained_by(others)
    tried = [(placed, by) for placed, by in _likely(pairs, rest) if not np.array_equal(by, pairs.by(away))]
    if not tried:
        return []
    rows = np.array([by for _, by in tried], np.bool_)
    without = pairs.rows_by(others)
    held = log_likelihoods(without, np.concatenate((pairs.rows_by([away]), rows)), pairs.count)
    both = log_likelihoods(np.concatenate((without, pairs.rows_by([away]))), rows, pairs.count)
    gains, adds = (held[1:] - held[0]).tolist(), (both - held[1:]).tolist()
    return [
        (placed, gain)
        for (placed, _), gain, added in zip(tried, gains, adds, strict=True)
        if gain >= -CLEARLY and added < wanted
    ]


def _likely(pairs: KeyColumn, rest: NDArray[np.bool_]) -> list[tuple[Placed, NDArray[np.bool_]]]:
    """Return the relatives that explain most of the pairs that the rest leaves, each with the pairs that it explains."""
    rows = np.flatnonzero(~rest)
    if not rows.size:
        return []
    sample = pairs.taken(spaced(rows, SCREENED))
    found: list[tuple[float, Placed]] = []
    for count in possible_counts(sample):
        known = int(np.count_nonzero(sample.where < count))
        for slug in RELATIVES:
            chosen = relative_partitions(slug, sample.offsets, sample.data, count)
            held = evidence(known, int(np.count_nonzero(chosen == sample.where)), 1 / count)
            if held > HINT:
                found.append((held, Placed(slug, count)))
    found.sort(key=lambda one: -one[0])
    return [
        (placed, relative_partitions(placed.rule, pairs.offsets, pairs.data, placed.partitions) == pairs.where)
        for _, placed in found[:TRIED]
    ]
