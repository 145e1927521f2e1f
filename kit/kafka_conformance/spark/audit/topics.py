"""What a broker says of its topics: Kafka's own Admin, in the driver's JVM, with the options the connector is given.

A broker that cannot be reached is a line, not a wait without end: there is a limit on what is asked, and on what is waited
for. It may be set by options, like everything the connector knows (``kafka.default.api.timeout.ms``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.errors import SparkFault
from kafka_conformance.spark.session import Spark

__all__ = ["LIMIT_S", "Described", "Span", "Topics", "kafka_options"]

T = TypeVar("T")

LIMIT_S = 20
"""Seconds for a broker to answer."""

_LIMITS = {"kafka.default.api.timeout.ms": str(1000 * LIMIT_S), "kafka.request.timeout.ms": str(1000 * LIMIT_S // 2)}
_LONGER_MS = 10_000  # than Kafka's own limit, since its error says what was waited for
_CLOSE_S = 1  # not 0: Kafka would wait for its thread without end


class Span(msgspec.Struct, frozen=True):
    """A partition's offsets, from ``first`` up to but without ``end``."""

    first: int
    end: int


class Described(msgspec.Struct, frozen=True):
    """A topic as it is: ``id`` is empty where brokers are too old to have one."""

    name: str
    id: str
    partitions: int
    replication: int


def kafka_options(bootstrap: str, others: Mapping[str, str]) -> dict[str, str]:
    """The connector's options, with limits on its waiting where the user has set none.

    A consumer gives 500 records at once if it is not told otherwise, and to ask it costs more than to read so few.
    """
    mine = {
        "kafka.bootstrap.servers": bootstrap,
        "failOnDataLoss": "true",
        "kafkaConsumer.pollTimeoutMs": str(1000 * LIMIT_S),
        "kafka.max.poll.records": "10000",
    }
    return {**_LIMITS, **mine, **others}


class Topics:
    """Kafka's Admin, as a context manager. ``options`` are the connector's; those that begin with ``kafka.`` count.

    Whatever goes wrong is SparkFault, one line that names the broker, unless a method says more.
    """

    def __init__(self, spark: Spark, options: Mapping[str, str]) -> None:
        self._spark, self._where = spark, options.get("kafka.bootstrap.servers", "")
        settings = {
            name.removeprefix("kafka."): value
            for name, value in {**_LIMITS, **options}.items()
            if name.startswith("kafka.")
        }
        self.admin: Any = self._asked(lambda: self.kafka.clients.admin.Admin.create(settings))
        self._limit_ms = int(settings["default.api.timeout.ms"]) + _LONGER_MS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):  # the JVM may have gone, which is told elsewhere
            self.admin.close(self._spark.jvm.java.time.Duration.ofSeconds(_CLOSE_S))

    @property
    def kafka(self) -> Any:
        """The package ``org.apache.kafka``."""
        return self._spark.jvm.org.apache.kafka

    def get(self, future: Callable[[], Any], doing: str, read: Callable[[Any], T] = lambda told: told) -> T:
        """What a ``KafkaFuture`` comes to, as ``read`` reads it."""

        def got() -> T:
            milliseconds = self._spark.jvm.java.util.concurrent.TimeUnit.MILLISECONDS
            return read(future().get(self._limit_ms, milliseconds))

        return self._asked(got, doing)

    def find(self, name: str, patience_s: float = 0.0) -> Described | None:
        """The topic; None if there is none of that name. For so long, its partitions may be without a leader.

        Raises BadInput for what is no name of a topic, and if a partition has no leader.
        """
        limit = time.monotonic() + patience_s
        while (found := self._described(name)) is not None and not found[1]:
            if time.monotonic() >= limit:
                raise BadInput(f"a partition of {name} has no leader: wait until its broker is back")
            time.sleep(0.1)
        return None if found is None else found[0]

    def there(self, name: str, patience_s: float = 0.0) -> Described:
        """The topic, which has to be there. Raises BadInput if it is not, and like :meth:`find`."""
        if (found := self.find(name, patience_s)) is None:
            raise BadInput(f"there is no topic {name} at {self._where}")
        return found

    def _described(self, name: str) -> tuple[Described, bool] | None:
        """The topic, and whether each of its partitions has a leader."""

        def read(told: Any) -> tuple[Described, bool]:
            topic = told[name]
            partitions, known = topic.partitions(), str(topic.topicId().toString())
            unnamed = str(self.kafka.common.Uuid.ZERO_UUID.toString())
            found = Described(name, "" if known == unnamed else known, len(partitions), len(partitions[0].replicas()))
            return found, all(one.leader() is not None for one in partitions)

        try:
            return self.get(lambda: self.admin.describeTopics([name]).allTopicNames(), f"asking for topic {name}", read)
        except SparkFault as fault:
            if "UnknownTopicOrPartition" in str(fault):
                return None
            if "InvalidTopic" in str(fault):
                raise BadInput(f"{name!r} is no name for a topic") from fault
            raise

    def settings(self, name: str) -> dict[str, str]:
        """Those that the topic sets itself."""

        def read(told: Any) -> dict[str, str]:
            entries = self._spark.jvm.java.util.ArrayList(next(iter(told.values())).entries())
            return {str(one.name()): str(one.value()) for one in entries if str(one.source()) == "DYNAMIC_TOPIC_CONFIG"}

        asked = lambda: self.admin.describeConfigs([self.resource(name)]).all()  # noqa: E731
        return self.get(asked, f"asking for the settings of {name}", read)

    def resource(self, name: str) -> Any:
        """The topic as Kafka's ``ConfigResource``."""
        kind = self.kafka.common.config.ConfigResource
        return kind(kind.Type.TOPIC, name)

    def spans(self, name: str, partitions: int, *, committed: bool = False) -> dict[int, Span]:
        """By partition, the first offset and the one after the last; ``committed``: of transactions, what is committed."""

        def listed(which: str) -> dict[int, int]:
            def asked() -> Any:
                level = self.kafka.common.IsolationLevel
                options = self.kafka.clients.admin.ListOffsetsOptions(
                    level.READ_COMMITTED if committed else level.READ_UNCOMMITTED
                )
                spec = getattr(self.kafka.clients.admin.OffsetSpec, which)()
                wanted = {self.kafka.common.TopicPartition(name, number): spec for number in range(partitions)}
                return self.admin.listOffsets(wanted, options).all()

            def read(told: Any) -> dict[int, int]:
                return {int(at.partition()): int(found.offset()) for at, found in told.items()}

            return self.get(asked, f"asking for the offsets of {name}", read)

        first, end = listed("earliest"), listed("latest")
        return {number: Span(first[number], end[number]) for number in range(partitions)}

    def _asked(self, work: Callable[[], T], doing: str = "") -> T:
        return self._spark.call(work, f"the broker at {self._where}" + (f", {doing}" if doing else ""))
