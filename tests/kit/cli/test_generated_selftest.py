"""``selftest --generated``: a rule whose questions kill its mutants passes, and one whose questions do not turns it red."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from kafka_conformance.cli import generated_selftest
from kafka_conformance.cli.main import app
from kafka_conformance.generated_mutants import record as records
from kafka_conformance.generated_mutants.population import Mutant, Population
from kafka_conformance.generated_mutants.questions import RuleQuestions
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

SLUG = "sequence-decrement"
MODULE = "kafka_reference.idempotence.sequences"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One rule and its own module are all there is, and nothing is known of them."""

    class Few(Population):
        def __init__(self, releases: Sequence[Release]) -> None:
            super().__init__(releases, {SLUG: RULES[SLUG]})

        def of(self, slug: str) -> tuple[Mutant, ...]:
            return tuple(one for one in super().of(slug) if one.mutation.module == MODULE)

    monkeypatch.setattr(generated_selftest, "Population", Few)
    monkeypatch.setattr(records, "shipped", records.Record)
    monkeypatch.chdir(tmp_path)


def ran(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        app, ["selftest", "--generated", "--rules", SLUG, "--seed", "5", *words], standalone_mode=False
    )
    assert result.exception is None, result.output
    return result.return_value, result.output


def test_a_rule_whose_mutants_are_killed(tmp_path: Path) -> None:
    code, output = ran("--record", str(tmp_path / "record.json"))
    assert code == 0, output
    assert "100.0%" in output
    assert "1 of 1 rules asked, seed 5" in output
    (row,) = records.read(tmp_path / "record.json").rows
    assert row.frozen == row.mutants > 5
    assert (tmp_path / ".kafka-conformance/generated-mutants/sequence-decrement.ndjson").exists()


def test_a_survivor_turns_it_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the questions that wrap, mutants of the wrap live."""
    every = RuleQuestions.asked

    def tame(self: RuleQuestions, stage: str) -> object:
        return tuple(one for one in every(self, stage) if b'"by":0,' in one.question)  # type: ignore[arg-type]

    monkeypatch.setattr(RuleQuestions, "asked", tame)
    code, output = ran()
    assert code == 1
    assert "alive: kafka_reference/idempotence/sequences.py:" in output
    assert "less than 97% killed by frozen cases or 99% by a gate" in output


def test_a_rule_on_record_is_not_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran("--record", str(tmp_path / "record.json"))
    kept = records.read(tmp_path / "record.json")
    monkeypatch.setattr(records, "shipped", lambda: kept)
    code, output = ran("--changed")
    assert code == 0
    assert "0 of 1 rules asked" in output


def test_a_rule_that_is_not_on_record_is_left_out_of_what_changed() -> None:
    code, output = ran("--changed")
    assert code == 0
    assert "not on record, left out: sequence-decrement" in output
    assert "0 of 0 rules asked" in output


def test_a_changed_rule_is_asked_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran("--record", str(tmp_path / "record.json"))
    (row,) = records.read(tmp_path / "record.json").rows
    monkeypatch.setattr(records, "shipped", lambda: records.Record((replace(row, fingerprint="other"),)))
    code, output = ran("--changed")
    assert code == 0
    assert "1 of 1 rules asked" in output
