"""Exports of a topic as a source: what their files hold, by partition, and what cannot be read."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_conformance.audit.engines.local.export import LocalExport
from kafka_conformance.audit.engines.spark.run import audit
from kafka_conformance.audit.engines.spark.sources import Export
from kafka_conformance.audit.plan import AuditRequest
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Audit, Placed
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.progress import Steps
from kafka_conformance.spark.session import Spark

PAGE = Path(__file__).parents[2] / "kit" / "docs" / "audit.md"
ROWS = [(partition, offset, 1000 + offset, b"k%d" % offset) for partition in (0, 2) for offset in (9, 3, 7)]
SCHEMA = "partition int, offset long, timestamp_ms long, key binary"


def export(spark: Spark, path: Path, rows: list[tuple[Any, ...]], partitions: int = 4) -> Export:
    frame = spark.session.createDataFrame(rows, SCHEMA).repartition(3)
    frame.write.parquet(str(path))
    return Export(spark, str(path), "parquet", partitions)


def test_offset_ranges_of_an_export_are_those_in_the_parquet_files(spark: Spark, tmp_path: Path) -> None:
    made = export(spark, tmp_path / "a", ROWS)
    assert made.spans == {0: Span(3, 10), 1: Span(0, 0), 2: Span(3, 10), 3: Span(0, 0)}
    assert [tuple(row) for row in made.frame({2: Span(4, 10)}).collect()] == [
        (2, 7, 1007, b"k7"), (2, 9, 1009, b"k9"),
    ]  # fmt: skip
    assert export(spark, tmp_path / "none", []).spans == dict.fromkeys(range(4), Span(0, 0))


def test_offset_ranges_of_a_parquet_export_need_one_read_of_columns_and_one_of_rows(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes = []
    call = Spark.call

    def counted(self: Spark, work: Any, doing: str = "") -> Any:
        passes.append(doing)
        return call(self, work, doing)

    monkeypatch.setattr(Spark, "call", counted)
    export(spark, tmp_path / "a", ROWS)
    assert passes == [f"reading {tmp_path / 'a'}"] * 2, "the files' columns, and the files"


@pytest.mark.parametrize("row", [(None, 4, 0, b"k"), (1, None, 0, b"k")])
def test_export_records_without_partition_or_offset_raise_an_error_with_the_count(
    spark: Spark, tmp_path: Path, row: tuple[Any, ...]
) -> None:
    with pytest.raises(BadInput, match=r"a: 2 records have no partition or no offset: export both columns$"):
        export(spark, tmp_path / "a", [*ROWS, row, row])


def test_export_record_beyond_the_partition_count_raises_an_error_that_asks_for_the_count(
    spark: Spark, tmp_path: Path
) -> None:
    with pytest.raises(
        BadInput, match=r"a: there are records in partition 2, but --partitions is 2: give the topic's partition count"
    ):
        export(spark, tmp_path / "a", ROWS, 2)


def test_documented_spark_json_export_is_read_equally_by_spark_and_local_engines(spark: Spark, tmp_path: Path) -> None:
    """Spark writes a folder for each partition, and keys as base64."""
    (recipe,) = re.findall(r"\| Spark, as JSON \| `….(select.*?)`", PAGE.read_text(encoding="utf-8"))
    frame = spark.session.createDataFrame(ROWS, SCHEMA.replace("timestamp_ms", "timestamp"))
    path = str(tmp_path / "orders")
    command = f"frame.{recipe}".replace('"orders"', repr(path))
    eval(command, {"frame": frame})  # noqa: S307  it is the page's
    expected = [(2, offset, 1000 + offset, b"k%d" % offset) for offset in (3, 7, 9)]
    by_spark = Export(spark, path, "json", 4, encoding="base64")
    assert [tuple(row) for row in by_spark.frame({2: Span(3, 10)}).sort("offset").collect()] == expected
    by_files = LocalExport(path, "json", 4, encoding="base64")
    assert by_files.spans == by_spark.spans == {0: Span(3, 10), 1: Span(0, 0), 2: Span(3, 10), 3: Span(0, 0)}
    (block,) = by_files.blocks({2: Span(3, 10)})
    rows = zip(block.offsets.tolist(), block.timestamps_ms.tolist(), block.keys.to_pylist(), strict=True)
    assert [(2, *row) for row in rows] == expected


def audited(spark: Spark, path: Path, keys: list[bytes], chosen: Callable[[bytes], int]) -> Audit:
    """The audit of an export of twelve partitions, into which these keys were placed."""
    rows = [(chosen(key), offset, 1000 + offset, key) for offset, key in enumerate(keys)]
    source = export(spark, path / "export", rows, 12)
    return audit(spark, source, AuditRequest("numbers", ""), str(path / "run"), Steps("audit", 1))


def attributed(found: Audit) -> dict[str, int]:
    names = {name for line in found.by_partition for name in line.attributed}
    return {name: sum(line.attributed.get(name, 0) for line in found.by_partition) for name in sorted(names)}


def test_audit_of_five_keys_attributes_no_record_and_reports_that_eleven_keys_are_needed(
    spark: Spark, tmp_path: Path
) -> None:
    keys = [b"customer-%d" % (number % 5) for number in range(200)]
    found = audited(spark, tmp_path, keys, lambda key: zlib.crc32(key) % 12)
    assert found.doubt is not None
    assert (found.doubt.keys, found.doubt.fitting, found.doubt.needed) == (5, ("librdkafka-consistent",), 11)
    assert attributed(found) == {EITHER: 200}
    assert (found.runs, found.growth, found.offending) == ((), (), 120)


def test_audit_attributes_integer_keys_placed_by_modulo_not_byte_sum_and_reports_no_growth(
    spark: Spark, tmp_path: Path
) -> None:
    keys = [b"%d" % (number % 3000) for number in range(6000)]
    found = audited(spark, tmp_path / "modulo", keys, lambda key: int(key) % 12)
    assert (attributed(found), found.growth, found.splits.keys) == ({"text-integer@12": 6000}, (), 0)
    assert {run.placed for run in found.runs} == {(Placed("text-integer", 12),)}
    unknown = audited(spark, tmp_path / "sum", keys, lambda key: sum(key) % 12)
    assert (attributed(unknown), unknown.growth) == ({UNEXPLAINED: 6000}, ())
    assert (unknown.splits.keys, unknown.splits.of_keys, unknown.doubt) == (0, 3000, None)
