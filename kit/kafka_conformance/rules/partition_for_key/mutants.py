"""Mistakes between the hash and the partition: the sign of the hash, and what counts as a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.mutants import key_bytes
from kafka_reference.errors import ArithmeticException
from kafka_reference.java.int32 import INT_MAX, int32, uint32
from kafka_reference.partitioning.murmur2_fast import murmur2
from kafka_reference.releases import Release

__all__ = ["FOLDS", "MUTANTS", "folded", "remainder"]

_RULE = "partition-for-key"


def remainder(dividend: int, divisor: int) -> int:
    """Return Java's ``dividend % divisor``, which has the sign of the dividend; Python's has that of the divisor."""
    rest = abs(dividend) % abs(divisor)
    return -rest if dividend < 0 else rest


def _negated(h: int, n: int) -> int:
    return remainder(int32(-h) if h < 0 else h, n)


def _by_doubles(h: int, n: int) -> int:
    return int((h & INT_MAX) / n % 1 * n)


_UNSIGNED = (
    "https://github.com/platformatic/kafka/issues/121",
    "https://github.com/kafkaex/kafka_ex/issues/398",
    "https://github.com/thomhurst/Dekaf/issues/1336",
    "https://github.com/confluentinc/librdkafka/pull/1816",
)
_ABS = ("https://github.com/IBM/sarama/pull/1114", "https://github.com/dpkp/kafka-python/issues/374")
_NEGATE = ("https://github.com/IBM/sarama/pull/709", "https://github.com/elastic/beats/pull/25048")
_KEPT = (
    "https://github.com/rsyslog/rsyslog/pull/695",
    "https://github.com/GoogleCloudPlatform/pubsub/issues/104",
)
_NULL_IS_EMPTY = (
    "https://github.com/google/go-cloud/pull/2941",
    "https://github.com/Aiven-Open/karapace/pull/662",
    "https://github.com/IBM/sarama/issues/1957",
)
_EMPTY_IS_NULL = (
    "https://github.com/confluentinc/librdkafka/issues/4510",
    "https://github.com/SOHU-Co/kafka-node/pull/265",
    "https://github.com/segmentio/kafka-go/issues/581",
)
_FOLDS: tuple[tuple[str, str, Callable[[int, int], int], tuple[str, ...]], ...] = (
    ("sign-abs", "drops the sign by abs", lambda h, n: abs(h) % n, _ABS),
    ("sign-negate", "negates a negative hash in 32 bits, which leaves 0x80000000 negative", _negated, _NEGATE),
    ("sign-inverted", "inverts all bits of a negative hash", lambda h, n: (~h if h < 0 else h) % n, ()),
    ("unsigned", "takes the hash as unsigned", lambda h, n: uint32(h) % n, _UNSIGNED),
    ("sign-kept", "takes the remainder of the signed hash", remainder, _KEPT),
    ("float-arithmetic", "multiplies the fraction of a division in doubles by the count", _by_doubles, ()),
    ("shift", "shifts the sign out, and with it the lowest bit", lambda h, n: (uint32(h) >> 1) % n, ()),
)
FOLDS = {slug: (description, fold) for slug, description, fold, _ in _FOLDS}


def folded(fold: Callable[[int, int], int], hashes: Callable[[bytes], int] = murmur2) -> Ask:
    """Answer with another way from the hash to the partition, or with another hash.

    ``fold`` takes an int32 and the number of partitions, ``hashes`` a key.
    """

    def answer(question: Any, _: Release) -> Answer:
        hashed = hashes(key_bytes(question))
        if question.partitions == 0:
            raise ArithmeticException
        return {"partition": fold(hashed, abs(question.partitions))}

    return answer


def _key_as(given: str | None, taken: str | None) -> Ask:
    """Answer with one key taken for another."""

    def answer(question: Any, release: Release) -> Answer:
        return RULES[_RULE].ask(replaced(question, key=taken) if question.key == given else question, release)

    return answer


def _count_refused(question: Any, release: Release) -> Answer:
    if question.partitions < 0:
        raise ArithmeticException
    return RULES[_RULE].ask(question, release)


MUTANTS = (
    *(
        Mutant(slug, _RULE, description, folded(fold), references=references)
        for slug, description, fold, references in _FOLDS
    ),
    Mutant(
        "null-hashed-as-empty", _RULE, "hashes a null key as an empty one", _key_as(None, ""), references=_NULL_IS_EMPTY
    ),
    Mutant("empty-taken-for-null", _RULE, "treats an empty key as null", _key_as("", None), references=_EMPTY_IS_NULL),
    Mutant("negative-count-raises", _RULE, "throws for a negative count, which Java accepts", _count_refused),
)
