"""Read a topic in this process, with librdkafka: without Java.

The offsets to read are fixed when the topic is found. A partition is read to the end of its span, or to the end of the
partition: its last offsets may hold no record (compacted away, or markers of transactions). Partitions are read a few at a
time, so that memory holds a block of each of those, and what librdkafka has fetched ahead.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, Self

import numpy as np
import pyarrow as pa

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local.blocks import BlockPacker, BlockReader, ranges
from kafka_conformance.audit.isolation import READ_COMMITTED, READ_UNCOMMITTED
from kafka_conformance.audit.sources import still_there
from kafka_conformance.audit.topics import Span
from kafka_conformance.brokers.client_settings import ClientSettings
from kafka_conformance.brokers.topic_check import QUIET
from kafka_conformance.core.errors import BadInput, KitError

__all__ = ["LIMIT_S", "LocalTopic"]

LIMIT_S = 20.0
"""Limit for a broker to respond, in seconds."""

AT_ONCE = 16
_MESSAGES, _WAIT_S = 10_000, 0.05
_OWN = {
    "group.id": "kafka-conformance-audit",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
    "fetch.wait.max.ms": 20,
    "queued.min.messages": 200_000,
}
_ADMIN = {"socket.connection.setup.timeout.ms": 5000}


class LocalTopic(BlockReader):
    """A topic at a broker; :meth:`find` creates one. It fulfils ``local.run.LocalSource``."""

    def __init__(self, topic: str, settings: Mapping[str, Any], spans: Mapping[int, Span]) -> None:
        super().__init__(spans)
        self.name, self.partitions, self._settings = topic, len(spans), settings

    @staticmethod
    def find(topic: str, client: ClientSettings, planned: Mapping[int, Span] | None = None) -> LocalTopic:
        """Return the topic as it is now, with librdkafka's settings ``client``.

        Raises BadInput if the topic or some of the ``planned`` offsets do not exist; KitError if no broker responds.
        """
        settings = {"isolation.level": READ_UNCOMMITTED, **client.settings}
        current = _spans(topic, settings)
        return LocalTopic(topic, settings, current if planned is None else still_there(topic, current, planned))

    def offsets_at(self, time_ms: int) -> Mapping[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""
        return _offsets_at(self.name, self._settings, sorted(self.spans), time_ms)

    def earliest(self) -> Mapping[int, int]:
        """Return the first offset of each partition now."""
        return {number: span.first for number, span in _spans(self.name, self._settings).items()}

    def _read(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        wanted = iter(ranges(spans))
        while some := list(islice(wanted, AT_ONCE)):
            with _Reader(self.name, self._settings, some) as reader:
                yield from reader.blocks()


class _Reader:
    """A consumer of a few partitions, as a context manager."""

    def __init__(self, topic: str, settings: Mapping[str, Any], ranges: Sequence[tuple[int, int, int]]) -> None:
        from confluent_kafka import Consumer, TopicPartition

        self._topic, self._where = topic, settings.get("bootstrap.servers", "")
        self._left = {number: end for number, _, end in ranges}
        self._packers = {number: BlockPacker(number) for number in self._left}
        self._reason = ""
        self._consumer = Consumer({**settings, **QUIET, **_OWN, "error_cb": self._keep})
        self._consumer.assign([TopicPartition(topic, number, first) for number, first, _ in ranges])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def _keep(self, error: Any) -> None:
        self._reason = error.str()

    def blocks(self) -> Iterator[Block]:
        """Yield all records as blocks. Raises KitError if the broker does not respond, or does not let them be read."""
        limit = time.monotonic() + LIMIT_S
        while self._left:
            messages = self._consumer.consume(_MESSAGES, _WAIT_S)
            yield from self._add([message for message in messages if message.error() is None])
            for message in messages:
                if message.error() is not None:
                    yield from self._handle(message)
            if messages:
                limit = time.monotonic() + LIMIT_S
            elif time.monotonic() > limit:
                raise KitError(
                    f"reading {self._topic}: the broker at {self._where} has sent nothing for {LIMIT_S:g} s"
                    + (f" ({self._reason})" if self._reason else "")
                )

    def _add(self, messages: Sequence[Any]) -> Iterator[Block]:
        if not messages:
            return
        partitions = np.array([message.partition() for message in messages], np.int32)
        offsets = np.array([message.offset() for message in messages], np.int64)
        times = np.array([message.timestamp()[1] for message in messages], np.int64)
        keys = pa.array([message.key() for message in messages], pa.binary())
        for number in np.unique(partitions).tolist():
            if (end := self._left.get(number)) is None:
                continue
            rows = np.flatnonzero((partitions == number) & (offsets < end))
            yield from self._packers[number].add(offsets[rows], times[rows], keys.take(pa.array(rows)))
            if offsets[partitions == number][-1] >= end - 1:
                yield from self._end(number)

    def _handle(self, message: Any) -> Iterator[Block]:
        from confluent_kafka import KafkaError

        code, number = message.error().code(), message.partition()
        if code == KafkaError._PARTITION_EOF:  # noqa: SLF001  librdkafka's own codes begin with an underscore
            if message.offset() >= self._left.get(number, message.offset() + 1):
                yield from self._end(number)
        elif code in {KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE}:  # noqa: SLF001
            raise KitError(
                f"records of partition {number} of {self._topic} were deleted while it was read: start again"
            )
        elif not message.error().retriable():
            raise KitError(f"reading {self._topic} at {self._where}: {message.error().str()}")

    def _end(self, number: int) -> Iterator[Block]:
        from confluent_kafka import TopicPartition

        yield from self._packers[number].end()
        del self._left[number]
        self._consumer.pause([TopicPartition(self._topic, number)])


def _spans(topic: str, settings: Mapping[str, Any]) -> dict[int, Span]:
    """Return the offsets that a consumer reads; with ``read_committed`` each span has the offsets that follow it."""
    from confluent_kafka import Consumer, IsolationLevel, KafkaException, TopicPartition
    from confluent_kafka import admin as kafka_admin

    specs: Any = kafka_admin.OffsetSpec  # type: ignore[attr-defined]
    where = settings.get("bootstrap.servers", "")
    own = {name: value for name, value in settings.items() if name != "isolation.level"}

    def offsets(spec: Any, numbers: Sequence[int], level: IsolationLevel) -> dict[int, int]:
        asked = {TopicPartition(topic, number): spec for number in numbers}
        answers = admin.list_offsets(asked, isolation_level=level, request_timeout=LIMIT_S)
        return {place.partition: answer.result(2 * LIMIT_S).offset for place, answer in answers.items()}

    try:
        with closing(Consumer({**settings, **QUIET, **_OWN})) as consumer:  # it creates no topic, as an AdminClient may
            described = consumer.list_topics(topic, timeout=LIMIT_S).topics[topic]
        if described.error is not None:
            raise BadInput(f"topic {topic} cannot be read at {where}: {described.error.str()}")
        admin = kafka_admin.AdminClient({**own, **QUIET, **_ADMIN})
        numbers = sorted(described.partitions)
        first = offsets(specs.earliest(), numbers, IsolationLevel.READ_UNCOMMITTED)
        end = offsets(specs.latest(), numbers, IsolationLevel.READ_UNCOMMITTED)
        stable = end
        if settings["isolation.level"] == READ_COMMITTED:
            stable = offsets(specs.latest(), numbers, IsolationLevel.READ_COMMITTED)
    except KafkaException as error:
        raise KitError(f"the broker at {where}, reading the offsets of {topic}: {error.args[0].str()}") from error
    return {number: Span(first[number], stable[number], max(0, end[number] - stable[number])) for number in first}


def _offsets_at(topic: str, settings: Mapping[str, Any], numbers: Sequence[int], time_ms: int) -> dict[int, int]:
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    where = settings.get("bootstrap.servers", "")
    consumer = Consumer({**settings, **QUIET, **_OWN})
    try:
        found = consumer.offsets_for_times([TopicPartition(topic, number, time_ms) for number in numbers], LIMIT_S)
    except KafkaException as error:
        raise KitError(f"the broker at {where}, finding offsets of {topic} by time: {error.args[0].str()}") from error
    finally:
        consumer.close()
    return {place.partition: place.offset for place in found if place.offset >= 0}
