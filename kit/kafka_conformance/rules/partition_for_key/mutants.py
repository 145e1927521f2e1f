"""Mistakes between the hash and the partition: what is done about its sign, and what counts as a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_conformance.core.mutant import Ask, Mutant, replaced
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.mutants import asked_bytes, signed
from kafka_reference.errors import ArithmeticException
from kafka_reference.java.int32 import INT_MAX
from kafka_reference.partitioning.murmur2_fast import MASK, murmur2
from kafka_reference.releases import Release

__all__ = ["FOLDS", "MUTANTS", "folded"]

_RULE = "partition-for-key"


def _rem(dividend: int, divisor: int) -> int:
    """Java's ``%``: the sign of the dividend."""
    left = abs(dividend) % abs(divisor)
    return -left if dividend < 0 else left


def _negated(h: int, n: int) -> int:
    return _rem(signed(-h) if h < 0 else h, n)


def _by_doubles(h: int, n: int) -> int:
    return int((h & INT_MAX) / n % 1 * n)


FOLDS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "sign-abs": ("the sign is dropped by abs", lambda h, n: abs(h) % n),
    "sign-negate": ("a negative hash is negated in 32 bits, which leaves 0x80000000 negative", _negated),
    "sign-inverted": ("a negative hash has all its bits turned", lambda h, n: (~h if h < 0 else h) % n),
    "unsigned": ("the hash is taken as unsigned", lambda h, n: (h & MASK) % n),
    "sign-kept": ("the remainder of the signed hash", _rem),
    "float-arithmetic": ("the fraction of a division in doubles, times the count", _by_doubles),
    "shift": ("the sign is shifted out, and with it the lowest bit", lambda h, n: ((h & MASK) >> 1) % n),
}


def folded(fold: Callable[[int, int], int], hashes: Callable[[bytes], int] = murmur2) -> Ask:
    """The rule, with another way from the hash to the partition, or with another hash.

    ``fold`` takes an int32 and how many partitions there are, ``hashes`` a key.
    """

    def answer(question: Any, _: Release) -> Answer:
        hashed = hashes(asked_bytes(question))
        if question.partitions == 0:
            raise ArithmeticException
        return {"partition": fold(hashed, abs(question.partitions))}

    return answer


def _key_as(given: str | None, taken: str | None) -> Ask:
    """The rule, with one key taken for another."""

    def answer(question: Any, at: Release) -> Answer:
        return RULES[_RULE].ask(replaced(question, key=taken) if question.key == given else question, at)

    return answer


def _count_refused(question: Any, at: Release) -> Answer:
    if question.partitions < 0:
        raise ArithmeticException
    return RULES[_RULE].ask(question, at)


MUTANTS = (
    *(Mutant(slug, _RULE, story, folded(fold)) for slug, (story, fold) in FOLDS.items()),
    Mutant("null-hashed-as-empty", _RULE, "no key is hashed as an empty one", _key_as(None, "")),
    Mutant("empty-taken-for-null", _RULE, "an empty key counts as no key", _key_as("", None)),
    Mutant("negative-count-raises", _RULE, "a negative count is refused, which Java does not do", _count_refused),
)
