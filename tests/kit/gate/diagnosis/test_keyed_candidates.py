"""Clients that hash other bytes than the key's, or by another hash, are recognised, alone and within a producer."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from placements import keyed_question, producer_question

from kafka_conformance.answerers.reference import outcome_of
from kafka_conformance.core.pipeline import Difference
from kafka_conformance.core.protocol import Answer, Answered, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.gate.diagnosis.diagnosis import diagnose
from kafka_conformance.gate.diagnosis.key_hashes import other_hashes
from kafka_conformance.rules import RULES
from kafka_conformance.rules.common.sequences import SequenceQuestion
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.java.int32 import int32
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.releases import NEWEST

KEYED, PRODUCER, MURMUR2 = RULES["partition-for-key"], RULES["producer-partition"], RULES["murmur2"]
KEYS = [random.Random(number).randbytes(number % 23 + 1) for number in range(60)]
PREFIX = b"\0" + (417).to_bytes(4, "big")


def named(rule: Rule, questions: list[Question], target: Callable[[Any, Answer], Answer]) -> list[str]:
    """Return the names of the known mistakes that explain a target."""
    wrong, right = [], []
    for question in questions:
        outcome = outcome_of(rule.ask, question, NEWEST)
        if not isinstance(outcome, Answered):
            continue
        actual = target(question, outcome.answer)
        if actual == outcome.answer:
            right.append((question, actual))
        else:
            wrong.append(Difference(question, outcome.answer, actual))
    return [one.diagnosis.mutant for one in diagnose(rule, NEWEST, wrong, right)]


def _java(key: bytes) -> int:
    return murmur2(key) & 0x7FFFFFFF


OTHER_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "hex-text": lambda key: key.hex().encode(),
    "base64-text": base64.b64encode,
    "json-text": lambda key: json.dumps(key.decode("utf-8", "replace"), ensure_ascii=False).encode(),
    "utf-8-replaced": lambda key: key.decode("utf-8", "replace").encode(),
    "latin-1-as-utf-8": lambda key: key.decode("latin-1").encode(),
    "numbers-and-commas": lambda key: ",".join(str(byte) for byte in key).encode(),
    "schema-registry-prefix": lambda key: PREFIX + key,
}


@pytest.mark.parametrize("slug", OTHER_BYTES)
def test_murmur2_over_re_encoded_key_is_diagnosed_by_the_encoding(slug: str) -> None:
    change, chance = OTHER_BYTES[slug], random.Random(5)

    def hashed(question: Any, right: Answer) -> Answer:
        return {"hash": murmur2(change(bytes.fromhex(question.key)))} if "hash" in right else right

    def placed(question: Any, right: Answer) -> Answer:
        if question.key is None:
            return right
        return {"partition": _java(change(bytes.fromhex(question.key))) % question.partitions}

    assert named(MURMUR2, [Murmur2Question(key.hex()) for key in KEYS], hashed) == [slug]
    assert named(KEYED, [keyed_question(chance) for _ in range(150)], placed) == [slug]


def test_diagnosis_of_schema_registry_prefix_names_the_schema_id() -> None:
    wrong = [
        Difference(Murmur2Question(key.hex()), {"hash": murmur2(key)}, {"hash": murmur2(PREFIX + key)})
        for key in KEYS[:12]
    ]
    (found,) = diagnose(MURMUR2, NEWEST, wrong, [])
    assert "id 417" in found.diagnosis.description
    assert found.diagnosis.references


@pytest.mark.parametrize(
    ("slug", "hashes"),
    [
        *((one.slug, one.hashes) for one in other_hashes() if one.slug in ("xxhash32", "xxhash64", "murmur2-in-64-bits")),
        ("sha-1", lambda key: int(hashlib.sha1(key, usedforsecurity=False).hexdigest(), 16)),
        ("sign-masked", _java),
    ],
)  # fmt: skip
def test_client_with_another_hash_is_diagnosed_by_the_name_of_that_hash(
    slug: str, hashes: Callable[[bytes], int]
) -> None:
    def target(question: Any, _: Answer) -> Answer:
        return {"hash": int32(hashes(bytes.fromhex(question.key)))}

    assert named(MURMUR2, [Murmur2Question(key.hex()) for key in KEYS], target) == [slug]


def test_keys_hashed_over_available_partitions_are_diagnosed() -> None:
    chance = random.Random(7)

    def target(question: Any, right: Answer) -> Answer:
        if question.record.key is None or question.record.partition is not None:
            return right
        partitions = question.cluster.partitions
        ids = [one.id for one in partitions if one.leader is not None] or [one.id for one in partitions]
        return {"partition": ids[_java(bytes.fromhex(question.record.key)) % len(ids)]}

    assert named(PRODUCER, [producer_question(chance) for _ in range(200)], target) == ["key-over-available"]


@pytest.mark.parametrize(("slug", "sign"), [("sequence-increment", 1), ("sequence-decrement", -1)])
def test_sequence_sum_without_int32_wraparound_is_diagnosed(slug: str, sign: int) -> None:
    near = [number for edge in (0, 2**31 - 1) for number in range(max(0, edge - 6), min(2**31 - 1, edge + 6) + 1)]
    questions: list[Question] = [SequenceQuestion(sequence, by) for sequence in near for by in range(8)]

    def target(question: Any, _: Answer) -> Answer:
        return {"sequence": question.sequence + sign * question.by}

    assert named(RULES[slug], questions, target)[0] in ("sum-in-64-bits", "decrement-never-wraps")
