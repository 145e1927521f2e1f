"""Describe a broker's topics through Kafka's Admin, in the driver's JVM, with the connector's options.

Requests and waits are limited, so that an unreachable broker becomes an error of one line. The limits can be set by options
as for the connector (``kafka.default.api.timeout.ms``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.errors import SparkFault
from kafka_reference import config_def

if TYPE_CHECKING:
    from kafka_conformance.spark.session import Spark

__all__ = ["LIMIT_S", "Described", "Span", "Topics", "kafka_options", "offset_count"]

T = TypeVar("T")

LIMIT_S = 20
"""Default limit for a broker to respond, in seconds."""

_LIMITS = {"kafka.default.api.timeout.ms": str(1000 * LIMIT_S), "kafka.request.timeout.ms": str(1000 * LIMIT_S // 2)}
_TIMEOUT = "default.api.timeout.ms"
_LONGER_MS = 10_000  # longer than Kafka's own limit, because Kafka's error names the request
_CLOSE_S = 1  # not 0: Kafka would wait for its thread without limit


class Span(msgspec.Struct, frozen=True):
    """A partition's offsets: ``first`` inclusive, ``end`` exclusive; ``open`` ones follow, of open transactions."""

    first: int
    end: int
    open: int = 0


def offset_count(spans: Mapping[int, Span]) -> int:
    """Return the number of offsets in the spans."""
    return sum(span.end - span.first for span in spans.values())


class Described(msgspec.Struct, frozen=True):
    """A topic's current state. ``id`` is empty on brokers without topic ids; ``replication`` is the replication factor."""

    name: str
    id: str
    partitions: int
    replication: int


def kafka_options(bootstrap: str, others: Mapping[str, str]) -> dict[str, str]:
    """Return the connector's options, with default time limits where ``others`` sets none.

    A consumer returns 500 records per poll by default; a poll costs more than reading so few, so the default here is higher.

    ``fetch.max.wait.ms`` is 10, not Kafka's 500: the connector asks for the offsets of a partition (ListOffsets) while a
    fetch waits at its end for new records. A broker answers the requests of a connection in order, so that ListOffsets
    waits behind the fetch.
    """
    mine = {
        "kafka.bootstrap.servers": bootstrap,
        "failOnDataLoss": "true",
        "kafkaConsumer.pollTimeoutMs": str(1000 * LIMIT_S),
        "kafka.max.poll.records": "10000",
        "kafka.fetch.max.wait.ms": "10",
    }
    return {**_LIMITS, **mine, **others}


class Topics:
    """Kafka's Admin, as a context manager. Of the connector's ``options``, those that begin with ``kafka.`` are used.

    Every method raises SparkFault, with one line that names the broker, in addition to the errors it documents.
    """

    def __init__(self, spark: Spark, options: Mapping[str, str]) -> None:
        self._spark, self._where = spark, options.get("kafka.bootstrap.servers", "")
        settings = {
            name.removeprefix("kafka."): value
            for name, value in {**_LIMITS, **options}.items()
            if name.startswith("kafka.")
        }
        self.admin: Any = self._call(lambda: self.kafka.clients.admin.Admin.create(settings))
        self._limit_ms = config_def.integer(_TIMEOUT, settings[_TIMEOUT]) + _LONGER_MS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):  # the JVM may have ended, which other calls report
            self.admin.close(self._spark.jvm.java.time.Duration.ofSeconds(_CLOSE_S))

    @property
    def kafka(self) -> Any:
        """The package ``org.apache.kafka``."""
        return self._spark.jvm.org.apache.kafka

    def get(self, future: Callable[[], Any], doing: str, read: Callable[[Any], T] = lambda result: result) -> T:
        """Wait for a ``KafkaFuture`` and return its result, converted by ``read``; ``doing`` is named in an error."""

        def got() -> T:
            milliseconds = self._spark.jvm.java.util.concurrent.TimeUnit.MILLISECONDS
            return read(future().get(self._limit_ms, milliseconds))

        return self._call(got, doing)

    def find(self, name: str, patience_s: float = 0.0) -> Described | None:
        """Return the topic, or None if there is no such topic; wait up to ``patience_s`` seconds for its leaders.

        Raises BadInput for an invalid topic name, and if a partition still has no leader.
        """
        limit = time.monotonic() + patience_s
        while (found := self._described(name)) is not None and not found[1]:
            if time.monotonic() >= limit:
                raise BadInput(f"a partition of {name} has no leader: wait until its broker is back")
            time.sleep(0.1)
        return None if found is None else found[0]

    def require(self, name: str, patience_s: float = 0.0) -> Described:
        """Return the topic. Raises BadInput if it does not exist, and like :meth:`find`."""
        if (found := self.find(name, patience_s)) is None:
            raise BadInput(f"topic {name} does not exist at {self._where}: check its name and the broker")
        return found

    def _described(self, name: str) -> tuple[Described, bool] | None:
        """Return the topic, and whether each of its partitions has a leader."""

        def read(topics: Any) -> tuple[Described, bool]:
            topic = topics[name]
            partitions, known = topic.partitions(), str(topic.topicId().toString())
            unnamed = str(self.kafka.common.Uuid.ZERO_UUID.toString())
            found = Described(name, "" if known == unnamed else known, len(partitions), len(partitions[0].replicas()))
            return found, all(one.leader() is not None for one in partitions)

        try:
            return self.get(lambda: self.admin.describeTopics([name]).allTopicNames(), f"describing topic {name}", read)
        except SparkFault as fault:
            if "UnknownTopicOrPartition" in str(fault):
                return None
            if "InvalidTopic" in str(fault):
                raise BadInput(
                    f"{name!r} is not a valid topic name: use up to 249 letters, digits, dots, underscores and hyphens"
                ) from fault
            raise

    def settings(self, name: str) -> dict[str, str]:
        """Return the settings that the topic overrides."""

        def read(configs: Any) -> dict[str, str]:
            entries = self._spark.jvm.java.util.ArrayList(next(iter(configs.values())).entries())
            return {str(one.name()): str(one.value()) for one in entries if str(one.source()) == "DYNAMIC_TOPIC_CONFIG"}

        request = lambda: self.admin.describeConfigs([self.resource(name)]).all()  # noqa: E731
        return self.get(request, f"reading the settings of {name}", read)

    def resource(self, name: str) -> Any:
        """Return the topic as Kafka's ``ConfigResource``."""
        kind = self.kafka.common.config.ConfigResource
        return kind(kind.Type.TOPIC, name)

    def spans(self, name: str, partitions: int, *, committed: bool = False) -> dict[int, Span]:
        """Return the offsets of each partition; with ``committed`` up to the last stable offset."""

        def listed(which: str) -> dict[int, int]:
            def request() -> Any:
                level = self.kafka.common.IsolationLevel
                options = self.kafka.clients.admin.ListOffsetsOptions(
                    level.READ_COMMITTED if committed else level.READ_UNCOMMITTED
                )
                spec = getattr(self.kafka.clients.admin.OffsetSpec, which)()
                wanted = {self.kafka.common.TopicPartition(name, number): spec for number in range(partitions)}
                return self.admin.listOffsets(wanted, options).all()

            def read(offsets: Any) -> dict[int, int]:
                return {int(each.partition()): int(found.offset()) for each, found in offsets.items()}

            return self.get(request, f"reading the offsets of {name}", read)

        first, end = listed("earliest"), listed("latest")
        return {number: Span(first[number], end[number]) for number in range(partitions)}

    def offsets_at(self, name: str, partitions: int, time_ms: int) -> dict[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""

        def request() -> Any:
            spec = self.kafka.clients.admin.OffsetSpec.forTimestamp(time_ms)
            wanted = {self.kafka.common.TopicPartition(name, number): spec for number in range(partitions)}
            return self.admin.listOffsets(wanted).all()

        def read(offsets: Any) -> dict[int, int]:
            found = {int(each.partition()): int(one.offset()) for each, one in offsets.items()}
            return {number: offset for number, offset in found.items() if offset >= 0}

        return self.get(request, f"finding offsets of {name} by time", read)

    def readable(self, name: str, partitions: int, *, committed: bool) -> dict[int, Span]:
        """Return the offsets that a consumer reads; with ``committed`` each span has the offsets that follow it."""
        every = self.spans(name, partitions)
        if not committed:
            return every
        stable = self.spans(name, partitions, committed=True)
        return {
            number: Span(span.first, span.end, max(0, every[number].end - span.end)) for number, span in stable.items()
        }

    def _call(self, work: Callable[[], T], doing: str = "") -> T:
        return self._spark.call(work, f"the broker at {self._where}" + (f", {doing}" if doing else ""))
