"""The record of coverage: written, read and merged; and the one that ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.verify.coverage import record as records
from kafka_conformance.verify.coverage.mirrored_code import mirroring_rules
from kafka_conformance.verify.coverage.record import CoverageRow, Method, Ratio, Record
from kafka_conformance.verify.coverage.summary import false_reasons


def row(rule: str = "murmur2", release: str = "4.4.0", run: int = 1) -> CoverageRow:
    method = Method("Utils.murmur2(byte[])", Ratio(run, 2), Ratio(run, 2), (8,), ((9, 1, 2),))
    return CoverageRow(rule, release, "ab" * 32, "cd", 1, 500, 7, {"edges": 10}, 500, {"org/Utils": (method,)})


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Ratio(0, 0), "none"),
        (Ratio(199, 200), "199 of 200 (99 %)"),
        (Ratio(2, 2), "2 of 2 (100 %)"),
    ],
)
def test_coverage_share_text_rounds_down_below_100_percent(share: Ratio, text: str) -> None:
    assert str(share) == text


def test_coverage_record_has_a_line_per_method_and_round_trips(tmp_path: Path) -> None:
    made = Record((row(), row("partition-for-key")))
    records.write(made, tmp_path / "it.json")
    assert records.read(tmp_path / "it.json") == made
    assert sum("Utils.murmur2" in line for line in (tmp_path / "it.json").read_text(encoding="utf-8").splitlines()) == 2
    records.write(Record(), tmp_path / "it.json")
    assert records.read(tmp_path / "it.json") == Record()
    assert records.read(tmp_path / "none.json") == Record()


def test_invalid_coverage_record_raises_bad_input_with_the_file_name(tmp_path: Path) -> None:
    (tmp_path / "it.json").write_text('{"rows": [3]}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"it\.json is not a record of coverage: "):
        records.read(tmp_path / "it.json")


def test_merged_coverage_rows_replace_equal_rule_and_release_and_newest_are_one_per_rule() -> None:
    made = records.merged(Record((row(), row(release="2.8.2"))), [row(run=2), row("partition-for-key")])
    assert [(one.rule, one.release, one.methods["org/Utils"][0].lines.run) for one in made.rows] == [
        ("murmur2", "2.8.2", 1), ("murmur2", "4.4.0", 2), ("partition-for-key", "4.4.0", 1),
    ]  # fmt: skip
    assert [one.release for one in records.newest_rows(made)] == ["4.4.0", "4.4.0"]


def test_shipped_coverage_record_has_every_rule_with_kafka_code_and_no_wrong_exclusion_reason() -> None:
    shipped = records.shipped()
    newest = records.newest_rows(shipped)
    assert [one.rule for one in newest] == [rule.slug for rule in mirroring_rules()]
    assert [line for one in newest for line in false_reasons(one, shipped)] == []
