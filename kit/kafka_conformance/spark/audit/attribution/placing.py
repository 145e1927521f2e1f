"""Place one key by every rule that the audit knows: what `kafka-conformance place` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_conformance.spark.audit.attribution.clients import CLIENTS
from kafka_conformance.spark.audit.attribution.explanation import chosen_partitions
from kafka_conformance.spark.audit.attribution.key_views import WHOLE, find_view, views_of
from kafka_conformance.spark.audit.attribution.placements import PLACEMENTS, STRUCTURED, find_placement
from kafka_conformance.spark.audit.attribution.relatives import RELATIVES

__all__ = ["Place", "places"]


@dataclass(frozen=True, slots=True)
class Place:
    """The ``partition`` that a rule gives to a view of a key; ``drawn``: any, since it draws for an empty key.

    ``clients`` place keyed records by this rule in their default setting.
    """

    rule: str
    story: str
    view: str
    partition: int
    drawn: bool
    clients: tuple[str, ...]


def places(key: bytes, partitions: int, *, parts: bool) -> Iterator[Place]:
    """Yield the partition of a key by each rule that places it, Java's first; with ``parts`` also of its views.

    ``partitions`` is an int32 of 1 or more.
    """
    for view in [find_view(WHOLE), *(views_of([key]) if parts else ())]:
        placed = view.part(key)
        if placed is None:
            continue
        offsets, data = np.array([0, len(placed)], np.int64), np.frombuffer(placed, np.uint8)
        for slug in (*(each.slug for each in (*PLACEMENTS, *STRUCTURED)), *RELATIVES):
            rule = find_placement(slug)
            (chosen,) = chosen_partitions(rule, offsets, data, partitions).tolist()
            if chosen >= 0:
                clients = tuple(client for client, placed_by in CLIENTS.items() if placed_by == slug)
                yield Place(slug, rule.story, view.slug, chosen, rule.draws_empty and not placed, clients)
