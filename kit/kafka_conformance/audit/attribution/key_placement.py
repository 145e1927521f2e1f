"""Place one key, and the parts of it that some producers hash, by every rule that the audit knows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafka_conformance.audit.attribution.explanation import chosen_partitions
from kafka_conformance.audit.attribution.key_views import WHOLE, find_view, views_of
from kafka_conformance.audit.attribution.placements import PLACEMENTS
from kafka_reference.partitioning.places import RULES, Place, place

__all__ = ["ways_to_place"]


def ways_to_place(key: bytes, partitions: int) -> Iterator[tuple[str, Place]]:
    """Yield each view of a key, the whole key first, with each rule that places it: producers' rules, then known mistakes.

    ``partitions`` is an int32 of 1 or more.
    """
    for view in (find_view(WHOLE), *views_of([key])):
        part = view.part(key)
        if part is None:
            continue
        for one in place(part, partitions):
            yield view.slug, one
        offsets, data = np.array([0, len(part)], np.int64), np.frombuffer(part, np.uint8)
        for rule in PLACEMENTS:
            if rule.slug not in RULES:
                (chosen,) = chosen_partitions(rule, offsets, data, partitions).tolist()
                yield view.slug, Place(rule.slug, rule.description, chosen, ())
