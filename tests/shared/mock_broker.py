"""The broker that librdkafka simulates in this process: four partitions a topic, no Java."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["PARTITIONS", "MockBroker", "mock_broker"]

PARTITIONS = 4


class MockBroker:
    """``bootstrap`` is its address."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        brokers = producer.list_topics(timeout=10).brokers.values()
        self.bootstrap = ",".join(f"{each.host}:{each.port}" for each in brokers)

    def write(self, topic: str, records: Iterable[tuple[int, bytes | None, int]]) -> None:
        """Write records of a partition, a key and a timestamp, in order."""
        for partition, key, time in records:
            self._producer.produce(topic, b"value", key, partition, timestamp=time)
        assert self._producer.flush(30) == 0


@contextmanager
def mock_broker() -> Iterator[MockBroker]:
    """A broker for as long as the block lasts."""
    from confluent_kafka import Producer

    settings = {"bootstrap.servers": "ignored:1", "test.mock.num.brokers": 1, "log_level": 0, "linger.ms": 1}
    producer = Producer({**settings, "max.in.flight": 1})
    yield MockBroker(producer)
    del producer
