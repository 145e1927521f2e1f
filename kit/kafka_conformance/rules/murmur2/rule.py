"""The rule ``murmur2``: the hash of a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Area, Columns, Rule, Space
from kafka_conformance.rules.common.keys import HASHES, REQUIRED_LABELS, every_tail, key_labels, key_with_hash, keys
from kafka_conformance.rules.murmur2.domain import domain, nearest, plain
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.releases import Release, since

__all__ = ["RULE"]


def _ask(question: Murmur2Question, _: Release) -> Answer:
    return {"hash": murmur2(None if question.key is None else bytes.fromhex(question.key))}  # type: ignore[arg-type]


def _question(key: bytes | None, _: int = 0) -> Murmur2Question:
    return Murmur2Question(None if key is None else key.hex())


def _labels(question: Murmur2Question) -> Iterator[str]:
    return key_labels(None if question.key is None else bytes.fromhex(question.key))


def _edges() -> Iterator[Murmur2Question]:
    yield _question(None)
    yield from map(_question, every_tail())
    yield from (_question(key_with_hash(prefix, hashed)) for hashed in HASHES for prefix in (b"", b"\xff" * 8))


def _column(offsets: Any, data: Any, _: int) -> Any:
    from kafka_reference import bulk

    return bulk.murmur2_columns(offsets, data)


RULE = Rule(
    slug="murmur2",
    title="the hash of a key",
    area=Area.PLACEMENT,
    releases=since("0.10.0.0"),
    question=Murmur2Question,
    ask=_ask,
    strategy=lambda: st.one_of(st.none(), keys()).map(_question),
    spaces=(Space("every length 0-64 with every left-over byte at 0x00, 0x7f, 0x80, 0xff; edge hashes; null", _edges),),
    labels=_labels,
    required_labels=REQUIRED_LABELS,
    domain=domain,
    nearest=nearest,
    plain=plain,
    java=((since("0.10.0.0"), "kafkaoracle.murmur2.Murmur2Rule"),),
    source="org.apache.kafka.common.utils.Utils.murmur2(byte[])",
    harness="None: the rule calls Utils.murmur2.",
    links=("https://issues.apache.org/jira/browse/KAFKA-2091",),
    columns=Columns((0,), _column, lambda key, _: murmur2(key), _question, "hash"),
)
