"""Collections that the assignors copy, and the sizes that depend on the JDK.

``new HashSet(collection)`` of exactly 12, 24, 48 … elements makes a larger table up to JDK 18 than since, and so another
order of iteration. Kafka runs on both, so no question makes Java copy a collection of such a size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from kafka_conformance.rules.common.server_assignors.question import AskedPartition, ServerAssignorQuestion

__all__ = ["copied_alike", "copied_sizes", "resized", "without_unlike"]


def copied_alike(count: int) -> bool:
    """Return whether every JDK copies a collection of this size into a HashSet of the same size."""
    return count < 12 or count % 3 > 0 or (count // 3).bit_count() > 1


def copied_sizes(question: ServerAssignorQuestion) -> Iterator[int]:
    """Yield the sizes of the collections that some assignor copies."""
    yield _subscribed_partitions(question)
    for member in question.members:
        yield len(set(member.topics))
        yield from Counter(topic for topic, _ in member.assigned).values()


def without_unlike(partitions: Iterable[AskedPartition]) -> tuple[AskedPartition, ...]:
    """Return a member's partitions, without one of each topic whose number of partitions JDKs copy differently."""
    kept: list[AskedPartition] = []
    by_topic: dict[str, list[AskedPartition]] = {}
    for partition in partitions:
        by_topic.setdefault(partition[0], []).append(partition)
    for same in by_topic.values():
        kept += same if copied_alike(len(same)) else same[1:]
    return tuple(kept)


def resized(question: ServerAssignorQuestion) -> ServerAssignorQuestion:
    """Return the question with a partition more if JDKs would copy as many partitions differently."""
    if copied_alike(_subscribed_partitions(question)):
        return question
    names = {name for member in question.members for name in member.topics}
    largest = max((one for one in question.topics if one.name in names), key=lambda one: one.partitions or 0)
    more = replace(largest, partitions=(largest.partitions or 0) + 1, racks=largest.racks + largest.racks[:1])
    return replace(question, topics=tuple(more if one is largest else one for one in question.topics))


def _subscribed_partitions(question: ServerAssignorQuestion) -> int:
    """Return the number of partitions of all topics that have a subscriber."""
    names = {name for member in question.members for name in member.topics}
    return sum(topic.partitions or 0 for topic in question.topics if topic.described and topic.name in names)
