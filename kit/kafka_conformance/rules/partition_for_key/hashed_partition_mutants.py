"""Partitions by another hash: the defaults of other clients, each with its own treatment of the sign.

A port can be wrong in the hash and in the way from it to a partition. Both together identify a client: unsigned CRC32 is
librdkafka's default, signed CRC32 was sarama's.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules.murmur2.mutants import HASHES
from kafka_conformance.rules.murmur2.ported_hash_mutants import PORTED_HASHES, kafka_node, low_bytes
from kafka_conformance.rules.partition_for_key.mutants import folded
from kafka_reference.java.int32 import INT_MAX, INT_MIN, int32, uint32
from kafka_reference.partitioning.partitioner import fnv1a

__all__ = ["MUTANTS", "masked"]


def masked(h: int, n: int) -> int:
    """Return the partition of a hash, as the rule has it."""
    return (h & INT_MAX) % n


def _unsigned(h: int, n: int) -> int:
    return uint32(h) % n


def _remainder_negated(h: int, n: int) -> int:
    return abs(h) % n  # the remainder of the signed hash, negated if negative: in this order nothing overflows


def _abs_but_zero(h: int, n: int) -> int:
    return 0 if h == INT_MIN else abs(h) % n


def _crc32(key: bytes) -> int:
    return int32(zlib.crc32(key))


_CRC32 = (
    "https://github.com/tulios/kafkajs/issues/1154",
    "https://github.com/confluentinc/confluent-kafka-dotnet/issues/165",
    "https://github.com/fluent/fluent-plugin-kafka/pull/405",
    "https://github.com/segmentio/kafka-go/issues/138",
)
_SARAMA_HASH = (
    "https://github.com/IBM/sarama/issues/1424",
    "https://github.com/birdayz/kaf/issues/400",
    "https://github.com/confluentinc/librdkafka/issues/2724",
)
_SARAMA_REFERENCE_HASH = ("https://github.com/segmentio/kafka-go/issues/905", "https://github.com/IBM/sarama/pull/1114")
_SCALA = (
    "https://github.com/apache/kafka/blob/0.10.0.0/core/src/main/scala/kafka/producer/ByteArrayPartitioner.scala",
)
_KAFKA_NODE = (
    "https://github.com/SOHU-Co/kafka-node/blob/fcc8aefc7798f6e4b79d9b5c31f047c1933329e6/lib/partitioner.js",
)
_SINEK = ("https://github.com/nodefluent/node-sinek/issues/39", "https://github.com/nodefluent/node-sinek/issues/40")
_KAFKAJS = ("https://github.com/tulios/kafkajs/issues/357", "https://github.com/tulios/kafkajs/pull/358")
_Client = tuple[str, str, Callable[[bytes], int], Callable[[int, int], int], tuple[str, ...]]
_CLIENTS: tuple[_Client, ...] = (
    ("librdkafka-consistent", "librdkafka's default, and ruby-kafka's: CRC32, unsigned", _crc32, _unsigned, _CRC32),
    ("sarama-crc32", "sarama's CRC32 before it had librdkafka's: signed", _crc32, _remainder_negated,
     ("https://github.com/IBM/sarama/issues/2430",)),
    ("sarama-hash", "sarama's default, kafka-go's Hash, librdkafka's fnv1a: FNV-1a, its sign dropped",
     fnv1a, _remainder_negated, _SARAMA_HASH),
    ("sarama-reference-hash", "sarama's and kafka-go's reference hash: FNV-1a, its sign masked", fnv1a, masked,
     _SARAMA_REFERENCE_HASH),
    ("fnv-1a-unsigned", "FNV-1a, unsigned", fnv1a, _unsigned, ()),
    ("scala-producer", "the old Scala producer: Arrays.hashCode, with the lowest int counting as 0",
     HASHES["arrays-hash-code"][1], _abs_but_zero, _SCALA),
    ("kafka-node-keyed", "kafka-node: a hash times 31, cut to 31 bits", kafka_node, masked, _KAFKA_NODE),
    ("murmur3-unsigned", "node-sinek's default: murmur3 of characters without a seed, unsigned",
     lambda key: PORTED_HASHES["murmur3-no-seed"][1](low_bytes(key)), _unsigned,
     ("https://github.com/nodefluent/node-sinek/issues/33",)),
    ("sinek-murmur2", "node-sinek in 2017: murmur2 of characters without its seed, unsigned",
     lambda key: HASHES["seed-left-out"][1](low_bytes(key)), _unsigned, _SINEK),
    ("kafkajs-legacy", "KafkaJS's default before 2.0, its LegacyPartitioner since: murmur2 in doubles",
     PORTED_HASHES["murmur2-by-doubles"][1], masked, _KAFKAJS),
    ("string-hash-code-masked", "Java's String.hashCode, its sign masked", HASHES["string-hash-code"][1], masked, ()),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(slug, "partition-for-key", description, folded(fold, hashes), references=references)
    for slug, description, hashes, fold, references in _CLIENTS
)
