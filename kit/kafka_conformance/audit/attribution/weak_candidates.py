"""Find rules that fit all keys of a topic which no present placement explains: too few keys to show that they wrote them.

Any of these *rivals* may have written the unexplained records, and then also some that a present placement explains: with an
older partition count or another sign, half of them; if its sign matters to few keys of the topic, nearly all. So records
that a rival explains are attributed to neither, as far as it may have written more than few of them.
"""

from __future__ import annotations

import numpy as np

from kafka_conformance.audit.attribution.candidate_search import hits_of_rules, placed_by, possible_counts
from kafka_conformance.audit.attribution.candidates import registered
from kafka_conformance.audit.attribution.evidence import spaced
from kafka_conformance.audit.attribution.explanation import KeyColumn
from kafka_conformance.audit.attribution.placements import CONSTANT
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_conformance.audit.result import Foreign, Placed

__all__ = ["MOST_RIVALS", "find_foreign"]

MOST_RIVALS = 16
"""Of more rules that fit, none is a rival by name: too few keys are unexplained.

Of 139 rules with 11 counts, by chance 130 fit one key of 12 partitions, 11 fit two, and one fits three. With 4, two
keys would have no rival; with 200, one key would have a hundred.
"""
SAMPLE = 512
"""Unexplained pairs that a rival has to fit, and pairs on which it is compared with the members: it shows a share of 1
in 512.
"""
FEW = 8
"""Keys with which a rule is tried first: with 2 partitions, one in 256 fits 8 by chance; 4 would let one in 16 pass to
all keys.
"""


def find_foreign(keys: KeyColumn, members: tuple[Placed, ...]) -> Foreign:
    """Return the share of these keys' records that no member explains, and the rules that fit their keys."""
    rows = np.flatnonzero(~keys.explained_by(members))
    if not rows.size:
        return Foreign()
    share = rows.size / keys.size
    rows = spaced(keys.distinct_pairs(rows), SAMPLE)
    several = isinstance(keys.partition, np.ndarray)  # else keys of other partitions may exist
    fitting = tuple(placed for placed in _fitting(keys.taken(rows), constant=several) if placed not in members)
    crowded = len(fitting) > MOST_RIVALS
    return Foreign(share, () if crowded else fitting, crowded, _hidden(keys, members, fitting))


def _hidden(keys: KeyColumn, members: tuple[Placed, ...], rivals: tuple[Placed, ...]) -> float:
    """Return the largest share of these keys that a rival puts where a member does: masked or abs, all but few."""
    sample = keys.taken(spaced(keys.distinct_pairs(), SAMPLE))
    chosen = [sample.chosen(placed) for placed in members]
    shares = [
        float(np.logical_or.reduce([sample.chosen(rival) == each for each in chosen]).mean()) if chosen else 0.0
        for rival in rivals
    ]
    return max(shares, default=0.0)


def _fitting(sample: KeyColumn, *, constant: bool) -> list[Placed]:
    """Return every placement, with every partition count, that explains all of these keys; a ``constant`` one if wanted."""
    first = int(sample.where[0])
    counts = range(int(sample.where.max()) + 1, sample.count + 1)
    fitting = [placed for hits, placed in hits_of_rules(sample, counts) if hits == sample.size]
    few = sample.taken(np.arange(min(FEW, sample.size)))
    for slug in dict.fromkeys((*(each.name for each in registered()), *RELATIVES)):
        for count in possible_counts(sample):
            placed = Placed(slug, count)
            if count >= counts.start and placed_by(placed, few).all() and placed_by(placed, sample).all():
                fitting.append(placed)
    if constant and (sample.where == first).all():
        fitting.append(Placed(f"{CONSTANT}{first}", sample.count))
    return fitting
