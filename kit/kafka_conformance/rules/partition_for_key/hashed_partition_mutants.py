"""Partitions by another hash: what other clients do when left to themselves, each with its own way with the sign.

A port goes wrong twice: in the hash, and in getting from it to a partition. Both together are what a client is known
by: CRC32 without a sign is librdkafka's default, CRC32 with one was sarama's until it was told.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.murmur2.mutants import HASHES, fnv1a, signed
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES, kafka_node, low_bytes
from kafka_conformance.rules.partition_for_key.mutants import folded
from kafka_reference.java.int32 import INT_MAX
from kafka_reference.partitioning.murmur2_fast import MASK

__all__ = ["MUTANTS", "masked"]

_INT_MIN = -INT_MAX - 1


def masked(h: int, n: int) -> int:
    """As the rule has it."""
    return (h & INT_MAX) % n


def _unsigned(h: int, n: int) -> int:
    return (h & MASK) % n


def _remainder_negated(h: int, n: int) -> int:
    return abs(h) % n  # the remainder of the signed hash, negated if it is below zero: in this order nothing overflows


def _abs_but_zero(h: int, n: int) -> int:
    return 0 if h == _INT_MIN else abs(h) % n


def _crc32(key: bytes) -> int:
    return signed(zlib.crc32(key))


_CLIENTS: tuple[tuple[str, str, Callable[[bytes], int], Callable[[int, int], int]], ...] = (
    ("librdkafka-consistent", "librdkafka's default, and ruby-kafka's: CRC32, unsigned", _crc32, _unsigned),
    ("sarama-crc32", "sarama's CRC32 of before it had one as librdkafka's: signed", _crc32, _remainder_negated),
    ("sarama-hash", "sarama's default, kafka-go's Hash, librdkafka's fnv1a: FNV-1a, its sign dropped",
     fnv1a, _remainder_negated),
    ("sarama-reference-hash", "sarama's and kafka-go's reference hash: FNV-1a, its sign masked", fnv1a, masked),
    ("fnv-1a-unsigned", "FNV-1a, unsigned", fnv1a, _unsigned),
    ("scala-producer", "the old Scala producer's: Arrays.hashCode, the lowest int counting as 0",
     HASHES["arrays-hash-code"][1], _abs_but_zero),
    ("kafka-node-keyed", "kafka-node's: 31 times, cut to 31 bits", kafka_node, masked),
    ("murmur3-unsigned", "node-sinek's default: murmur3 of characters without a seed, unsigned",
     lambda key: PORTED_HASHES["murmur3-no-seed"][1](low_bytes(key)), _unsigned),
    ("sinek-murmur2", "node-sinek's of 2017: murmur2 of characters without its seed, unsigned",
     lambda key: HASHES["seed-left-out"][1](low_bytes(key)), _unsigned),
    ("kafkajs-legacy", "KafkaJS's default before 2.0, its LegacyPartitioner since: murmur2 in doubles",
     PORTED_HASHES["murmur2-by-doubles"][1], masked),
    ("string-hash-code-masked", "Java's String.hashCode, its sign masked", HASHES["string-hash-code"][1], masked),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(slug, "partition-for-key", story, folded(fold, hashes)) for slug, story, hashes, fold in _CLIENTS
)
