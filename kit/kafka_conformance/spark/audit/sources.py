"""Read records from a topic through Spark's Kafka connector, or from an export of one as Parquet or JSON.

Both give the same frame: ``partition`` (int), ``offset`` (long), ``timestamp_ms`` (long, null if there is none) and ``key``
(binary, null if there is none), each partition's records in the order of their offsets within one task.

The offsets to read are fixed before reading starts, by partition. A resumed run therefore reads the same records, whatever
was written since. An export is read as a whole.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_conformance.brokers.client_settings import java_settings, librdkafka_settings
from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.export_errors import missing_column, missing_place, no_key_type, no_number_type
from kafka_conformance.spark.audit.isolation import OPTION, READ_COMMITTED, READ_UNCOMMITTED
from kafka_conformance.spark.audit.topics import LIMIT_S, Span, Topics, offset_count
from kafka_conformance.spark.session import Spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_conformance.spark.audit.first_look import Sampled
    from kafka_conformance.spark.audit.local.topic import LocalTopic

__all__ = [
    "COLUMNS", "Export", "Shrinking", "Sized", "Source", "Span", "Topic", "chunked", "is_one_of_many",
    "slices", "spans_of", "still_there", "topic_frame",
]  # fmt: skip

COLUMNS = "partition int, offset long, timestamp_ms long, key binary"
_WHOLE = f"{COLUMNS}, value binary, headers array<struct<key: string, value: binary>>"
_SLICES = 12
_MOST_CHUNKS = 1_000_000


class Sized(Protocol):
    """The name, partition count and offsets of a source."""

    @property
    def name(self) -> str:
        """Its name in messages and reports."""
        ...

    @property
    def partitions(self) -> int:
        """The topic's partition count."""
        ...

    @property
    def spans(self) -> Mapping[int, Span]:
        """The offsets to read, by partition."""
        ...


def is_one_of_many(source: Sized) -> bool:
    """Return whether one partition is read and the others are elsewhere, as segment files may be."""
    return bool(getattr(source, "one_of_many", False))


class Shrinking(Sized, Protocol):
    """A source whose first records may be deleted while it is read."""

    def narrow(self, spans: Mapping[int, Span]) -> None:
        """Read these offsets only, by partition."""
        ...

    def earliest(self) -> Mapping[int, int]:
        """Return the first offset of each partition now; empty if nothing is ever deleted."""
        ...


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
        from kafka_conformance.spark.audit.local.topic import LocalTopic

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


def still_there(topic: str, current: Mapping[int, Span], planned: Mapping[int, Span]) -> Mapping[int, Span]:
    """Return the ``planned`` offsets; the first of them may have been deleted since (``retention``).

    Raises BadInput if the topic, which now has the ``current`` ones, has other partitions, or ends before them.
    """
    for partition, span in planned.items():
        if partition not in current:
            raise BadInput(
                f"partition {partition} of {topic} existed when this run began, and is gone: start a new run"
            )
        now = current[partition]
        if span.end > span.first and now.end < span.end:
            raise BadInput(
                f"partition {partition} of {topic} now ends at offset {now.end:,}, but this run reads up to {span.end:,}:"
                " start a new run"
            )
    if len(current) != len(planned):
        raise BadInput(
            f"{topic} had {len(planned)} partitions when this run began, and now has {len(current)}: start a new run"
        )
    return planned


def spans_of(path: str, rows: Iterable[tuple[Any, ...]], partitions: int) -> dict[int, Span]:
    """Return the offsets of files by partition, from rows of partition, first offset, last offset, records.

    Raises BadInput for records without a partition or an offset, and for a partition that the topic does not have.
    """
    found = {}
    for partition, first, last, records in rows:
        if partition is None or first is None:
            raise missing_place(path, records)
        if not 0 <= partition < partitions:
            raise BadInput(
                f"{path}: there are records in partition {partition}, but --partitions is {partitions}:"
                " give the topic's partition count"
            )
        found[int(partition)] = Span(int(first), int(last) + 1)
    return {partition: found.get(partition, Span(0, 0)) for partition in range(partitions)}


def slices(spans: Mapping[int, Span], records: int) -> list[dict[int, Span]]:
    """Return the offsets to sample of a topic with more than ``records``: three sets, of one slice of a partition each."""
    numbers = sorted(number for number, span in spans.items() if span.end > span.first)
    numbers = numbers[:: max(1, len(numbers) // _SLICES)]
    several = len(numbers) <= _SLICES // 3
    taken = [(number, third) for at, number in enumerate(numbers) for third in (range(3) if several else (at % 3,))]
    each = max(50, records // max(1, len(taken)))
    return [{number: _slice(spans[number], third, each) for number, at in taken if at == third} for third in range(3)]


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


def _slice(span: Span, third: int, records: int) -> Span:
    """Return ``records`` offsets at the beginning (0), middle (1) or end (2) of ``span``; slices do not overlap."""
    size = span.end - span.first
    if size <= 3 * records:
        return Span(span.first + size * third // 3, span.first + size * (third + 1) // 3)
    first = span.first + (size - records) * third // 2
    return Span(first, first + records)


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


def chunked(spans: Mapping[int, Span], records: int) -> Sequence[Mapping[int, Span]]:
    """Split the spans into chunks of about ``records`` offsets each, every chunk over all partitions, in order.

    Raises BadInput for more than a million chunks: an offset of an export is wrong then, or a plan was changed.
    """
    step = max(1, -(-records // max(1, len(spans))))
    longest = max((span.end - span.first for span in spans.values()), default=0)
    if longest // step > _MOST_CHUNKS:
        raise BadInput(
            f"a partition has {longest:,} offsets, in chunks of {step:,}: expected {_MOST_CHUNKS:,} chunks at most"
        )
    return [
        {
            partition: Span(min(span.first + at, span.end), min(span.first + at + step, span.end))
            for partition, span in spans.items()
            if span.first + at < span.end
        }
        for at in range(0, longest, step)
    ]
