"""Which questions of ``murmur2`` a user can bring about.

Every key but null, since a record without a key is not hashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kafka_conformance.rules.common.everyday import everyday_keys
from kafka_conformance.rules.murmur2.question import Murmur2Question

__all__ = ["domain", "nearest", "plain"]


def domain(question: Murmur2Question) -> str:
    """Return why no user can bring the question about, or ""."""
    return "a record without a key is not hashed" if question.key is None else ""


def nearest(question: Murmur2Question) -> Murmur2Question:
    """Return the question with an empty key in place of none."""
    return Murmur2Question(question.key or "")


def plain() -> Iterator[Murmur2Question]:
    """Yield everyday keys."""
    return (Murmur2Question(key.hex()) for key in islice(everyday_keys(), 300))
