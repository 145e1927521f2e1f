"""The record of generated mutants, and the results that a run goes on from."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.generated_mutants.asking import Result
from kafka_conformance.generated_mutants.record import Record, Results, Row, merged, read, shipped, write
from kafka_conformance.rules import RULES

ROW = Row("murmur2", "f", 1, 10, 7, 1, ("a", "b"))


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(Record((ROW,)), tmp_path / "record.json")
    assert read(tmp_path / "record.json") == Record((ROW,))
    assert read(tmp_path / "none.json") == Record()
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(BadInput, match="is not a record of generated mutants"):
        read(tmp_path / "bad.json")


def test_rows_are_replaced_in_the_order_of_the_rules() -> None:
    other = Row("delivery", "f", 1, 1, 1, 0, ())
    later = Row("murmur2", "g", 2, 10, 8, 0, ())
    assert merged(Record((ROW, other)), [later]) == Record((later, other))


def test_results_of_the_same_code_and_seed_are_known_again(tmp_path: Path) -> None:
    results = Results(tmp_path, "murmur2", "f", 1)
    results.known["k"] = Result("k", "frozen", 3, "case in 4.4.0", 2, "differs")
    results.write()
    assert Results(tmp_path, "murmur2", "f", 1).known == results.known
    assert Results(tmp_path, "murmur2", "g", 1).known == {}
    assert Results(tmp_path, "murmur2", "f", 2).known == {}


def test_a_file_that_was_cut_is_asked_again(tmp_path: Path) -> None:
    Results(tmp_path, "murmur2", "f", 1).write()
    path = tmp_path / "murmur2.ndjson"
    path.write_bytes(path.read_bytes() + b'{"key": ')
    assert Results(tmp_path, "murmur2", "f", 1).known == {}


def test_the_record_that_ships_is_of_rules_that_exist() -> None:
    rows = shipped().rows
    assert [row.rule for row in rows] == [slug for slug in RULES if slug in {row.rule for row in rows}]
    assert all(row.frozen + row.fresh + len(row.survivors) == row.mutants for row in rows)
