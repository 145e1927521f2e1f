"""Mistakes in what a producer looks at, and in which order; and one release's rule taken for another's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced, replaced_in
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST, Release, parse_release

__all__ = ["MUTANTS"]

_RULE = RULES["producer-partition"]


def _led(question: Any) -> tuple[Any, ...]:
    partitions = question.cluster.partitions
    return tuple(partition for partition in partitions if partition.leader is not None) or partitions


def _available_only(question: Any) -> Any:
    return replaced_in(question, "cluster", partitions=_led(question))


def _next_led(question: Any, at: Release) -> Answer:
    """Of a partition without a leader, the next one that has one, as collectd and syslog-ng went on."""
    answer, partitions = _RULE.ask(question, at), question.cluster.partitions
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


def _unplugged(question: Any) -> Any:
    return replaced_in(question, "config", partitioner=None)


def _unchecked(question: Any, at: Release) -> Answer:
    plugged = question.config.partitioner
    if question.record.partition is None and plugged is not None:
        return {"partition": plugged.returns}
    return _RULE.ask(question, at)


def _on(change: Callable[[Any], Any]) -> Ask:
    """The rule, asked a question that was changed on the way."""
    return lambda question, at: _RULE.ask(change(question), at)


def _as_if(version: str) -> Ask:
    return lambda question, _: _RULE.ask(question, parse_release(version))


_MISTAKES: tuple[tuple[str, str, Ask, Release], ...] = (
    ("available-only", "keys go over the partitions that have a leader", _on(_available_only), NEWEST),
    ("next-led", "a key whose partition has no leader goes to the next one that has", _next_led, NEWEST),
    ("empty-key-is-none", "an empty key counts as no key", _on(_empty_is_none), NEWEST),
    ("null-key-is-empty", "no key is hashed as an empty one", _on(_null_is_empty), NEWEST),
    ("keys-not-ignored", "partitioner.ignore.keys is not looked at", _on(_keys_not_ignored), NEWEST),
    ("unplugged", "a partitioner that was plugged in is not asked", _on(_unplugged), NEWEST),
    ("negative-unchecked", "a negative answer of the partitioner goes through", _unchecked, NEWEST),
    ("as-3.2", "the choice is not left to the accumulator", _as_if("3.2.3"), NEWEST),
    ("as-3.1", "3.2 taken for 3.1: a negative answer goes through", _as_if("3.1.2"), parse_release("3.2.3")),
    ("as-0.10.0", "a partition named in the record has to exist", _as_if("0.10.0.1"), parse_release("0.11.0.3")),
    ("as-0.11", "a partition named in the record need not exist", _as_if("0.11.0.3"), parse_release("0.10.0.1")),
    (
        "index-for-id",
        "an index among the available ones is answered as an id",
        _on(_index_for_id),
        parse_release("2.8.2"),
    ),
)

MUTANTS = tuple(Mutant(slug, _RULE.slug, story, ask, at) for slug, story, ask, at in _MISTAKES)
