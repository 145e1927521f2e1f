"""``selftest --generated``: a rule whose questions kill its mutants passes, and one whose questions do not turns it red."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from kafka_conformance.cases.addition import read_questions
from kafka_conformance.cases.store import Frozen
from kafka_conformance.cli import generated_selftest
from kafka_conformance.cli.main import app
from kafka_conformance.generated_mutants import record as records
from kafka_conformance.generated_mutants.population import Mutant, Population
from kafka_conformance.generated_mutants.questions import Asked, RuleQuestions, Stage
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


def test_generated_selftest_records_a_rule_whose_mutants_are_all_killed(tmp_path: Path) -> None:
    code, output = ran("--record", str(tmp_path / "record.json"))
    assert code == 0, output
    assert "100.0%" in output
    assert "1 of 1 rules asked, seed 5" in output
    (row,) = records.read(tmp_path / "record.json").rows
    assert row.frozen == row.mutants > 5
    assert (tmp_path / ".kafka-conformance/generated-mutants/sequence-decrement.ndjson").exists()


def test_generated_selftest_with_a_surviving_mutant_exits_1_and_prints_the_mutated_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the questions that wrap, mutants of the wrap live."""
    every = RuleQuestions.asked
    monkeypatch.setattr(RuleQuestions, "asked", lambda self, stage: tame(every(self, stage)))
    code, output = ran()
    assert code == 1
    assert "alive: kafka_reference/idempotence/sequences.py:" in output
    assert "less than 97% killed by frozen cases or 99% by a gate" in output


def test_generated_selftest_changed_skips_an_unchanged_recorded_rule(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran("--record", str(tmp_path / "record.json"))
    kept = records.read(tmp_path / "record.json")
    monkeypatch.setattr(records, "shipped", lambda: kept)
    code, output = ran("--changed")
    assert code == 0
    assert "0 of 1 rules asked" in output


def test_generated_selftest_changed_skips_a_rule_without_record() -> None:
    code, output = ran("--changed")
    assert code == 0
    assert "not on record, left out: sequence-decrement" in output
    assert "0 of 0 rules asked" in output


def test_generated_selftest_changed_runs_a_rule_whose_recorded_fingerprint_differs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran("--record", str(tmp_path / "record.json"))
    (row,) = records.read(tmp_path / "record.json").rows
    monkeypatch.setattr(records, "shipped", lambda: records.Record((replace(row, fingerprint="other"),)))
    code, output = ran("--changed")
    assert code == 0
    assert "1 of 1 rules asked" in output


def test_generated_selftest_changed_skips_a_slow_rule_unless_record_option_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran("--record", str(tmp_path / "record.json"))
    (row,) = records.read(tmp_path / "record.json").rows
    monkeypatch.setattr(records, "shipped", lambda: records.Record((replace(row, fingerprint="other"),)))
    monkeypatch.setattr(generated_selftest, "_SLOWEST", {SLUG})
    code, output = ran("--changed")
    assert code == 0
    assert f"changed, and left to tox -e nightly: {SLUG}" in output
    assert "1 of 1 rules asked" in ran("--changed", "--record", str(tmp_path / "record.json"))[1]


def test_generated_selftest_rerun_kills_surviving_mutants_with_new_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run misses the cases that wrap; the second one asks them, and nothing else."""
    every, cases = RuleQuestions.asked, generated_selftest.frozen
    monkeypatch.setattr(generated_selftest, "frozen", lambda rule: without_wraps(cases(rule)))
    monkeypatch.setattr(RuleQuestions, "asked", lambda self, stage: tame(every(self, stage)))
    assert ran()[0] == 1
    monkeypatch.setattr(generated_selftest, "frozen", cases)
    monkeypatch.setattr(RuleQuestions, "asked", every)
    code, output = ran()
    assert code == 0, output


def without_wraps(found: Frozen | None) -> Frozen | None:
    return found and Frozen(found.provenance, tuple(case for case in found.cases if b'"by":0,' in bytes(case.question)))


def tame(asked: Sequence[Asked]) -> tuple[Asked, ...]:
    return tuple(one for one in asked if b'"by":0,' in one.question)


def test_generated_selftest_search_saves_questions_that_kill_survivors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    every = RuleQuestions.asked
    monkeypatch.setattr(
        RuleQuestions,
        "asked",
        lambda self, stage: every(self, stage) if stage == "search" else tame(every(self, stage)),
    )
    _, output = ran("--search", "50")
    assert "found: kafka_reference.idempotence.sequences:decrement: " in output
    killers = tmp_path / ".kafka-conformance/generated-mutants/killers.ndjson"
    questions = read_questions(killers)[SLUG]
    assert f"killers.ndjson, with {len(questions)} question" in output
    ran("--search", "50")
    assert read_questions(killers)[SLUG] == questions


def test_selftest_search_without_generated_option_is_refused() -> None:
    result = CliRunner().invoke(app, ["selftest", "--search", "5"], standalone_mode=False)
    assert "--search asks about generated mutants" in str(result.exception)


def test_generated_selftest_aborts_if_the_reference_fails_a_frozen_case(monkeypatch: pytest.MonkeyPatch) -> None:
    every = RuleQuestions.asked

    def spoiled(self: RuleQuestions, stage: Stage) -> tuple[Asked, ...]:
        first, *others = every(self, stage)
        return replace(first, expected=b"{}"), *others

    monkeypatch.setattr(RuleQuestions, "asked", spoiled)
    result = CliRunner().invoke(app, ["selftest", "--generated", "--rules", SLUG, "--seed", "5"], standalone_mode=False)
    assert "the reference itself gives another answer: sequence-decrement, " in str(result.exception)
