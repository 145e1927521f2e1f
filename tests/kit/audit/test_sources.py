from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.engines.spark.sources import Topic, topic_frame
from kafka_conformance.audit.sources import COLUMNS, chunked
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput

SPANS = st.dictionaries(
    st.integers(0, 20), st.tuples(st.integers(0, 10**9), st.integers(0, 5_000)).map(lambda it: Span(it[0], sum(it)))
)


@given(SPANS, st.integers(1, 10_000))
def test_chunks_cover_every_offset_once_in_order(spans: dict[int, Span], records: int) -> None:
    chunks = chunked(spans, records)
    for partition, span in spans.items():
        pieces = [chunk[partition] for chunk in chunks if partition in chunk]
        assert sum(piece.end - piece.first for piece in pieces) == span.end - span.first
        if pieces:
            assert pieces[0].first == span.first
            assert pieces[-1].end == span.end
            assert all(one.end == other.first for one, other in pairwise(pieces))
    assert all(chunk for chunk in chunks)


@pytest.mark.parametrize("records", [1, 7, 1000])
def test_chunk_exceeds_max_of_requested_records_and_partitions_by_at_most_one_per_partition(records: int) -> None:
    spans = {partition: Span(0, 5_000) for partition in range(4)}
    largest = max(sum(span.end - span.first for span in chunk.values()) for chunk in chunked(spans, records))
    assert largest <= max(records, 4) + 4


def test_empty_offset_spans_make_no_chunk() -> None:
    assert chunked({0: Span(5, 5), 1: Span(0, 0)}, 100) == []
    assert chunked({}, 100) == []


class Reader:
    """Spark's session and its reader: notes what it is asked for."""

    def __init__(self) -> None:
        self.session = self.read = self
        self.given: dict[str, str] = {}

    def format(self, name: str) -> Reader:
        assert name == "kafka"
        return self

    def options(self, **given: str) -> Reader:
        self.given |= given
        return self

    def option(self, name: str, value: str) -> Reader:
        return self.options(**{name: value})

    @contextmanager
    def conf(self, settings: dict[str, str]) -> Iterator[None]:
        self.settings = settings
        yield
        self.settings = {}

    def load(self) -> Reader:
        assert "kafka" not in self.settings["spark.sql.sources.useV1SourceList"].split(",")
        return self

    def selectExpr(self, *columns: str) -> tuple[str, ...]:  # noqa: N802
        return tuple(column.split(" as ")[-1] for column in columns)

    def createDataFrame(self, rows: list[Any], schema: str) -> tuple[str, ...]:  # noqa: N802
        assert rows == []
        return tuple(column.split()[0] for column in schema.split("<")[0].split(", "))

    def call(self, work: Any, doing: str) -> Any:
        assert doing == "reading t"
        return work()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize("spans", [{}, {0: Span(5, 5)}, {3: Span(2, 9), 0: Span(5, 5), 1: Span(0, 4)}])
def test_spark_frame_reads_only_planned_spans_committed_or_with_values_and_headers_if_requested(
    spans: dict[int, Span], committed: bool, whole: bool
) -> None:
    spark = Reader()
    read: Any = topic_frame(
        spark, "t", {"kafka.x": "1"}, spans, committed=committed, whole=whole  # type: ignore[arg-type]
    )  # fmt: skip
    columns = tuple(column.split()[0] for column in COLUMNS.split(", "))
    assert read == ((*columns, "value", "headers") if whole else columns)
    if len(spans) < 3:
        assert spark.given == {}, "there is nothing to be read"
        return
    assert json.loads(spark.given.pop("assign")) == {"t": [1, 3]}
    assert json.loads(spark.given.pop("startingOffsets")) == {"t": {"1": 0, "3": 2}}
    assert json.loads(spark.given.pop("endingOffsets")) == {"t": {"1": 4, "3": 9}}
    assert spark.given.pop("kafka.isolation.level", "") == ("read_committed" if committed else "")
    assert spark.given.pop("includeHeaders", "") == ("true" if whole else "")
    assert spark.given == {"kafka.x": "1"}


def test_sample_of_a_topic_no_larger_than_the_sample_size_reads_the_whole_topic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A third of each partition may have too few keys to tell, where the topic has enough."""
    read: list[Any] = []

    class Frame:
        def unionByName(self, _: Frame) -> Frame:  # noqa: N802  Spark's name
            return self

    def frame(_: Topic, spans: dict[int, Span] | None = None) -> Frame:
        read.append(spans)
        return Frame()

    monkeypatch.setattr(Topic, "frame", frame)
    spans = {number: Span(5, 25) for number in range(12)}
    Topic(Reader(), "t", {}, spans).sample(240)
    assert read == [None]
    Topic(Reader(), "t", {}, spans).sample(239)
    assert len(read) == 4


def test_chunk_size_that_needs_over_a_million_chunks_raises_an_error() -> None:
    assert len(chunked({0: Span(0, 10**9)}, 1_000)) == 10**6
    for spans, records in (({0: Span(0, 2**62)}, 25_000_000), ({0: Span(-(2**63), 2**63 - 1)}, 0)):
        with pytest.raises(BadInput, match="expected 1,000,000 chunks at most"):
            chunked(spans, records)
