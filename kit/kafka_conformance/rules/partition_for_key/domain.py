"""Which questions of ``partition-for-key`` a user can bring about: a record with a key, to a topic with partitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle, islice

from kafka_conformance.rules.common.domains import partition_count_domain
from kafka_conformance.rules.common.everyday import PARTITION_COUNTS, everyday_keys
from kafka_conformance.rules.partition_for_key.question import PartitionForKeyQuestion

__all__ = ["domain", "nearest", "plain"]


def domain(question: PartitionForKeyQuestion) -> str:
    """Return why no user can bring the question about, or ""."""
    return (
        "a record without a key is not hashed" if question.key is None else partition_count_domain(question.partitions)
    )


def nearest(question: PartitionForKeyQuestion) -> PartitionForKeyQuestion:
    """Return the question with an empty key in place of none, and a count of 1 to 1,000 in place of no topic's."""
    count = question.partitions
    return PartitionForKeyQuestion(
        question.key or "", abs(count) % 1000 + 1 if partition_count_domain(count) else count
    )


def plain() -> Iterator[PartitionForKeyQuestion]:
    """Yield everyday keys and counts."""
    pairs = zip(islice(everyday_keys(), 1200), cycle(PARTITION_COUNTS), strict=False)
    return (PartitionForKeyQuestion(key.hex(), count) for key, count in pairs)
