"""Count what rules explain among some keys, and search for the user's own partitioners.

Nothing is known of a user's function but what it returns. Keys that it does not distinguish count once: those to which it
gives the same partitions with the current count and the next three. It is searched with the current partition count and with
earlier ones; with over MOST_COUNTS partitions, only with earlier ones that divide the current count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kafka_conformance.audit.attribution.candidates import candidate_partitions, registered
from kafka_conformance.audit.attribution.evidence import HANDFUL, chance_of_foreign_keys, evidence
from kafka_conformance.audit.attribution.explanation import KeyColumn, chosen_partitions, how_many_explained
from kafka_conformance.audit.attribution.hash_columns import hash_columns
from kafka_conformance.audit.attribution.patterns import correlated
from kafka_conformance.audit.attribution.placements import PLACEMENTS, STRUCTURED, Placement, find_placement
from kafka_conformance.audit.attribution.structured import structured_values
from kafka_conformance.audit.result import Placed
from kafka_conformance.core.errors import BadInput

__all__ = [
    "agreement", "candidates_present", "fitting_candidates", "hits_of_rules", "kinds_of_keys", "placed_by",
    "possible_counts",
]  # fmt: skip

MOST_COUNTS = 64
"""Partition counts with which a Python function is called for 512 keys: 32,768 calls; with 1,000, half a million."""
FURTHER_COUNTS = 3
"""Further partition counts by which keys are told apart: two keys agree with each of 12 to 15 partitions once in 32,760.

With none, a function would have 12 kinds of keys at most, where 11 that it explains are needed.
"""


def candidates_present(sample: KeyColumn) -> list[tuple[float, Placed]]:
    """Return the candidates among these keys of several partitions, with their evidence. Raises BadInput for a key."""
    out = []
    for candidate in registered():
        kinds = kinds_of_keys(candidate.name, sample)
        for count in possible_counts(sample):
            placed = Placed(candidate.name, count)
            held = _held(placed, kinds, sample)
            if held:
                out.append((held, placed))
    return out


def hits_of_rules(sample: KeyColumn, counts: range) -> list[tuple[int, Placed]]:
    """Return how many of these keys each built-in rule explains with each of these partition counts."""
    explained = how_many_explained(hash_columns(sample.offsets, sample.data), PLACEMENTS, sample.where, counts)
    out = [
        (int(explained[row, at]), Placed(rule.slug, count))
        for row, count in enumerate(counts)
        for at, rule in enumerate(PLACEMENTS)
    ]
    for rule in STRUCTURED:
        values, known = structured_values(rule.slug, sample.offsets, sample.data)
        out += [
            (int(np.count_nonzero(known & (values % count == sample.where))), Placed(rule.slug, count))
            for count in counts
        ]
    return out


def fitting_candidates(keys: KeyColumn) -> list[Placement]:
    """Return the candidates that explain every key."""
    return [find_placement(each.name) for each in registered() if keys.by(Placed(each.name, keys.count)).all()]


def agreement(one: Placement, other: Placement, keys: KeyColumn) -> float:
    """Return the share of these keys that both placements put into the same partition; 1/n at least."""
    mine, others = (chosen_partitions(each, keys.offsets, keys.data, keys.count) for each in (one, other))
    return max(float((mine == others).mean()), 1 / keys.count) if keys.size else 1.0


def kinds_of_keys(name: str, keys: KeyColumn) -> NDArray[np.int64]:
    """Return a number for each key, equal for keys that the candidate does not distinguish."""
    columns = [candidate_partitions(name, keys.offsets, keys.data, keys.count)]
    for more in range(1, FURTHER_COUNTS + 1):
        column = _with(name, keys, keys.count + more)
        if column is not None:
            columns.append(column)
    _, kinds = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return np.asarray(kinds, np.int64).reshape(-1)


def possible_counts(keys: KeyColumn) -> list[int]:
    """Return the partition counts with which a candidate is tried."""
    counts = range(max(2, int(keys.where.min()) + 1), keys.count + 1)
    return [count for count in counts if keys.count <= MOST_COUNTS or keys.count % count == 0]


def placed_by(placed: Placed, keys: KeyColumn) -> NDArray[np.bool_]:
    """Return which keys a candidate puts where they are: none if it does not take this partition count."""
    chosen = _with(placed.rule, keys, placed.partitions)
    return np.zeros(keys.size, np.bool_) if chosen is None else chosen == keys.where


def _with(name: str, keys: KeyColumn, count: int) -> NDArray[np.int64] | None:
    """Return the partitions with another count than the topic's; None if the function does not take it."""
    try:
        return candidate_partitions(name, keys.offsets, keys.data, count)
    except BadInput:
        return None


def _held(placed: Placed, kinds: NDArray[np.int64], keys: KeyColumn) -> float:
    """Return the evidence for a candidate, 0 if its misses follow a pattern."""
    chosen = _with(placed.rule, keys, placed.partitions)
    if chosen is None:
        return 0.0
    placeable = (keys.where < placed.partitions) & (chosen >= 0)  # a relative may place keys of one form only
    pairs = np.stack((kinds, keys.where, chosen), axis=1)[placeable]
    _, at, chosen = np.unique(pairs, axis=0).T
    if at.size < HANDFUL:
        return 0.0
    chance = max(1 / placed.partitions, chance_of_foreign_keys(chosen, at, placed.partitions))
    if correlated(chosen, at, placed.partitions):
        return 0.0
    return evidence(at.size, int(np.count_nonzero(chosen == at)), chance)
