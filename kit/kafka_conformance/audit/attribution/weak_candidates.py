"""Find rules that fit all keys of a topic which no present placement explains: too few keys to show that they wrote them.

Any of these *rivals* may have written the unexplained records, and then also some that a present placement explains: with an
older partition count or another sign, half of them; if its sign matters to few keys of the topic, nearly all. So records
that a rival explains are attributed to neither, as far as it may have written more than few of them.
"""

from __future__ import annotations

import numpy as np

from kafka_conformance.audit.attribution.candidate_search import placed_by, possible_counts
from kafka_conformance.audit.attribution.candidates import registered
from kafka_conformance.audit.attribution.explanation import KeyColumn, how_many_explained
from kafka_conformance.audit.attribution.hash_columns import hash_columns
from kafka_conformance.audit.attribution.placements import CONSTANT, PLACEMENTS, STRUCTURED
from kafka_conformance.audit.attribution.relatives import RELATIVES
from kafka_conformance.audit.attribution.structured import structured_values
from kafka_conformance.audit.result import Foreign, Placed

__all__ = ["MOST_RIVALS", "find_foreign"]

MOST_RIVALS = 16
"""Of more rules that fit, none is a rival by name: too few keys are unexplained."""
SAMPLE = 512
FEW = 8
"""Keys with which a rule is tried first: few rules fit as many by chance."""


def find_foreign(keys: KeyColumn, members: tuple[Placed, ...]) -> Foreign:
    """Return the share of these keys' records that no member explains, and the rules that fit their keys."""
    rows = np.flatnonzero(~keys.explained_by(members))
    if not rows.size:
        return Foreign()
    share = rows.size / keys.size
    rows = keys.distinct_pairs(rows)
    rows = rows[np.linspace(0, rows.size - 1, SAMPLE).astype(np.int64)] if rows.size > SAMPLE else rows
    several = isinstance(keys.partition, np.ndarray)  # else keys of other partitions may exist
    fitting = tuple(placed for placed in _fitting(keys.taken(rows), constant=several) if placed not in members)
    crowded = len(fitting) > MOST_RIVALS
    return Foreign(share, () if crowded else fitting, crowded, _hidden(keys, members, fitting))


def _hidden(keys: KeyColumn, members: tuple[Placed, ...], rivals: tuple[Placed, ...]) -> float:
    """Return the largest share of these keys that a rival puts where a member does: masked or abs, all but few."""
    rows = keys.distinct_pairs()
    sample = keys.taken(rows[np.linspace(0, rows.size - 1, SAMPLE).astype(np.int64)] if rows.size > SAMPLE else rows)
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
    explained = how_many_explained(hash_columns(sample.offsets, sample.data), PLACEMENTS, sample.where, counts)
    fitting = [Placed(PLACEMENTS[at].slug, counts[row]) for row, at in np.argwhere(explained == sample.size).tolist()]
    for rule in STRUCTURED:
        values, known = structured_values(rule.slug, sample.offsets, sample.data)
        if known.all():
            fitting += [Placed(rule.slug, count) for count in counts if (values % count == sample.where).all()]
    few = sample.taken(np.arange(min(FEW, sample.size)))
    for slug in dict.fromkeys((*(each.name for each in registered()), *RELATIVES)):
        for count in possible_counts(sample):
            placed = Placed(slug, count)
            if count >= counts.start and placed_by(placed, few).all() and placed_by(placed, sample).all():
                fitting.append(placed)
    if constant and (sample.where == first).all():
        fitting.append(Placed(f"{CONSTANT}{first}", sample.count))
    return fitting
