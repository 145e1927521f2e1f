"""Mistakes in what decides a producer's partition, and in which order; and other releases' rules."""

from __future__ import annotations

from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced, replaced_in
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.mutations import on
from kafka_reference.releases import Release, parse_release

__all__ = ["MUTANTS"]

_RULE = "producer-partition"


def _led(question: Any) -> tuple[Any, ...]:
    partitions = question.cluster.partitions
    return tuple(partition for partition in partitions if partition.leader is not None) or partitions


def _available_only(question: Any) -> Any:
    return replaced_in(question, "cluster", partitions=_led(question))


def _next_led(question: Any, release: Release) -> Answer:
    """Return the next partition with a leader if the key's has none, as collectd and syslog-ng did."""
    answer, partitions = RULES[_RULE].ask(question, release), question.cluster.partitions
    goes_by_key = question.record.partition is None and question.config.partitioner is None
    chosen = answer["partition"]
    if not goes_by_key or not 0 <= chosen < len(partitions):
        return answer
    places = [(chosen + step) % len(partitions) for step in range(len(partitions))]
    return {"partition": next((place for place in places if partitions[place].leader is not None), chosen)}


def _index_for_id(question: Any) -> Any:
    renumbered = tuple(replaced(partition, id=index) for index, partition in enumerate(_led(question)))
    return replaced_in(question, "cluster", partitions=renumbered)


def _empty_is_none(question: Any) -> Any:
    return replaced_in(question, "record", key=None) if question.record.key == "" else question


def _null_is_empty(question: Any) -> Any:
    return replaced_in(question, "record", key="") if question.record.key is None else question


def _keys_not_ignored(question: Any) -> Any:
    return replaced_in(question, "config", ignore_keys=False)


def _without_custom_partitioner(question: Any) -> Any:
    return replaced_in(question, "config", partitioner=None)


def _unchecked(question: Any, release: Release) -> Answer:
    custom = question.config.partitioner
    if question.record.partition is None and custom is not None:
        return {"partition": custom.returns}
    return RULES[_RULE].ask(question, release)


_EMPTY_IS_NONE = (
    "https://github.com/confluentinc/librdkafka/issues/4510",
    "https://github.com/SOHU-Co/kafka-node/pull/265",
    "https://github.com/segmentio/kafka-go/issues/581",
)
_NULL_IS_EMPTY = (
    "https://github.com/google/go-cloud/pull/2941",
    "https://github.com/Aiven-Open/karapace/pull/662",
    "https://github.com/IBM/sarama/issues/1957",
)
_NEXT_LED = (
    "https://github.com/collectd/collectd/pull/853",
    "https://github.com/balabit/syslog-ng-incubator/pull/110",
)
_NEGATIVE = ("https://github.com/apache/kafka/pull/10525",)
_MISTAKES: tuple[tuple[str, str, Ask, str, tuple[str, ...]], ...] = (
    ("available-only", "places keys over the available partitions only", on(_RULE, _available_only), "4.4.0", ()),
    ("next-led", "moves a key whose partition has no leader to the next one that has", _next_led, "4.4.0", _NEXT_LED),
    ("empty-key-is-none", "treats an empty key as no key", on(_RULE, _empty_is_none), "4.4.0", _EMPTY_IS_NONE),
    ("null-key-is-empty", "hashes a null key as an empty one", on(_RULE, _null_is_empty), "4.4.0", _NULL_IS_EMPTY),
    ("keys-not-ignored", "ignores partitioner.ignore.keys", on(_RULE, _keys_not_ignored), "4.4.0", ()),
    ("unplugged", "ignores partitioner.class", on(_RULE, _without_custom_partitioner), "4.4.0", ()),
    ("negative-unchecked", "accepts a negative result of the partitioner", _unchecked, "4.4.0", _NEGATIVE),
    ("index-for-id", "returns an index among the available partitions where the id is right",
     on(_RULE, _index_for_id), "2.8.2", ()),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(slug, _RULE, description, ask, parse_release(version), references)
    for slug, description, ask, version, references in _MISTAKES
)
