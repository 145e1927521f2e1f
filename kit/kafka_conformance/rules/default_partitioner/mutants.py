"""Mistakes in DefaultPartitioner: the sticky cache, the round, keys, and other releases' rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.rules.common.mutations import all_led, on, on_clusters, only_led, renumbered
from kafka_conformance.rules.common.partitioner_steps import PartitionStep
from kafka_conformance.rules.common.sticky_cache_mutants import sticky_cache_mutants
from kafka_reference.releases import parse_release

__all__ = ["MUTANTS"]

_RULE = "default-partitioner"


def _with_keys(change: Callable[[str | None], str | None]) -> Ask:
    """Answer as the reference does for other keys."""

    def rekeyed(step: Any) -> Any:
        return replaced(step, key=change(step.key)) if isinstance(step, PartitionStep) else step

    return on(_RULE, lambda question: replaced(question, steps=tuple(map(rekeyed, question.steps))))


_MISTAKES: tuple[tuple[str, str, Ask, str, tuple[str, ...]], ...] = (
    ("default-index-for-id", "returns an index where the id is right", on_clusters(_RULE, renumbered), "2.8.2", ()),
    ("default-leaderless", "ignores which partitions have a leader", on_clusters(_RULE, all_led), "2.3.1", ()),
    ("default-available-only", "places keys over the available partitions only", on_clusters(_RULE, only_led), "3.9.2",
     ()),
    ("default-empty-key-is-none", "treats an empty key as no key", _with_keys(lambda key: key or None), "3.2.3",
     ("https://github.com/confluentinc/librdkafka/issues/4510",
      "https://github.com/SOHU-Co/kafka-node/pull/265",
      "https://github.com/segmentio/kafka-go/issues/581")),
    ("default-null-is-empty", "hashes a null key as an empty one", _with_keys(lambda key: key or ""), "2.3.1",
     ("https://github.com/google/go-cloud/pull/2941",
      "https://github.com/Aiven-Open/karapace/pull/662",
      "https://github.com/IBM/sarama/issues/1957")),
)  # fmt: skip

MUTANTS = (
    *sticky_cache_mutants(_RULE, "default", parse_release("2.8.2"), keyed=True),
    *(
        Mutant(slug, _RULE, description, ask, parse_release(version), references)
        for slug, description, ask, version, references in _MISTAKES
    ),
)
