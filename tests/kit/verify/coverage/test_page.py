"""The page on coverage: what it says of a record, and that the one in the docs is made from the record that ships."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.verify.coverage import record as records
from kafka_conformance.verify.coverage.page import coverage_page
from kafka_conformance.verify.coverage.record import CoverageRow, Method, Ratio, Record

PAGE = Path(__file__).parents[4] / "kit" / "docs" / "coverage.md"


def row(release: str, run: int) -> CoverageRow:
    methods = (
        Method(
            "BuiltInPartitioner.nextPartition(Cluster)", Ratio(run, 9), Ratio(run, 6), (4, 5, 6, 9), ((4, 0, 2), (8, 1, 2))
        ),
        Method("BuiltInPartitioner.randomPartition()", Ratio(0, 1), Ratio(0, 0), (12,)),
        Method("BuiltInPartitioner.partitionForKey(byte[], int)", Ratio(0, 1), Ratio(0, 2), (14,)),
    )  # fmt: skip
    name = "org/apache/kafka/clients/producer/internals/BuiltInPartitioner"
    return CoverageRow(
        "builtin-partitioner", release, "ab" * 32, "cd", 7, 500, 12, {"edges": 1000}, 500, {name: methods}
    )


def test_coverage_page_has_table_line_and_section_per_rule() -> None:
    page = coverage_page(Record((row("4.4.0", 5),)))
    assert (
        "| [`builtin-partitioner`](#builtin-partitioner) | 5 of 6 (83 %) | 5 of 10 (50 %) | 5 of 8 (62 %) | 12 | 1 "
        "| 1,000 of spaces, 500 generated | the draws, the calls of RecordAccumulator |"
    ) in page
    section = page.partition("## builtin-partitioner")[2]
    assert "Kafka 4.4.0, 1,500 questions with seed 7." in section
    assert (
        "| [`BuiltInPartitioner`](https://github.com/apache/kafka/blob/4.4.0/clients/src/main/java/org/apache/kafka/clients/"
        "producer/internals/BuiltInPartitioner.java) | 1 of 2 (50 %) | 5 of 6 (83 %) | 5 of 10 (50 %) |"
    ) in section
    assert (
        "- the partition of a key, run by [`partition-for-key`](#partition-for-key): "
        "`BuiltInPartitioner.partitionForKey(byte[], int)`"
    ) in section
    assert "Never run:\n\n- `BuiltInPartitioner.randomPartition()`\n" in section
    assert "- `BuiltInPartitioner.nextPartition(Cluster)`: not lines 4-6, 9; branches: 1 of 2 in line 8\n" in section
    assert "By release" not in page


def test_coverage_page_with_several_releases_has_table_by_release() -> None:
    page = coverage_page(Record((row("3.3.1", 3), row("4.4.0", 5))))
    assert "| rule | 3.3.1 | 4.4.0 |\n|---|---:|---:|\n| `builtin-partitioner` | 50 % | 83 % |\n" in page


def test_committed_coverage_page_equals_page_of_shipped_record() -> None:
    assert PAGE.read_text(encoding="utf-8") == coverage_page(records.shipped()), (
        "run kafka-conformance coverage --shipped --write kit/docs/coverage.md"
    )
