"""Read a topic's segment files on Spark, one task for each segment. The workers must see the files under the same paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from kafka_conformance.audit.engines.local.segments import LocalSegments
from kafka_conformance.audit.segments.decode import Task, decode
from kafka_conformance.audit.segments.topic import SegmentTopic
from kafka_conformance.audit.sources import COLUMNS
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.session import Spark
from kafka_conformance.spark.workers import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["OnSpark", "Segments"]

T = TypeVar("T")


@dataclass(frozen=True)
class OnSpark:
    """Applies a function on Spark: ``segments.topic.Runner``."""

    spark: Spark
    progress: Steps | None = None

    def __call__(self, work: Callable[[T], bytes], items: Sequence[T], doing: str) -> Sequence[bytes]:
        """Return the result for each item. Raises SparkFault."""
        if not items:
            return []
        if self.progress is not None:
            self.progress.doing(doing)
        frame = mapped(_numbers(self.spark, len(items)), _Worked(work, items), "at long, data binary")
        rows = self.spark.call(frame.collect, doing)
        found = {row["at"]: bytes(row["data"]) for row in rows}
        return [found[at] for at in range(len(items))]


class Segments(LocalSegments):
    """The records of a topic in segment files: ``sources.Source``."""

    def __init__(self, spark: Spark, topic: SegmentTopic, spans: Mapping[int, Span] | None = None) -> None:
        super().__init__(topic, spans)
        self._spark = spark

    def frame(self, spans: Mapping[int, Span] | None = None) -> DataFrame:
        """Return the records in these spans, or all: decoded by segment, then brought together by partition."""
        tasks = self.topic.tasks(self.spans if spans is None else spans)
        if not tasks:
            return self._spark.session.createDataFrame([], COLUMNS)
        frame = mapped(_numbers(self._spark, len(tasks)), _Decoded(tasks), COLUMNS)
        return frame.repartition(max(1, min(self.partitions, 4 * self._spark.cores)), "partition").sortWithinPartitions(
            "partition", "offset"
        )

    def reader(self) -> LocalSegments:
        """Return the records as this process reads them."""
        return LocalSegments(self.topic, self.spans)


def _numbers(spark: Spark, count: int) -> DataFrame:
    """Return a frame of the numbers below ``count``, each in a separate task."""
    return spark.session.range(0, count, 1, count)


@dataclass(frozen=True)
class _Worked:
    work: Callable[[Any], bytes]
    items: Sequence[Any]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for at in batch.column(0).to_pylist():
                columns = [pa.array([at], pa.int64()), pa.array([self.work(self.items[at])], pa.binary())]
                yield pa.RecordBatch.from_arrays(columns, names=["at", "data"])


@dataclass(frozen=True)
class _Decoded:
    tasks: Sequence[Task]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for at in batch.column(0).to_pylist():
                task = self.tasks[at]
                for piece in decode(task):
                    partition = pa.array(np.full(len(piece.offsets), task.file.partition, np.int32))
                    columns = [partition, pa.array(piece.offsets), pa.array(piece.timestamps_ms), piece.keys]
                    yield pa.RecordBatch.from_arrays(columns, names=["partition", "offset", "timestamp_ms", "key"])
