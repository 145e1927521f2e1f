"""Mistakes in UniformStickyPartitioner: the sticky cache, ids, leaders, and keys."""

from __future__ import annotations

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.common.mutations import all_led, on_clusters, renumbered
from kafka_conformance.rules.common.sticky_cache_mutants import sticky_cache_mutants, with_cache
from kafka_reference.partitioning.sticky_cache import StickyPartitionCache
from kafka_reference.releases import parse_release

__all__ = ["MUTANTS"]

_RULE = "uniform-sticky-partitioner"
_MISTAKES = (
    ("uniform-index-for-id", "returns an index where the id is right", on_clusters(_RULE, renumbered), "2.8.2"),
    ("uniform-leaderless", "ignores which partitions have a leader", on_clusters(_RULE, all_led), "3.9.2"),
    ("uniform-keyed", "places records with a key by its hash", with_cache(StickyPartitionCache, keyed=True), "3.2.3"),
)

MUTANTS = (
    *sticky_cache_mutants(_RULE, "uniform", parse_release("3.9.2"), keyed=False),
    *(Mutant(slug, _RULE, description, ask, parse_release(version)) for slug, description, ask, version in _MISTAKES),
)
