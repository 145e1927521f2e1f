"""The record of killed mutants: written, read and merged; which rows hold; and the one that ships."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.verify.fingerprint import mutants_fingerprint
from kafka_conformance.verify.mutants import record as records
from kafka_conformance.verify.mutants.record import Kill, MutantRow, Record


def row(rule: str = "murmur2", seed: int = 1) -> MutantRow:
    """A row that holds."""
    kills = [
        Kill(one.slug, str(one.release), 30 + number % 7, 25) for number, one in enumerate(MUTANTS) if one.rule == rule
    ]
    return MutantRow(rule, mutants_fingerprint(RULES[rule]), seed, 2000, tuple(kills))


def test_mutant_record_has_a_line_per_mutant_and_round_trips(tmp_path: Path) -> None:
    made = Record((row(), row("partition-for-key")))
    records.write(made, tmp_path / "it.json")
    assert records.read(tmp_path / "it.json") == made
    lines = (tmp_path / "it.json").read_text(encoding="utf-8").splitlines()
    assert sum('"4.4.0"' in line for line in lines) == sum(len(one.mutants) for one in made.rows)
    records.write(Record(), tmp_path / "it.json")
    assert records.read(tmp_path / "it.json") == Record()
    assert records.read(tmp_path / "none.json") == Record()


def test_invalid_mutant_record_raises_bad_input_with_the_file_name(tmp_path: Path) -> None:
    (tmp_path / "it.json").write_text('{"rows": [3]}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"it\.json is not a record of mutants: "):
        records.read(tmp_path / "it.json")


def test_merged_mutant_rows_replace_rows_of_the_rule_and_drop_unknown_or_excluded_rules() -> None:
    gone = replace(row(), rule="gone")
    made = records.merged(Record((row("partition-for-key"), row(), gone)), [row(seed=2), row("time-index")])
    assert [(one.rule, one.seed) for one in made.rows] == [("murmur2", 2), ("partition-for-key", 1), ("time-index", 1)]
    left = records.merged(made, [], without=["murmur2"])
    assert [one.rule for one in left.rows] == ["partition-for-key", "time-index"]


def test_quickest_mutant_is_killed_with_the_fewest_questions_then_first_by_name() -> None:
    kills = (Kill("c", "4.4.0", 25, 25), Kill("a", "4.4.0", 26, 25), Kill("b", "4.4.0", 25, 25))
    assert replace(row(), mutants=kills).quickest({"a", "b", "c"}).mutant == "b"
    assert replace(row(), mutants=kills).quickest({"a"}).mutant == "a"


def test_mutant_record_row_is_valid_for_the_installed_mutants() -> None:
    assert records.proven_rows(Record((row(),)), MUTANTS) == {"murmur2": row()}


@pytest.mark.parametrize(
    "made",
    [
        replace(row(), fingerprint="0"),
        replace(row(), mutants=row().mutants[1:]),
        replace(row(), mutants=(replace(row().mutants[0], release="3.9.2"), *row().mutants[1:])),
        replace(row(), mutants=(replace(row().mutants[0], differ=0), *row().mutants[1:])),
        replace(row(), mutants=()),
        replace(row(), rule="gone"),
    ],
    ids=["other code", "a mutant less", "another release", "a survivor", "no mutants", "no such rule"],
)
def test_mutant_record_row_with_other_code_mutants_or_survivor_is_invalid(made: MutantRow) -> None:
    both = Record((made, row("partition-for-key")))
    assert list(records.proven_rows(both, MUTANTS)) == ["partition-for-key"]
    assert made.rule in records.void_rules(both, MUTANTS)
    assert "partition-for-key" not in records.void_rules(both, MUTANTS)


def test_rule_without_mutant_record_row_is_reported() -> None:
    assert records.void_rules(Record((row(),)), MUTANTS) == [slug for slug in RULES if slug != "murmur2"]


def test_shipped_mutant_record_is_valid_for_installed_mutants() -> None:
    void = records.void_rules(records.shipped(), MUTANTS)
    assert void == [], (
        f"the record of the mutants of {', '.join(void)} is not that of the installed code: run `kafka-conformance selftest"
        " --changed --seed 1 --record kit/kafka_conformance/verify/mutants/record.json`"
    )
