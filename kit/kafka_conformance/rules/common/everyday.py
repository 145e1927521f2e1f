"""Everyday questions: keys, partition counts and topics as users have them, the same in every run."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kafka_conformance.rules.common.clusters import AskedCluster, AskedNode, AskedPartition

__all__ = ["PARTITION_COUNTS", "everyday_clusters", "everyday_keys", "led_cluster"]

PARTITION_COUNTS = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 32, 36, 40, 48, 50, 60, 64, 72, 96, 100, 120, 128, 200, 250,
    256, 300, 384, 500, 512, 600, 750, 1000,
)  # fmt: skip
_NODES = (AskedNode(0, "a"), AskedNode(1, "b"), AskedNode(2, "c"))
_WORDS = (
    "", "a", "42", "order-1", "customer:4711", "foo@example.com", "eu-west-1/device/0099", "Zürich", "naïve café", "Ελλάδα",
    "Привет", "東京", "こんにちは", "한국어", "مرحبا", "🎉", "👩‍👩‍👧‍👦 family", "a\tb\nc", "\x00", '{"id": 7, "name": "ä"}',
)  # fmt: skip


def everyday_keys() -> Iterator[bytes]:
    """Yield different keys without end: texts, identifiers, numbers in bytes, UUIDs; some long, the first one empty."""
    for word in _WORDS:
        yield word.encode()
    number = 0
    while True:
        number += 1
        mixed = number * 0x9E3779B97F4A7C15 % 2**64
        yield f"user-{number}".encode()
        yield str(UUID(int=mixed << 64 | number)).encode()
        yield number.to_bytes(4, "big")
        yield mixed.to_bytes(8, "big")
        yield f"Straße {number}, Königsbrück №{mixed % 97}".encode()
        yield UUID(int=mixed << 64 | number).bytes
        if number % 10 == 0:
            yield (f"{mixed:x}-ü-" * 400)[: mixed % 5000].encode()


def led_cluster(count: int) -> AskedCluster:
    """Return a topic of ``count`` partitions, all of which have a leader."""
    return AskedCluster(_NODES, tuple(AskedPartition(number, number % len(_NODES)) for number in range(count)))


def everyday_clusters() -> tuple[AskedCluster, ...]:
    """Return topics of few partitions: three led, one led, some of five led, two without a leader, six led."""
    some = AskedCluster(_NODES, tuple(AskedPartition(n, None if n in (1, 2) else n % 3) for n in range(5)))
    none = AskedCluster(_NODES, (AskedPartition(0), AskedPartition(1)))
    return led_cluster(3), led_cluster(1), some, none, led_cluster(6)
