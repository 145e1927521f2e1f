"""Candidates about keys that are not mutants: other hashes, combinations of two mistakes, and mistakes within another rule.

=======================  ==============================================================================================
``murmur2``              the other hashes (``key_hashes``), and Kafka's hash with its sign bit cleared
``partition-for-key``    every known hash with Kafka's way from a hash to a partition, and with each known other way
rules with more than a   each of these for the partition of its keys; in ``producer-partition`` also over the available
key                      partitions only
=======================  ==============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any
from unittest.mock import patch

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Difference, size_of
from kafka_conformance.core.protocol import Answer
from kafka_conformance.gate.diagnosis.candidate import Candidate, answer_by, line_of, mutant_candidate
from kafka_conformance.gate.diagnosis.key_hashes import LAST_SCHEMA_ID, KeyHash, key_hashes, of_schema, other_hashes
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.mutants import key_bytes
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.rules.partition_for_key.hashed_partition_mutants import masked
from kafka_conformance.rules.partition_for_key.mutants import FOLDS, folded
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion
from kafka_reference.errors import ArithmeticException
from kafka_reference.java.int32 import INT_MAX, int32
from kafka_reference.partitioning import default, producer
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.releases import Release

__all__ = ["KEYED", "keyed_candidates", "placed_keys"]

KEYED, _PRODUCER = "partition-for-key", "producer-partition"
_HASHED_WITHIN = {_PRODUCER: producer, "default-partitioner": default}
"""Rules with a key as part of the question, and the reference module that computes the key's partition."""
_LOOKED_AT, _ASKED = 24, 200
_AVAILABLE = (
    "https://github.com/dpkp/kafka-python/blob/1.4.7/kafka/partitioner/hashed.py",
    "https://github.com/collectd/collectd/pull/853",
)


def keyed_candidates(slug: str, release: Release, wrong: Sequence[Difference]) -> Iterator[Candidate]:
    """Yield the candidates about keys for a rule, the simplest first; none for a rule without keys."""
    if slug == "murmur2":
        yield from (mutant_candidate(mutant, release) for mutant in _other_hashes())
    elif slug == KEYED:
        yield from (mutant_candidate(mutant, release) for mutant in _placed())
    elif slug in _HASHED_WITHIN:
        yield from _placed_within(slug, release)
    if slug in ("murmur2", KEYED):
        yield from _schema_prefix(slug, release, wrong)


def placed_keys(answers: Sequence[tuple[Any, Answer]]) -> list[tuple[Any, Answer]]:
    """Return up to ``_ASKED`` answers of ``partition-for-key`` about a key that is not empty and at least two partitions."""
    plain = [(question, answer) for question, answer in answers if question.key and question.partitions > 1]
    return sorted(plain, key=lambda one: (len(one[0].key), one[0].key, one[0].partitions))[:_ASKED]


@cache
def _other_hashes() -> tuple[Mutant, ...]:
    masked_sign = KeyHash(
        "sign-masked", "returns the hash with its sign bit cleared", lambda key: murmur2(key) & INT_MAX
    )
    return tuple(_hash_mutant(one, "murmur2") for one in (*other_hashes(), masked_sign))


def _hash_mutant(one: KeyHash, rule: str) -> Mutant:
    def answer(question: Any, _: Release) -> Answer:
        return {"hash": int32(one.hashes(key_bytes(question)))}

    return Mutant(one.slug, rule, one.description, answer, references=one.references)


@cache
def _placed() -> tuple[Mutant, ...]:
    """Return every known hash with every known way to a partition; mutants of the rule are not repeated."""
    references = {mutant.slug: mutant.references for mutant in MUTANTS}
    found = [_placed_by(one, masked, one.slug, one.description, one.references) for one in key_hashes()]
    for one in key_hashes():
        for fold, (description, folds) in FOLDS.items():
            both = tuple(dict.fromkeys((*one.references, *references[fold])))
            found.append(_placed_by(one, folds, f"{one.slug}+{fold}", f"{one.description}; and {description}", both))
    return (*found, *map(_undivided, other_hashes()))


def _placed_by(
    one: KeyHash, fold: Callable[[int, int], int], slug: str, description: str, references: tuple[str, ...]
) -> Mutant:
    hashes = lru_cache(maxsize=4096)(lambda key: int32(one.hashes(key)))
    return Mutant(slug, KEYED, description, folded(fold, hashes), references=references)


def _undivided(one: KeyHash) -> Mutant:
    """Return the remainder of the whole hash, however many bits it has."""

    def answer(question: Any, _: Release) -> Answer:
        hashed = one.hashes(key_bytes(question))
        if question.partitions == 0:
            raise ArithmeticException
        return {"partition": hashed % abs(question.partitions)}

    description = f"{one.description}; and takes the remainder of the whole hash"
    return Mutant(f"{one.slug}+whole", KEYED, description, answer, references=one.references)


@cache
def _placed_within(slug: str, release: Release) -> tuple[Candidate, ...]:
    """Return the mistakes of ``partition-for-key`` in another rule."""
    mutants = (*(mutant for mutant in MUTANTS if mutant.rule == KEYED), *_placed())
    if slug != _PRODUCER:
        return tuple(mutant_candidate(_within(slug, mutant), release, mutant.ask) for mutant in mutants)
    right = Mutant("key", KEYED, "", RULES[KEYED].ask)
    return (
        *(_of_producer(mutant, release) for mutant in mutants),
        *(_over_available(mutant, release) for mutant in (right, *mutants)),
    )


def _within(slug: str, mutant: Mutant) -> Mutant:
    """Return the mistake about a key's partition as a mutant of a rule that computes one."""

    def ask(question: Any, release: Release) -> Answer:
        with patch.object(_HASHED_WITHIN[slug], "partition_for_key", partition_for_key):
            return RULES[slug].ask(question, release)

    def partition_for_key(key: bytes | None, partitions: int) -> Any:
        answer = mutant.ask(PartitionForKeyQuestion(None if key is None else key.hex(), partitions), mutant.release)
        return answer["partition"]

    return Mutant(f"key:{mutant.slug}", slug, f"of a key: {mutant.description}", ask, mutant.release, mutant.references)


def _of_producer(mutant: Mutant, release: Release) -> Candidate:
    """Return the mistake about a key's partition in ``producer-partition``; it calls the rule only where it has to."""
    whole = mutant_candidate(_within(_PRODUCER, mutant), release, mutant.ask)

    def answer(question: Any, right: Answer) -> Answer | None:
        if not _goes_by_key(question):
            return right
        if question.config.ignore_keys:  # it depends on the release
            return whole.answer(question, right)
        asked = PartitionForKeyQuestion(question.record.key, len(question.cluster.partitions))
        return answer_by(mutant.ask, mutant.release)(asked, right)

    return replace(whole, answer=answer)


def _goes_by_key(question: Any) -> bool:
    """Whether the partition of a record follows from its key, unless keys are ignored."""
    record, config = question.record, question.config
    keyed = record.partition is None and config.partitioner is None and record.key is not None
    return keyed and bool(question.cluster.partitions)


def _over_available(mutant: Mutant, release: Release) -> Candidate:
    """Return the mistake over the partitions with a leader, by their ids; over all of them if none has one."""

    def answer(question: Any, right: Answer) -> Answer | None:
        if not _goes_by_key(question) or question.config.ignore_keys:
            return right
        partitions = question.cluster.partitions
        ids = [one.id for one in partitions if one.leader is not None] or [one.id for one in partitions]
        placed = answer_by(mutant.ask, release)(PartitionForKeyQuestion(question.record.key, len(ids)), right) or {}
        place = placed.get("partition")
        return {"partition": ids[place]} if isinstance(place, int) and 0 <= place < len(ids) else placed

    name = "key-over-available" if mutant.slug == "key" else f"key:{mutant.slug}+over-available"
    description = "places keys over the available partitions only, by their ids"
    text = f"{description}; and of a key: {mutant.description}" if mutant.description else description
    return Candidate(name, text, answer, (*mutant.references, *_AVAILABLE), placing=mutant.ask)


def _schema_prefix(slug: str, release: Release, wrong: Sequence[Difference]) -> Iterator[Candidate]:
    """Yield the hash behind a schema registry's prefix, with the id that the first wrong answers show."""
    keyed = [one for one in wrong if not {"raises"} & {*one.expected, *one.actual}]
    seen = [(one.question, line_of(one.actual)) for one in sorted(keyed, key=size_of)[:_LOOKED_AT]]
    for number in range(1, LAST_SCHEMA_ID + 1) if seen else ():
        description = f"hashes the key behind a schema registry's prefix: a byte 0, and the id {number} in four bytes"
        one = KeyHash("schema-registry-prefix", description, of_schema(number),
                      ("https://github.com/MaterializeInc/materialize/issues/26353",))  # fmt: skip
        mutant = (
            _hash_mutant(one, slug)
            if slug == "murmur2"
            else _placed_by(one, masked, one.slug, description, one.references)
        )
        found = mutant_candidate(mutant, release)
        if all(
            line_of(answer) == line for question, line in seen if (answer := found.answer(question, {})) is not None
        ):
            yield Candidate(found.slug, found.description, found.answer, found.references, tries=LAST_SCHEMA_ID)
            return
