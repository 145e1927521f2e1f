"""Exports of a topic as a source: what their files hold, by partition, and what cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.spark.audit.sources import Export, Span
from kafka_conformance.spark.session import Spark

ROWS = [(partition, offset, 1000 + offset, b"k%d" % offset) for partition in (0, 2) for offset in (9, 3, 7)]
SCHEMA = "partition int, offset long, timestamp_ms long, key binary"


def export(spark: Spark, path: Path, rows: list[tuple[Any, ...]], partitions: int = 4) -> Export:
    frame = spark.session.createDataFrame(rows, SCHEMA).repartition(3)
    frame.write.parquet(str(path))
    return Export(spark, str(path), "parquet", partitions)


def test_its_spans_are_what_the_files_hold(spark: Spark, tmp_path: Path) -> None:
    made = export(spark, tmp_path / "a", ROWS)
    assert made.spans == {0: Span(3, 10), 1: Span(0, 0), 2: Span(3, 10), 3: Span(0, 0)}
    assert [tuple(row) for row in made.frame({2: Span(4, 10)}).collect()] == [
        (2, 7, 1007, b"k7"), (2, 9, 1009, b"k9"),
    ]  # fmt: skip
    assert export(spark, tmp_path / "none", []).spans == dict.fromkeys(range(4), Span(0, 0))


def test_its_spans_take_one_pass(spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = []
    call = Spark.call

    def counted(self: Spark, work: Any, doing: str = "") -> Any:
        passes.append(doing)
        return call(self, work, doing)

    monkeypatch.setattr(Spark, "call", counted)
    export(spark, tmp_path / "a", ROWS)
    assert passes == [f"reading {tmp_path / 'a'}"] * 2, "the files' columns, and the files"


@pytest.mark.parametrize("row", [(None, 4, 0, b"k"), (1, None, 0, b"k")])
def test_records_of_no_place_are_counted(spark: Spark, tmp_path: Path, row: tuple[Any, ...]) -> None:
    with pytest.raises(BadInput, match=r"a: 2 records have no partition or no offset: export both columns$"):
        export(spark, tmp_path / "a", [*ROWS, row, row])


def test_a_partition_beyond_the_count_is_said(spark: Spark, tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"a: there are records in partition 2, but --partitions is 2: give the topic's partition count"
    ):
        export(spark, tmp_path / "a", ROWS, 2)
