"""Read records from a topic through Spark's Kafka connector, or from an export of one as Parquet or JSON.

Both give the same frame: ``partition`` (int), ``offset`` (long), ``timestamp_ms`` (long, null if there is none) and ``key``
(binary, null if there is none), each partition's records in the order of their offsets within one task.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_conformance.audit.engines.local.topic import LocalTopic
from kafka_conformance.audit.export_errors import missing_column, no_key_type, no_number_type
from kafka_conformance.audit.isolation import OPTION, READ_COMMITTED, READ_UNCOMMITTED
from kafka_conformance.audit.sources import COLUMNS, Shrinking, slices, spans_of, still_there
from kafka_conformance.audit.topics import LIMIT_S, Span, Topics, offset_count
from kafka_conformance.brokers.client_settings import java_settings, librdkafka_settings
from kafka_conformance.spark.session import Spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.audit.initial_sample import Sampled

__all__ = ["Export", "Source", "Topic", "topic_frame"]

_WHOLE = f"{COLUMNS}, value binary, headers array<struct<key: string, value: binary>>"


class Source(Shrinking, Protocol):
    """Records with a partition, an offset and an optional key."""

    def frame(self, spans: Mapping[int, Span] | None = None) -> DataFrame:
        """Return the records in these spans, or all."""
        ...

    def sample(self, records: int) -> DataFrame:
        """Return about this many records from all partitions, the same ones each time."""
        ...

    def reader(self) -> Sampled | None:
        """Return the same records as this process reads them; None if it cannot."""
        ...


class Topic:
    """A topic at a broker. ``options`` are Spark's for Kafka (``kafka.security.protocol`` and the like).

    :meth:`find` creates one; with the offsets of a plan, it checks that they still exist.
    """

    def __init__(self, spark: Spark, topic: str, options: Mapping[str, str], spans: Mapping[int, Span]) -> None:
        self._spark, self.topic, self._options, self._spans = spark, topic, options, spans

    @staticmethod
    def find(spark: Spark, topic: str, options: Mapping[str, str], planned: Mapping[int, Span] | None = None) -> Topic:
        """Return the topic as it is now.

        Raises BadInput if the topic or some of the ``planned`` offsets do not exist; SparkFault if no broker responds.
        """
        with Topics(spark, options) as broker:
            count = broker.require(topic, LIMIT_S).partitions
            current = broker.readable(topic, count, committed=options.get(OPTION) == READ_COMMITTED)
        return Topic(spark, topic, options, current if planned is None else still_there(topic, current, planned))

    @property
    def name(self) -> str:
        """The topic's name."""
        return self.topic

    @property
    def partitions(self) -> int:
        """The topic's partition count."""
        return len(self._spans)

    @property
    def spans(self) -> Mapping[int, Span]:
        """The offsets at the time of :meth:`find`."""
        return self._spans

    def frame(self, spans: Mapping[int, Span] | None = None) -> DataFrame:
        """Return the records in these spans, or all, read partition by partition."""
        return topic_frame(self._spark, self.topic, self._options, self._spans if spans is None else spans)

    def sample(self, records: int) -> DataFrame:
        """Return slices of partitions: the first records, some of the middle, the last. A small topic is returned whole.

        Up to four partitions give all three slices, more partitions one each in turn; of very many partitions an even
        selection is used. Opening a slice takes about 0.1 s, whatever its size.
        """
        if offset_count(self._spans) <= records:
            return self.frame()
        frames = [self.frame(spans) for spans in slices(self._spans, records)]
        return frames[0].unionByName(frames[1]).unionByName(frames[2])

    def reader(self) -> LocalTopic | None:
        """Return the topic as librdkafka reads it; None without it, or with settings that it does not have."""
        client = librdkafka_settings(java_settings(self._options))
        if client.untranslated or client.default_trust or importlib.util.find_spec("confluent_kafka") is None:
            return None
        return LocalTopic(self.topic, {OPTION.removeprefix("kafka."): READ_UNCOMMITTED, **client.settings}, self._spans)

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        self._spans = spans

    def offsets_at(self, time_ms: int) -> Mapping[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""
        with Topics(self._spark, self._options) as broker:
            return broker.offsets_at(self.topic, self.partitions, time_ms)

    def earliest(self) -> Mapping[int, int]:
        """Return the first offset of each partition now."""
        with Topics(self._spark, self._options) as broker:
            return {number: span.first for number, span in broker.spans(self.topic, self.partitions).items()}


class Export:
    """An export of a topic: files of Parquet or JSON lines at ``path``, with the key in column ``key``.

    ``partitions`` is the topic's partition count, which the files do not contain. ``encoding`` (utf8, hex or base64) decodes
    keys stored as text. Raises BadInput, SparkFault.
    """

    def __init__(
        self, spark: Spark, path: str, form: str, partitions: int, *, key: str = "key", encoding: str = "utf8"
    ) -> None:
        self._spark, self._path, self._partitions = spark, path, partitions
        reader = spark.session.read
        read = spark.call(lambda: reader.parquet(path) if form == "parquet" else reader.json(path), f"reading {path}")
        self._frame = _columns(read, path, key, encoding)
        self._spans, self._narrowed = self._spans_in_files(), False

    def _spans_in_files(self) -> dict[int, Span]:
        from pyspark.sql import functions as f

        totals = f.min("offset").alias("first"), f.max("offset").alias("last"), f.count("*").alias("records")
        rows = self._spark.call(
            lambda: self._frame.groupBy("partition").agg(*totals).collect(), f"reading {self._path}"
        )
        return spans_of(self._path, (tuple(row[name] for name in _SPAN) for row in rows), self._partitions)

    @property
    def name(self) -> str:
        """The path of the files."""
        return self._path

    @property
    def partitions(self) -> int:
        """The given partition count."""
        return self._partitions

    @property
    def spans(self) -> Mapping[int, Span]:
        """The offsets that the files contain."""
        return self._spans

    def sample(self, records: int) -> DataFrame:
        """Return a random sample, the same each time."""
        every = max(1, offset_count(self._spans) // records)
        return self._selected(None).where(f"pmod(xxhash64(partition, offset), {every}) = 0").limit(2 * records)

    def frame(self, spans: Mapping[int, Span] | None = None) -> DataFrame:
        """Return the records in these spans, or all, sorted: files are in any order."""
        frame = self._selected(spans)
        return frame.repartition(
            max(1, min(self._partitions, 4 * self._spark.cores)), "partition"
        ).sortWithinPartitions("partition", "offset")

    def reader(self) -> LocalTopic | None:
        """Return None: Spark reads files of any file system."""
        return None

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        self._spans, self._narrowed = dict(spans), True

    def offsets_at(self, time_ms: int) -> Mapping[int, int]:
        """Return by partition the offset of the first record with this timestamp or a later one, where there is one."""
        later = self._frame.where(f"timestamp_ms >= {time_ms}").groupBy("partition").min("offset")
        rows = self._spark.call(later.collect, f"reading {self._path}")
        return {int(partition): int(offset) for partition, offset in rows}

    def earliest(self) -> Mapping[int, int]:
        """Return nothing: no record of a file is deleted."""
        return {}

    def _selected(self, spans: Mapping[int, Span] | None) -> DataFrame:
        if spans is None and not self._narrowed:
            return self._frame
        return self._frame.where(_within(self._spans if spans is None else spans))


_SPAN = ("partition", "first", "last", "records")


# By default Spark reads Kafka through version 1 of its source interface, which converts each row twice: half the cost of a
# plain count.
_KAFKA_V2 = {"spark.sql.sources.useV1SourceList": "avro,csv,json,orc,parquet,text"}


def topic_frame(
    spark: Spark, topic: str, options: Mapping[str, str], spans: Mapping[int, Span], *, committed: bool = False,
    whole: bool = False,
) -> DataFrame:  # fmt: skip
    """Return a topic's records in these spans, read partition by partition, with the four columns of a source's frame.

    ``whole`` adds ``value`` and ``headers``; ``committed`` leaves out aborted and open transactions. Raises SparkFault.
    """
    wanted_spans = {number: span for number, span in sorted(spans.items()) if span.end > span.first}
    if not wanted_spans:
        return spark.session.createDataFrame([], _WHOLE if whole else COLUMNS)
    given: dict[str, Any] = {
        "assign": {topic: list(wanted_spans)},
        "startingOffsets": {topic: {str(number): span.first for number, span in wanted_spans.items()}},
        "endingOffsets": {topic: {str(number): span.end for number, span in wanted_spans.items()}},
    }
    reader = spark.session.read.format("kafka").options(**options)
    reader = reader.options(**{name: msgspec.json.encode(value).decode() for name, value in given.items()})
    if committed:
        reader = reader.option("kafka.isolation.level", "read_committed")
    if whole:
        reader = reader.option("includeHeaders", "true")
    columns = ["partition", "offset", "unix_millis(timestamp) as timestamp_ms", "key"]
    with spark.conf(_KAFKA_V2):
        read = spark.call(reader.load, f"reading {topic}")
    return read.selectExpr(*columns, *(("value", "headers") if whole else ()))


def _within(spans: Mapping[int, Span]) -> str:
    parts = [
        f"(partition = {number} and offset >= {span.first} and offset < {span.end})" for number, span in spans.items()
    ]
    return " or ".join(parts) or "false"


def _columns(read: DataFrame, path: str, key: str, encoding: str) -> DataFrame:
    """Return the four columns in their types. Raises BadInput with the missing column and the existing ones."""
    kinds = dict(read.dtypes)
    for name in ("partition", "offset"):
        if kinds.get(name) == "boolean":
            raise no_number_type(path, name, "boolean")
    for wanted in ("partition", "offset", key):
        if wanted not in kinds:
            raise missing_column(path, wanted, key, kinds)
    return read.selectExpr(
        f"cast({_quoted('partition')} as int) partition",
        f"cast({_quoted('offset')} as long) offset",
        f"{_time(kinds)} timestamp_ms",
        f"{_key(key, kinds[key], encoding, path)} key",
    )


def _time(kinds: Mapping[str, str]) -> str:
    for name in ("timestamp_ms", "timestamp", "ts"):
        match kinds.get(name):
            case "bigint" | "int":
                return f"cast({name} as long)"
            case "timestamp" | "timestamp_ntz":
                return f"unix_millis(cast({name} as timestamp))"
            case "string":
                return f"unix_millis(to_timestamp({name}))"
    return "cast(null as long)"


def _key(name: str, kind: str, encoding: str, path: str) -> str:
    column = _quoted(name)
    if kind == "binary":
        return column
    if kind != "string":
        raise no_key_type(path, name, kind)
    return {"utf8": f"encode({column}, 'UTF-8')", "hex": f"unhex({column})", "base64": f"unbase64({column})"}[encoding]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
