"""Real topics, written by real producers, whose truth is known: for each record who placed it, by which rule, and where.

A *writer* is a producer as its users have it. It is given records and gives back a :class:`Truth`: a row for each record,
in the order in which it was sent, with the partition and the offset that the broker acknowledged. Nothing is computed here:
what a rule would say is for the tests to hold against it.

::

    with running_broker() as broker, JavaWriter() as java:
        broker.create_topic("orders", 3)
        truth = java.write(broker.bootstrap, "orders", Records(keys))
        broker.grow_topic("orders", 12)
        truth += Librdkafka().write(broker.bootstrap, "orders", Records(more))

=======================  ============================================================  =====================================
writer                   what it is                                                    placement of its keyed records
=======================  ============================================================  =====================================
JavaWriter()             Java's KafkaProducer of a pinned release, in a JVM            murmur2
JavaWriter(ROUND_ROBIN)  the same with RoundRobinPartitioner, which looks at no key    none
Librdkafka()             confluent-kafka as it comes: consistent_random                librdkafka-consistent (CRC-32)
Librdkafka("murmur2…")   with murmur2_random                                           murmur2
Librdkafka("fnv1a_…")    with fnv1a_random                                             sarama-hash (FNV-1a, sign off)
KafkaPython()            kafka-python                                                  murmur2
=======================  ============================================================  =====================================
"""

from __future__ import annotations

import array
import struct
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from kafka_conformance.brokers.admin import create_topic, delete_topic, grow_topic, partitions_of
from kafka_conformance.oracle.fetching import fetched
from kafka_conformance.oracle.jvm import Jvm
from kafka_jars.pins import load
from kafka_jars.store import default_store

__all__ = [
    "EXPLICIT", "KEYLESS", "NOT_BY_KEY", "ROUND_ROBIN", "JavaWriter", "KafkaPython", "Librdkafka", "Records", "Truth",
    "Writer", "create_topic", "delete_topic", "grow_topic", "in_turns", "keys_of", "partitions_of", "together",
    "write_around_growth",
]  # fmt: skip

KEYLESS, EXPLICIT, NOT_BY_KEY = "keyless", "explicit", "not-by-key"
"""In place of a placement: no key; a partition that the sender named; a key that the partitioner did not look at."""
ROUND_ROBIN = {"partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner"}
_LIMIT_S = 120


@dataclass(frozen=True)
class Records:
    """What is sent. Values are the record's number, as text, where none are given; timestamps are the client's then."""

    keys: Sequence[bytes | None]
    values: Sequence[bytes | None] | None = None
    timestamps: Sequence[int] | None = None
    partitions: Sequence[int | None] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    def rows(self) -> Iterator[tuple[bytes | None, bytes | None, int | None, int | None]]:
        """Key, value, timestamp, partition."""
        for at, key in enumerate(self.keys):
            yield (
                key,
                b"%d" % at if self.values is None else self.values[at],
                None if self.timestamps is None else self.timestamps[at],
                None if self.partitions is None else self.partitions[at],
            )

    def part(self, first: int, end: int) -> Records:
        """Those from ``first`` up to ``end``."""
        parts = [None if column is None else column[first:end] for column in self._columns()]
        return Records(parts[0] or [], *parts[1:])

    def _columns(self) -> list[Sequence[Any] | None]:
        numbered = [b"%d" % at for at in range(len(self))] if self.values is None else self.values
        return [self.keys, numbered, self.timestamps, self.partitions]


@dataclass(frozen=True, eq=False)
class Truth:
    """A row for each record: who sent it, by which placement, with how many partitions then, and where it lies."""

    keys: np.ndarray
    writers: np.ndarray
    rules: np.ndarray
    counts: np.ndarray
    partitions: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: Truth) -> Truth:
        return Truth(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)))

    def by_place(self) -> Truth:
        """The same rows by partition, and in a partition by offset."""
        order = np.lexsort((self.offsets, self.partitions))
        return Truth(*(getattr(self, f.name)[order] for f in fields(self)))

    def at(self) -> dict[tuple[int, int], tuple[bytes | None, str, int]]:
        """By partition and offset: key, placement, number of partitions then. For topics that are small."""
        places = zip(self.partitions.tolist(), self.offsets.tolist(), strict=True)
        rows = zip(self.keys.tolist(), self.rules.tolist(), self.counts.tolist(), strict=True)
        return dict(zip(places, rows, strict=True))


class Writer(Protocol):
    """A producer, as its users have it."""

    name: str
    rule: str

    def write(self, bootstrap: str, topic: str, records: Records) -> Truth:
        """Send these in order, and wait until the broker has them all."""


class JavaWriter:
    """Java's own producer of ``release``, with its users' ``settings``; a JVM for as long as a block lasts."""

    def __init__(self, settings: Mapping[str, str] | None = None, *, release: str = "3.9.2") -> None:
        pins = load()
        jars = fetched(pins.clients(release), default_store())
        self._own = Jvm(extra_class_path=[jar.path for jar in jars])
        self._cook()
        self._settings = dict(settings or {})
        self.name, self.rule = "java", _java_rule(self._settings)

    def with_settings(self, settings: Mapping[str, str]) -> JavaWriter:
        """The same JVM, another producer; it ends with the first."""
        other = object.__new__(JavaWriter)
        other._own, other._class, other._settings = self._own, self._class, dict(settings)
        other.name, other.rule = "java", _java_rule(other._settings)
        return other

    def write(self, bootstrap: str, topic: str, records: Records) -> Truth:
        settings = {
            "bootstrap.servers": bootstrap,
            "key.serializer": "org.apache.kafka.common.serialization.ByteArraySerializer",
            "value.serializer": "org.apache.kafka.common.serialization.ByteArraySerializer",
            "max.block.ms": str(_LIMIT_S * 1000),
            # A broker names a new partition's leader before that takes records. Of five batches in flight the first is then
            # refused, the second taken, since a producer without state may begin anywhere: and the first is out of order
            # for ever after.
            "max.in.flight.requests.per.connection": "1",
            **self._settings,
        }
        count = len(partitions_of(bootstrap, topic))
        with tempfile.TemporaryDirectory(prefix="kafka-conformance-") as folder:
            records_file, results = Path(folder) / "records", Path(folder) / "results"
            _write_records(records_file, records)
            lines = "".join(f"{name}={value}\n" for name, value in settings.items())
            self._own.call(lambda: self._invoke(lines, topic, len(records), str(records_file), str(results)))
            placed = np.fromfile(results, dtype=np.dtype([("partition", ">i4"), ("offset", ">i8")]))
        return _truth(self, records, count, placed["partition"], placed["offset"])

    def close(self) -> None:
        self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._own.__exit__(kind, error, trace)

    def _cook(self) -> None:
        source = Path(__file__).with_name("TopicWriter.java").read_text(encoding="utf-8")

        def cooked() -> Any:
            compiler = self._own.view.org.codehaus.janino.SimpleCompiler()
            compiler.cook(source)
            return compiler.getClassLoader().loadClass("TopicWriter")

        self._class = self._own.call(cooked)

    def _invoke(self, *arguments: Any) -> None:
        """By reflection: py4j looks for classes in the loader that the gateway began with."""
        method = next(each for each in self._class.getMethods() if each.getName() == "write")
        given = self._own.array(self._own.view.java.lang.Object, len(arguments))
        for at, argument in enumerate(arguments):
            given[at] = argument
        method.invoke(None, given)


class Librdkafka:
    """confluent-kafka, with one of librdkafka's partitioners, or as it comes."""

    def __init__(self, partitioner: str = "consistent_random", settings: Mapping[str, Any] | None = None) -> None:
        rules = {"consistent": "librdkafka-consistent", "murmur2": "murmur2", "fnv1a": "sarama-hash"}
        self.name = f"librdkafka-{partitioner}"
        self.rule = rules[partitioner.removesuffix("_random")]
        self._partitioner, self._settings = partitioner, dict(settings or {})

    def write(self, bootstrap: str, topic: str, records: Records) -> Truth:
        from confluent_kafka import Producer

        settings = {"bootstrap.servers": bootstrap, "linger.ms": 5, "partitioner": self._partitioner} | self._settings
        producer, placed, count = Producer(settings), _Placed(len(records)), len(partitions_of(bootstrap, topic))
        for at, (key, value, timestamp, partition) in enumerate(records.rows()):
            given: dict[str, Any] = {} if timestamp is None else {"timestamp": timestamp}
            if partition is not None:
                given["partition"] = partition
            while True:
                try:
                    producer.produce(topic, value, key, on_delivery=placed.of_confluent(at), **given)
                    break
                except BufferError:
                    producer.poll(0.1)
            if at % 1000 == 0:
                producer.poll(0)
        left = producer.flush(_LIMIT_S)
        if left:
            raise TimeoutError(f"{left} records were not sent within {_LIMIT_S} s")
        return placed.truth(self, records, count)


class KafkaPython:
    """kafka-python, as it comes."""

    name, rule = "kafka-python", "murmur2"

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self._settings = dict(settings or {})

    def write(self, bootstrap: str, topic: str, records: Records) -> Truth:
        with warnings.catch_warnings():  # it reads its own files in a way that Python is about to drop
            warnings.simplefilter("ignore", DeprecationWarning)
            from kafka import KafkaProducer

        placed, count = _Placed(len(records)), len(partitions_of(bootstrap, topic))
        producer = KafkaProducer(bootstrap_servers=bootstrap.split(","), linger_ms=5, **self._settings)
        try:
            for at, (key, value, timestamp, partition) in enumerate(records.rows()):
                sent = producer.send(topic, value=value, key=key, partition=partition, timestamp_ms=timestamp)
                sent.add_callback(placed.of_kafka_python(at))
                sent.add_errback(placed.failed)
            producer.flush(timeout=_LIMIT_S)
        finally:
            producer.close(timeout=_LIMIT_S)
        return placed.truth(self, records, count)


def write_around_growth(
    writer: Writer, bootstrap: str, topic: str, before: Records, after: Records, *, start: int = 3, end: int = 12
) -> Truth:
    """A topic of ``start`` partitions that grows to ``end`` between the two."""
    create_topic(bootstrap, topic, start)
    truth = writer.write(bootstrap, topic, before)
    grow_topic(bootstrap, topic, end)
    return truth + writer.write(bootstrap, topic, after)


def in_turns(bootstrap: str, topic: str, sent: Sequence[tuple[Writer, Records]], *, turns: int = 1) -> Truth:
    """Writers one after the other, each with its records cut into equal parts: one turn makes blocks, many mix them."""
    truths = []
    for turn in range(turns):
        for writer, records in sent:
            first, end = (len(records) * each // turns for each in (turn, turn + 1))
            if end > first:
                truths.append(writer.write(bootstrap, topic, records.part(first, end)))
    return _sum(truths)


def together(bootstrap: str, topic: str, sent: Sequence[tuple[Writer, Records]]) -> Truth:
    """All writers at the same time, each in a thread: their batches lie between each other's as it happens."""
    truths: list[Truth | BaseException] = [TimeoutError("it did not end")] * len(sent)

    def run(at: int, work: Callable[[], Truth]) -> None:
        try:
            truths[at] = work()
        except BaseException as error:  # noqa: BLE001  raised below, by whoever waits
            truths[at] = error

    threads = [
        threading.Thread(target=run, args=(at, lambda w=writer, r=records: w.write(bootstrap, topic, r)), daemon=True)
        for at, (writer, records) in enumerate(sent)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3 * _LIMIT_S)
    for truth in truths:
        if isinstance(truth, BaseException):
            raise truth
    return _sum([truth for truth in truths if isinstance(truth, Truth)])


def keys_of(
    count: int, *, distinct: int | None = None, seed: int = 1, prefix: bytes = b"key-", keyless: float = 0
) -> list[bytes | None]:
    """So many keys, the same for the same seed: of ``distinct`` ones, with this share of records that have none."""
    random = np.random.default_rng(seed)
    drawn = random.integers(0, distinct or max(1, count // 10), count).tolist()
    bare = (random.random(count) < keyless).tolist()
    return [None if without else prefix + b"%d" % number for number, without in zip(drawn, bare, strict=True)]


class _Placed:
    """Where records came to lie, as a client tells it, one by one."""

    def __init__(self, count: int) -> None:
        self._partitions, self._offsets = array.array("i", [-1] * count), array.array("q", [-1] * count)
        self._failed: Any = None

    def of_confluent(self, at: int) -> Callable[[Any, Any], None]:
        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                self._failed = error
            else:
                self._partitions[at], self._offsets[at] = message.partition(), message.offset()

        return delivered

    def of_kafka_python(self, at: int) -> Callable[[Any], None]:
        def delivered(metadata: Any) -> None:
            self._partitions[at], self._offsets[at] = metadata.partition, metadata.offset

        return delivered

    def failed(self, error: Any) -> None:
        self._failed = error

    def truth(self, writer: Writer, records: Records, count: int) -> Truth:
        if self._failed is not None:
            raise RuntimeError(f"{writer.name} could not send: {self._failed}")
        return _truth(writer, records, count, np.array(self._partitions), np.array(self._offsets))


def _truth(writer: Writer, records: Records, count: int, partitions: np.ndarray, offsets: np.ndarray) -> Truth:
    if len(partitions) != len(records) or (len(records) and min(partitions.min(), offsets.min()) < 0):
        raise RuntimeError(f"{writer.name} did not tell where every record lies")
    length = len(records)
    keys = np.empty(length, dtype=object)
    keys[:] = records.keys
    named = records.partitions or [None] * length
    rules = [
        EXPLICIT
        if partition is not None
        else NOT_BY_KEY
        if writer.rule == NOT_BY_KEY
        else KEYLESS
        if key is None
        else writer.rule
        for key, partition in zip(records.keys, named, strict=True)
    ]
    return Truth(
        keys=keys,
        writers=np.full(length, writer.name, dtype=object),
        rules=np.array(rules, dtype=object),
        counts=np.full(length, count, dtype=np.int32),
        partitions=partitions.astype(np.int32),
        offsets=offsets.astype(np.int64),
    )


def _sum(truths: Sequence[Truth]) -> Truth:
    return Truth(*(np.concatenate([getattr(truth, f.name) for truth in truths]) for f in fields(Truth)))


def _java_rule(settings: Mapping[str, str]) -> str:
    return NOT_BY_KEY if settings.get("partitioner.class") == ROUND_ROBIN["partitioner.class"] else "murmur2"


def _write_records(path: Path, records: Records) -> None:
    """For TopicWriter.java."""
    with path.open("wb") as file:
        for key, value, timestamp, partition in records.rows():
            file.write(_field(key) + _field(value))
            file.write(
                struct.pack(">qi", -1 if timestamp is None else timestamp, -1 if partition is None else partition)
            )


def _field(value: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if value is None else struct.pack(">i", len(value)) + value
