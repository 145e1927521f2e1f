"""Every rule the kit can ask about, by slug."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_conformance.errors import BadInput
from kafka_conformance.rules import (
    broker_producer_state,
    builtin_partitioner,
    default_partitioner,
    delivery,
    idempotence_config,
    murmur2,
    partition_for_key,
    producer_partition,
    producer_sequences,
    record_accumulator,
    record_sizes,
    round_robin_partitioner,
    sequences,
    sticky_distribution,
    uniform_sticky_partitioner,
)
from kafka_conformance.rules.rule import Columns, Rule, Space
from kafka_reference.releases import Release

__all__ = ["RULES", "Columns", "Rule", "Space", "java_classes", "named"]

_MODULES = (
    murmur2,
    partition_for_key,
    producer_partition,
    default_partitioner,
    uniform_sticky_partitioner,
    round_robin_partitioner,
    builtin_partitioner,
    sticky_distribution,
    record_sizes,
    record_accumulator,
    idempotence_config,
    producer_sequences,
    broker_producer_state,
    delivery,
)
RULES: dict[str, Rule] = {rule.slug: rule for rule in (*(module.RULE for module in _MODULES), *sequences.RULES)}


def named(slugs: Sequence[str]) -> list[Rule]:
    """The rules of these slugs, in the order of :data:`RULES`; all of them for none. Raises BadInput."""
    unknown = [slug for slug in slugs if slug not in RULES]
    if unknown:
        raise BadInput(f"there is no rule {', '.join(unknown)}: the rules are {', '.join(RULES)}")
    return [rule for slug, rule in RULES.items() if not slugs or slug in slugs]


def java_classes(at: Release) -> dict[str, str]:
    """For each rule that this release has, the oracle's Java class that asks it."""
    found = {slug: rule.java_class(at) for slug, rule in RULES.items()}
    return {slug: name for slug, name in found.items() if name is not None}
