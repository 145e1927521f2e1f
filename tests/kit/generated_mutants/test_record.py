"""The record of generated mutants, and the results that a run goes on from."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.generated_mutants import record
from kafka_conformance.generated_mutants.mutant_trial import Result
from kafka_conformance.generated_mutants.record import GeneratedRow, Record, Results, merged, read, shipped, write
from kafka_conformance.rules import RULES

ROW = GeneratedRow("murmur2", "f", 1, 10, 7, 1, ("a", "b"))


def test_record_of_generated_mutants_round_trips_is_empty_if_missing_and_rejects_other_json(tmp_path: Path) -> None:
    write(Record((ROW,)), tmp_path / "record.json")
    assert read(tmp_path / "record.json") == Record((ROW,))
    assert read(tmp_path / "none.json") == Record()
    (tmp_path / "bad.json").write_text("[1]")
    with pytest.raises(BadInput, match="is not a record of generated mutants"):
        read(tmp_path / "bad.json")


def test_merged_record_replaces_rows_and_sorts_by_rule() -> None:
    other = GeneratedRow("delivery", "f", 1, 1, 1, 0, ())
    later = GeneratedRow("murmur2", "g", 2, 10, 8, 0, ())
    assert merged(Record((ROW, other)), [later]) == Record((later, other))


CASES = {"murmur2": ("a", "b"), "partition-for-key": ("c",)}
KILLED = Result("k", "frozen", 3, "b in 4.4.0", "murmur2", 2, "differs")
ALIVE, FRESH = Result("l", "survived", 9), Result("m", "fresh", 9, "fresh {} in 4.4.0", "murmur2", 8, "differs")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    results = Results(tmp_path, "murmur2", 1, CASES)
    results.known |= {one.key: one for one in (KILLED, ALIVE, FRESH)}
    results.write()
    return tmp_path


def test_stored_mutant_results_are_reused_for_equal_code_cases_and_seed(written: Path) -> None:
    known = Results(written, "murmur2", 1, CASES).known
    assert known == {"k": KILLED, "l": ALIVE, "m": FRESH}
    assert Results(written, "murmur2", 2, CASES).known == {}


def test_stored_mutant_results_are_dropped_after_a_code_change(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "fingerprint", lambda _: "other")
    results = Results(written, "murmur2", 1, CASES)
    assert (results.known, results.earlier) == ({}, {})


def test_mutants_that_no_frozen_case_killed_are_run_again_when_a_frozen_case_is_added(written: Path) -> None:
    results = Results(written, "murmur2", 1, CASES | {"murmur2": ("a", "b", "d")})
    assert results.known == {"k": KILLED}
    assert results.earlier == {"l": ALIVE, "m": FRESH}
    assert results.asked["murmur2"] == {"a", "b"}


def test_mutant_killed_by_a_removed_case_is_asked_all_questions(written: Path) -> None:
    results = Results(written, "murmur2", 1, CASES | {"murmur2": ("a",)})
    assert set(results.known) == {"l", "m"}
    assert results.earlier == {}


def test_truncated_file_of_mutant_results_is_ignored(written: Path) -> None:
    path = written / "murmur2.ndjson"
    path.write_bytes(path.read_bytes() + b'{"key": ')
    assert Results(written, "murmur2", 1, CASES).known == {}


def test_shipped_record_has_existing_rules_and_counts_that_add_up() -> None:
    rows = shipped().rows
    assert [row.rule for row in rows] == [slug for slug in RULES if slug in {row.rule for row in rows}]
    assert all(row.frozen + row.fresh + len(row.survivors) == row.mutants for row in rows)
