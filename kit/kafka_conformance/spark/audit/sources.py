"""Where records come from: a topic, through Spark's Kafka connector, or an export of one, as Parquet or JSON.

Either gives the same frame: ``partition`` (int), ``offset`` (long), ``timestamp_ms`` (long, null where there is none) and
``key`` (binary, null where there is none), each partition's records in the order of their offsets within one task.

What is read is fixed before anything is: from which offset to which, by partition. So a run that is resumed reads what it
would have read, whatever was written since. In an export it is what its files hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.topics import LIMIT_S, Span, Topics
from kafka_conformance.spark.session import Spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["COLUMNS", "Export", "Source", "Span", "Topic", "chunked", "in_all", "topic_frame"]

COLUMNS = "partition int, offset long, timestamp_ms long, key binary"
_WHOLE = f"{COLUMNS}, value binary, headers array<struct<key: string, value: binary>>"
_SLICES = 12


class Source(Protocol):
    """Records with a partition, an offset and perhaps a key."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    @property
    def partitions(self) -> int:
        """How many partitions the topic has."""
        ...

    @property
    def spans(self) -> Mapping[int, Span]:
        """What is read, by partition."""
        ...

    def frame(self, spans: Mapping[int, Span] | None = None) -> DataFrame:
        """The records in these spans, or all."""
        ...

    def sample(self, records: int) -> DataFrame:
        """About so many of all of them, from everywhere; the same ones each time."""
        ...


class Topic:
    """A topic at a broker. ``options`` are Spark's for Kafka (``kafka.security.protocol`` and the like).

    Made by :meth:`find`, or with the ``spans`` of a plan, which are then checked to be there still.
    """

    def __init__(self, spark: Spark, topic: str, options: Mapping[str, str], spans: Mapping[int, Span]) -> None:
        self._spark, self.topic, self._options, self._spans = spark, topic, options, spans

    @staticmethod
    def find(spark: Spark, topic: str, options: Mapping[str, str], planned: Mapping[int, Span] | None = None) -> Topic:
        """The topic as it is now. Raises BadInput: there is none, or not all of what was planned; SparkFault: no broker."""
        with Topics(spark, options) as broker:
            there = broker.spans(topic, broker.there(topic, LIMIT_S).partitions)
        for partition, span in (planned or {}).items():
            if partition not in there:
                raise BadInput(
                    f"partition {partition} of {topic} was there when this run began, and is gone: begin another run"
                )
            now = there[partition]
            if span.end > span.first and (now.first > span.first or now.end < span.end):
                raise BadInput(
                    f"partition {partition} of {topic} holds offsets {now.first} to {now.end} now, and this run is to read"
                    f" {span.first} to {span.end}: begin another run"
                )
        if planned is not None and len(there) != len(planned):
            raise BadInput(
                f"{topic} had {len(planned)} partitions when this run began, and has {len(there)}: begin another run"
            )
        return Topic(spark, topic, options, there if planned is None else planned)

    @property
    def name(self) -> str:
        """The topic's."""
        return self.topic

    @property
    def partitions(self) -> int:
        """How many the topic has."""
        return len(self._spans)

    @property
    def spans(self) -> Mapping[int, Span]:
        """From the first offset there is to the last there was."""
        return self._spans

    def frame(self, spans: Mapping[int, Span] | None = None) -> DataFrame:
        """The records, read partition by partition."""
        return topic_frame(self._spark, self.topic, self._options, self._spans if spans is None else spans)

    def sample(self, records: int) -> DataFrame:
        """Slices: a partition's first records, some from its middle, its last.

        Of up to four partitions all three, else one of each in turn; of very many partitions, evenly many. To begin reading
        a slice takes a tenth of a second, whatever it holds.
        """
        numbers = sorted(number for number, span in self._spans.items() if span.end > span.first)
        numbers = numbers[:: max(1, len(numbers) // _SLICES)]
        several = len(numbers) <= _SLICES // 3
        taken = [(number, third) for at, number in enumerate(numbers) for third in (range(3) if several else (at % 3,))]
        each = max(50, records // max(1, len(taken)))
        frames = [
            self.frame({number: _slice(self._spans[number], third, each) for number, at in taken if at == third})
            for third in range(3)
        ]
        return frames[0].unionByName(frames[1]).unionByName(frames[2])


class Export:
    """Files of records: ``path`` of Parquet or of JSON lines, with columns of the names given.

    ``partitions`` is how many the topic has: the files tell only which of them hold records. ``encoding`` says how a key of
    text is to be read.
    """

    def __init__(
        self, spark: Spark, path: str, form: str, partitions: int, *, key: str = "key", encoding: str = "utf8"
    ) -> None:
        self._spark, self._path, self._partitions = spark, path, partitions
        reader = spark.session.read
        read = spark.call(lambda: reader.parquet(path) if form == "parquet" else reader.json(path), f"reading {path}")
        self._frame = _columns(read, path, key, encoding)
        self._spans = self._found()

    def _found(self) -> dict[int, Span]:
        from pyspark.sql import functions as f

        told = f.min("offset").alias("first"), f.max("offset").alias("last"), f.count("*").alias("records")
        rows = self._spark.call(lambda: self._frame.groupBy("partition").agg(*told).collect(), f"reading {self._path}")
        found = {}
        for row in rows:
            partition, first = row["partition"], row["first"]
            if partition is None or first is None:
                raise BadInput(f"{self._path}: {row['records']:,} records have no partition or no offset")
            if not 0 <= partition < self._partitions:
                raise BadInput(
                    f"{self._path}: records lie in partition {partition}, and the topic is to have {self._partitions}:"
                    " was a partition removed, or is --partitions too low?"
                )
            found[int(partition)] = Span(int(first), int(row["last"]) + 1)
        return {partition: found.get(partition, Span(0, 0)) for partition in range(self._partitions)}

    @property
    def name(self) -> str:
        """Its path."""
        return self._path

    @property
    def partitions(self) -> int:
        """As was said."""
        return self._partitions

    @property
    def spans(self) -> Mapping[int, Span]:
        """What the files hold."""
        return self._spans

    def sample(self, records: int) -> DataFrame:
        """Evenly many from everywhere."""
        every = sum(span.end - span.first for span in self._spans.values())
        return self._frame.where(f"pmod(xxhash64(partition, offset), {max(1, every // records)}) = 0").limit(
            2 * records
        )

    def frame(self, spans: Mapping[int, Span] | None = None) -> DataFrame:
        """The records, sorted: files come in any order."""
        frame = self._frame
        if spans is not None:
            frame = frame.where(_within(spans))
        return frame.repartition(
            max(1, min(self._partitions, 4 * self._spark.cores)), "partition"
        ).sortWithinPartitions("partition", "offset")


# By default Spark reads Kafka by the first version of its interface, which makes of each row another kind of row and back
# again: half of what a bare count costs.
_AS_IT_IS = {"spark.sql.sources.useV1SourceList": "avro,csv,json,orc,parquet,text"}


def topic_frame(
    spark: Spark, topic: str, options: Mapping[str, str], spans: Mapping[int, Span], *, committed: bool = False,
    whole: bool = False,
) -> DataFrame:  # fmt: skip
    """A topic's records in these spans, read partition by partition: the four columns of a source's frame.

    ``whole``: ``value`` and ``headers`` too; ``committed``: of transactions, what is committed. Raises SparkFault.
    """
    asked = {number: span for number, span in sorted(spans.items()) if span.end > span.first}
    if not asked:
        return spark.session.createDataFrame([], _WHOLE if whole else COLUMNS)
    given: dict[str, Any] = {
        "assign": {topic: list(asked)},
        "startingOffsets": {topic: {str(number): span.first for number, span in asked.items()}},
        "endingOffsets": {topic: {str(number): span.end for number, span in asked.items()}},
    }
    reader = spark.session.read.format("kafka").options(**options)
    reader = reader.options(**{name: msgspec.json.encode(value).decode() for name, value in given.items()})
    if committed:
        reader = reader.option("kafka.isolation.level", "read_committed")
    if whole:
        reader = reader.option("includeHeaders", "true")
    columns = ["partition", "offset", "unix_millis(timestamp) as timestamp_ms", "key"]
    with spark.conf(_AS_IT_IS):
        read = spark.call(reader.load, f"reading {topic}")
    return read.selectExpr(*columns, *(("value", "headers") if whole else ()))


def _slice(span: Span, third: int, records: int) -> Span:
    """So many offsets at the beginning (0), in the middle (1) or at the end (2) of ``span``; no offset is in two of them."""
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
    """The four columns, of their types. Raises BadInput, naming what is missing and what is there."""
    kinds = dict(read.dtypes)
    for wanted in ("partition", "offset", key):
        if wanted not in kinds:
            there = ", ".join(kinds) or "none"
            what = "--key-column names it, if it is called otherwise" if wanted == key else "an audit needs to know it"
            raise BadInput(f"{path} has no column {wanted}: {what}; its columns are {there}")
    return read.selectExpr(
        f"cast({_quoted('partition')} as int) partition",
        f"cast({_quoted('offset')} as long) offset",
        f"{_time(kinds)} timestamp_ms",
        f"{_key(key, kinds[key], encoding, path)} key",
    )


def _time(kinds: Mapping[str, str]) -> str:
    for name in ("timestamp_ms", "timestamp"):
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
        raise BadInput(
            f"{path}: the key column {name} holds {kind}: a key is bytes, or text that --key-encoding explains"
        )
    return {"utf8": f"encode({column}, 'UTF-8')", "hex": f"unhex({column})", "base64": f"unbase64({column})"}[encoding]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def in_all(spans: Mapping[int, Span]) -> int:
    """How many offsets the spans have."""
    return sum(span.end - span.first for span in spans.values())


def chunked(spans: Mapping[int, Span], records: int) -> Sequence[Mapping[int, Span]]:
    """The spans in pieces of about so many offsets in all, each over all partitions, in order."""
    step = max(1, -(-records // max(1, len(spans))))
    longest = max((span.end - span.first for span in spans.values()), default=0)
    return [
        {
            partition: Span(min(span.first + at, span.end), min(span.first + at + step, span.end))
            for partition, span in spans.items()
            if span.first + at < span.end
        }
        for at in range(0, longest, step)
    ]
