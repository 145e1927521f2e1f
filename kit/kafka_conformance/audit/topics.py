"""What a broker says of its topics: Kafka's own admin client, in Spark's JVM, with the options the connector is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from kafka_conformance.errors import BadInput, KitError
from kafka_conformance.pipeline.spark_session import Spark

__all__ = ["LIMIT_S", "Topics", "kafka_options"]

LIMIT_S = 20
"""Seconds for a broker to answer."""


def kafka_options(bootstrap: str, others: Mapping[str, str]) -> dict[str, str]:
    """The connector's options, with limits on its waiting where the user has set none."""
    limits = {"kafka.default.api.timeout.ms": str(1000 * LIMIT_S), "kafka.request.timeout.ms": str(1000 * LIMIT_S // 2)}
    mine = {
        "kafka.bootstrap.servers": bootstrap,
        "failOnDataLoss": "true",
        "kafkaConsumer.pollTimeoutMs": str(1000 * LIMIT_S),
    }
    return {**limits, **mine, **others}


class Topics:
    """An admin client, as a context manager. ``options`` are the connector's; those that begin with ``kafka.`` count."""

    def __init__(self, spark: Spark, options: Mapping[str, str]) -> None:
        self._spark, self._where = spark, options.get("kafka.bootstrap.servers", "")
        jvm = spark.jvm
        properties = jvm.java.util.Properties()
        for name, value in options.items():
            if name.startswith("kafka."):
                properties.put(name.removeprefix("kafka."), value)
        self._admin = self._asked(lambda: jvm.org.apache.kafka.clients.admin.Admin.create(properties))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):  # the JVM may have gone, which is told elsewhere
            self._admin.close(self._spark.jvm.java.time.Duration.ofSeconds(1))

    @property
    def admin(self) -> Any:
        """The ``org.apache.kafka.clients.admin.Admin``."""
        return self._admin

    def get(self, future: Callable[[], Any], doing: str = "") -> Any:
        """What a ``KafkaFuture`` comes to. Raises KitError, naming the broker."""
        seconds = self._spark.jvm.java.util.concurrent.TimeUnit.SECONDS
        return self._asked(lambda: future().get(LIMIT_S, seconds), doing)

    def spans(self, topic: str) -> dict[int, tuple[int, int]]:
        """By partition, the first offset and the one after the last. Raises BadInput where there is no such topic."""
        numbers = self._partitions(topic)
        kafka = self._spark.jvm.org.apache.kafka

        def offsets(spec: Any) -> dict[int, int]:
            asked = self._spark.jvm.java.util.HashMap()
            for number in numbers:
                asked.put(kafka.common.TopicPartition(topic, number), spec)
            found = self.get(lambda: self._admin.listOffsets(asked).all(), f"the offsets of {topic}")
            return {int(each.partition()): int(found[each].offset()) for each in found}

        specs = kafka.clients.admin.OffsetSpec
        first, end = offsets(specs.earliest()), offsets(specs.latest())
        return {number: (first[number], end[number]) for number in numbers}

    def _partitions(self, topic: str) -> list[int]:
        names = self._spark.jvm.java.util.Collections.singletonList(topic)
        try:
            described = self.get(lambda: self._admin.describeTopics(names).allTopicNames())
        except KitError as error:
            if "UnknownTopicOrPartition" in str(error) or "InvalidTopic" in str(error):
                raise BadInput(f"there is no topic {topic} at {self._where}") from error
            raise
        return sorted(int(each.partition()) for each in described[topic].partitions())

    def _asked(self, work: Callable[[], Any], doing: str = "") -> Any:
        return self._spark.call(work, f"the broker at {self._where}" + (f", {doing}" if doing else ""))
