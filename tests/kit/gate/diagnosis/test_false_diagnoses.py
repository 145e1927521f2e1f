"""Clients with mistakes of their own get no diagnosis that their answers refute, whatever the seed."""

from __future__ import annotations

import hashlib
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from placements import keyed_question, producer_question

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Answered, Question
from kafka_conformance.gate.diagnosis.diagnosis import diagnose
from kafka_conformance.gate.diagnosis.keyed_candidates import placed_keys
from kafka_conformance.gate.diagnosis.xxhash import xxh32
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.mutants import fnv1a
from kafka_conformance.rules.murmur2.ported_hash_mutants import kafka_node, low_bytes
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.releases import NEWEST

KEYED, PRODUCER = RULES["partition-for-key"], RULES["producer-partition"]
SEEDS, EXAMPLES = range(10), 150


@dataclass(frozen=True)
class Client:
    """How a client places keys: its hash, modulo the partitions, and whether these are the available ones."""

    hashes: Callable[[bytes], int]
    over_available: bool = False
    null_is_empty: bool = False
    partition_for_key: Callable[[bytes], int] | None = None
    """Its hash in ``partition-for-key``, if its own function differs from what its producer does."""
    empty_is_none: bool = False
    """Whether it sends a record with an empty key to the first partition."""

    def answer(self, question: Any, right: Answer) -> Answer:
        """Return the answer to a question of either rule; the right one where nothing is placed by a key."""
        if hasattr(question, "partitions"):
            if question.partitions <= 0 or question.key is None:
                return right
            if self.empty_is_none and not question.key:
                return {"partition": 0}
            placing = self.partition_for_key or self.hashes
            return {"partition": placing(bytes.fromhex(question.key)) % question.partitions}
        record, ids = question.record, [one.id for one in question.cluster.partitions]
        if record.partition is not None or question.config.partitioner is not None or not ids:
            return right
        if record.key is None and not self.null_is_empty:
            return right
        if self.over_available:
            ids = [one.id for one in question.cluster.partitions if one.leader is not None] or ids
        if self.empty_is_none and not record.key:
            return {"partition": ids[0]}
        return {"partition": ids[self.hashes(bytes.fromhex(record.key or "")) % len(ids)]}


def _java(key: bytes) -> int:
    return murmur2(key) & 0x7FFFFFFF


def _sha1(key: bytes) -> int:
    return int(hashlib.sha1(key, usedforsecurity=False).hexdigest(), 16)


def _unknown(key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "big")


CLIENTS: dict[str, tuple[Client, set[str], set[str]]] = {
    # With what may explain its answers to partition-for-key, and to producer-partition.
    "kafka-rust": (Client(xxh32, empty_is_none=True), {"xxhash32+unsigned"}, {"key:xxhash32+unsigned"}),
    "kafka-node": (
        Client(lambda key: kafka_node(key), over_available=True, null_is_empty=True),
        {"kafka-node-keyed"}, {"key:kafka-node-keyed+over-available"}),
    "kafka-python 1.4.7": (Client(_java, over_available=True), set(), {"key-over-available"}),
    "pykafka": (Client(_sha1, over_available=True), {"sha-1+whole"}, {"key:sha-1+whole+over-available"}),
    "kafkajs 1.11": (Client(_java, partition_for_key=_unknown), set(), set()),
    "an unknown hash": (Client(_unknown), set(), set()),
    "an unknown hash over available partitions": (Client(_unknown, over_available=True), set(), set()),
    "librdkafka": (Client(zlib.crc32), {"librdkafka-consistent"}, {"key:librdkafka-consistent"}),
    "kafka-go's reference hash": (
        Client(lambda key: fnv1a(key) & 0x7FFFFFFF), {"sarama-reference-hash"}, {"key:sarama-reference-hash"}),
    "one counter": (Client(lambda key: len(key) * 7 + 1), set(), set()),
    "text for bytes, twice": (Client(lambda key: murmur2(low_bytes(low_bytes(key))) & 0x7FFFFFFF), set(), set()),
}  # fmt: skip


@cache
def questions(slug: str, seed: int) -> tuple[tuple[Question, Answer], ...]:
    """Return questions that users can meet, with the right answers."""
    chance, rule = random.Random(seed), RULES[slug]
    asked = [(keyed_question if rule is KEYED else producer_question)(chance) for _ in range(EXAMPLES)]
    found = ((one, outcome_of(rule.ask, one, NEWEST)) for one in asked)
    return tuple((one, outcome.answer) for one, outcome in found if isinstance(outcome, Answered))


def judged(
    client: Client, asked: Sequence[tuple[Question, Answer]]
) -> tuple[list[Difference], list[tuple[Question, Answer]]]:
    wrong, right = [], []
    for question, expected in asked:
        actual = client.answer(question, expected)
        if actual == expected:
            right.append((question, expected))
        else:
            wrong.append(Difference(question, expected, actual))
    return wrong, right


@pytest.mark.parametrize("name", CLIENTS)
def test_simulated_client_libraries_get_exactly_the_expected_hash_diagnoses_over_ten_seeds(name: str) -> None:
    client, of_key, of_producer = CLIENTS[name]
    found = set()
    for seed in SEEDS:
        wrong, right = judged(client, questions(KEYED.slug, seed))
        keyed = {one.diagnosis.mutant for one in diagnose(KEYED, NEWEST, wrong, right)}
        placed = placed_keys([*right, *((one.question, one.actual) for one in wrong)])
        wrong, right = judged(client, questions(PRODUCER.slug, seed))
        producer = {one.diagnosis.mutant for one in diagnose(PRODUCER, NEWEST, wrong, right, placed)}
        assert (keyed - of_key, producer - of_producer) == (set(), set()), seed
        found |= keyed | producer
    assert found == of_key | of_producer, "a true diagnosis is missing"


def test_correct_partition_for_key_answers_refute_a_hash_diagnosis_of_the_producer() -> None:
    """The producer seems to use CRC32, and partition-for-key shows that it does not."""
    client = Client(zlib.crc32)
    wrong, right = judged(client, questions(PRODUCER.slug, 1))
    assert [one.diagnosis.mutant for one in diagnose(PRODUCER, NEWEST, wrong, right)] == ["key:librdkafka-consistent"]
    agrees = placed_keys(questions(KEYED.slug, 1))
    assert diagnose(PRODUCER, NEWEST, wrong, right, agrees) == ()


def test_partition_for_key_answers_by_another_hash_refute_the_producer_diagnosis() -> None:
    wrong, right = judged(Client(zlib.crc32), questions(PRODUCER.slug, 1))
    others = [(one, {"partition": _unknown(bytes.fromhex(one.key)) % one.partitions})  # type: ignore[attr-defined]
              for one, _ in questions(KEYED.slug, 1) if one.key and one.partitions > 0]  # type: ignore[attr-defined]  # fmt: skip
    assert diagnose(PRODUCER, NEWEST, wrong, right, placed_keys(others)) == ()
