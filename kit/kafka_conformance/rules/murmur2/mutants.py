"""Mistakes in the hash of a key: another hash, or murmur2 with one thing changed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import starmap
from typing import Any

import mmh3

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Answer
from kafka_reference.errors import NullPointerException
from kafka_reference.java.int32 import int32, uint32
from kafka_reference.partitioning.murmur2 import SEED, M
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.partitioning.partitioner import fnv1a
from kafka_reference.releases import Release

__all__ = ["HASHES", "MUTANTS", "hash_mutant", "key_bytes"]


def _murmur2_but(
    key: bytes,
    *,
    m: int = M,
    seed: int = SEED,
    order: Any = "little",
    signed_tail: bool = False,
    length: int | None = None,
) -> int:
    """Return murmur2, as ``kafka_reference.partitioning.murmur2`` has it, with something changed."""
    h = seed ^ (len(key) if length is None else length)
    whole = len(key) - len(key) % 4
    for start in range(0, whole, 4):
        k = uint32(int.from_bytes(key[start : start + 4], order) * m)
        h = uint32(h * m ^ (k ^ k >> 24) * m)
    if tail := key[whole:]:
        for place, byte in enumerate(tail):
            h ^= (byte - 256 if signed_tail and byte >= 0x80 else byte) << 8 * place
        h = uint32(h * m)
    h = uint32((h ^ h >> 13) * m)
    return int32(h ^ h >> 15)


def _times_31(start: int, key: bytes, signed_bytes: bool) -> int:
    h = start
    for byte in key:
        h = 31 * h + (byte - 256 if signed_bytes and byte >= 0x80 else byte)
    return int32(h)


def _murmur2_64a(key: bytes) -> int:
    m, mask = 0xC6A4A7935BD1E995, (1 << 64) - 1
    h = SEED ^ len(key) * m & mask
    whole = len(key) & ~7
    for at in range(0, whole, 8):
        k = int.from_bytes(key[at : at + 8], "little") * m & mask
        h = (h ^ (k ^ k >> 47) * m & mask) * m & mask
    if tail := key[whole:]:
        h = (h ^ int.from_bytes(tail, "little")) * m & mask
    h = (h ^ h >> 47) * m & mask
    return int32(h ^ h >> 47)


def _characters(key: bytes) -> int:
    return len(key.decode("utf-8", errors="replace"))


_UNSIGNED = (
    "https://github.com/platformatic/kafka/issues/121",
    "https://github.com/kafkaex/kafka_ex/issues/398",
    "https://github.com/thomhurst/Dekaf/issues/1336",
    "https://github.com/confluentinc/librdkafka/pull/1816",
)
_CRC32 = (
    "https://github.com/tulios/kafkajs/issues/1154",
    "https://github.com/confluentinc/confluent-kafka-dotnet/issues/165",
    "https://github.com/fluent/fluent-plugin-kafka/pull/405",
    "https://github.com/segmentio/kafka-go/issues/138",
)
_FNV_1A = ("https://github.com/IBM/sarama/issues/1424", "https://github.com/birdayz/kaf/issues/400")
_NO_SEED = ("https://github.com/nodefluent/node-sinek/issues/39",)
_SCALA = (
    "https://github.com/apache/kafka/blob/0.10.0.0/core/src/main/scala/kafka/producer/ByteArrayPartitioner.scala",
)
_MISTAKES: tuple[tuple[str, str, Callable[[bytes], int], tuple[str, ...]], ...] = (
    ("one-bit", "the multiplier has one wrong bit", lambda key: _murmur2_but(key, m=M ^ 1), ()),
    ("seed-left-out", "the seed is missing", lambda key: _murmur2_but(key, seed=0), _NO_SEED),
    ("signed-tail", "left-over bytes of 0x80 and more count as negative",
     lambda key: _murmur2_but(key, signed_tail=True), ()),
    ("big-endian", "words are read big-endian", lambda key: _murmur2_but(key, order="big"), ()),
    ("length-in-characters", "the length counts characters", lambda key: _murmur2_but(key, length=_characters(key)), ()),
    ("unsigned-hash", "the hash is not a signed int", lambda key: uint32(murmur2(key)), _UNSIGNED),
    ("crc32", "CRC32, librdkafka's default, instead of murmur2", lambda key: int32(zlib.crc32(key)), _CRC32),
    ("fnv-1a", "FNV-1a, sarama's default, instead of murmur2", fnv1a, _FNV_1A),
    ("murmur3", "murmur3 with Kafka's seed instead of murmur2", lambda key: mmh3.hash(key, SEED), ()),
    ("murmur2-64a", "the 64-bit murmur2, cut to 32 bits", _murmur2_64a, ()),
    ("string-hash-code", "Java's String.hashCode of the bytes", lambda key: _times_31(0, key, signed_bytes=False), ()),
    ("arrays-hash-code", "Java's Arrays.hashCode", lambda key: _times_31(1, key, signed_bytes=True), _SCALA),
)  # fmt: skip
HASHES = {slug: (description, wrong) for slug, description, wrong, _ in _MISTAKES}


def key_bytes(question: Any) -> bytes:
    """Return the key of a question. Raises NullPointerException for null, as Java does."""
    if question.key is None:
        raise NullPointerException
    return bytes.fromhex(question.key)


def hash_mutant(slug: str, description: str, wrong: Callable[[bytes], int], references: tuple[str, ...]) -> Mutant:
    """Return the mutant that hashes by ``wrong``."""

    def answer(question: Any, _: Release) -> Answer:
        return {"hash": wrong(key_bytes(question))}

    return Mutant(slug, "murmur2", description, answer, references=references)


MUTANTS = tuple(starmap(hash_mutant, _MISTAKES))
