"""``selftest``, with the reference in Java's place: a mutant that is not found fails the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands import selftest
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.protocol import Agrees, Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.verify.mutants import record as records
from kafka_conformance.verify.mutants.record import Record
from kafka_reference.releases import Release

RULE = RULES["murmur2"]
KILLED = next(mutant for mutant in MUTANTS if mutant.slug == "signed-tail")


@pytest.fixture(autouse=True)
def java_is_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "JavaAnswerer", lambda _: ReferenceAnswerer("java"))
    monkeypatch.setattr(selftest, "open_oracle", nullcontext)


def ran(capsys: pytest.CaptureFixture[str], *rules: str, **options: Any) -> tuple[int, str]:
    code = selftest.run(rules=rules, examples=50, seed=7, **options)
    return code, " ".join(capsys.readouterr().out.split())


def broken(*_: Any) -> Any:
    raise RuntimeError("broke")


def test_selftest_kills_every_mutant_of_the_selected_rules(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ran(capsys, "murmur2", "partition-for-key")
    mutants = [mutant for mutant in MUTANTS if mutant.rule in ("murmur2", "partition-for-key")]
    assert code == 0
    assert f"{len(mutants)} of {len(mutants)} mutants killed, seed 7" in said
    assert all(mutant.slug in said for mutant in mutants)
    assert "alive" not in said


@pytest.mark.parametrize("ask", [RULE.ask, broken], ids=["no mistake", "breaks down"])
def test_selftest_exits_1_if_a_mutant_survives_or_only_raises_an_exception(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ask: Any
) -> None:
    monkeypatch.setattr(selftest, "MUTANTS", (KILLED, Mutant("survivor", "murmur2", "none", ask)))
    code, said = ran(capsys, "murmur2")
    assert code == 1
    assert "1 of 2 mutants killed" in said
    assert "alive: survivor" in said


def test_selftest_of_rule_without_mutants_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selftest, "MUTANTS", (KILLED,))
    code, said = ran(capsys, "murmur2", "partition-for-key")
    assert code == 1
    assert "rules without a mutant: partition-for-key" in said


PROVEN, CHANGED = "murmur2", "partition-for-key"


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Record:
    """A record of two rules, in place of the one that ships."""
    assert ran(capsys, PROVEN, CHANGED, record=tmp_path / "record.json")[0] == 0
    made = records.read(tmp_path / "record.json")
    monkeypatch.setattr(records, "shipped", lambda: made)
    return made


def of(rule: str) -> list[Mutant]:
    return [mutant for mutant in MUTANTS if mutant.rule == rule]


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a mutant of the changed rule that makes no mistake."""
    survivor = Mutant("survivor", CHANGED, "none", RULES[CHANGED].ask)
    monkeypatch.setattr(selftest, "MUTANTS", (*MUTANTS, survivor))


def test_selftest_changed_option_runs_one_mutant_of_each_unchanged_rule(
    shipped: Record, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = ran(capsys, PROVEN, CHANGED, changed=True)
    left = len(of(PROVEN)) + len(of(CHANGED)) - 2
    assert code == 0
    assert f"no rule has changed: one mutant of each of 2 rules; {left} were killed before by the same code" in said
    assert "2 of 2 mutants killed, seed 7" in said
    for row in shipped.rows:
        fewest = min(kill.asked for kill in row.mutants)
        (asked,) = [kill for kill in row.mutants if f"{kill.mutant} {row.rule} " in said]
        assert asked == min((kill for kill in row.mutants if kill.asked == fewest), key=lambda kill: kill.mutant)


def test_selftest_changed_option_runs_all_mutants_of_a_rule_without_recorded_row(
    shipped: Record, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(records, "shipped", lambda: Record(shipped.rows[:1]))
    code, said = ran(capsys, PROVEN, CHANGED, changed=True)
    number, left = len(of(CHANGED)), len(of(PROVEN)) - 1
    assert code == 0
    assert (
        f"{number} mutants of 1 changed rule, one mutant of each of 1 others; {left} were killed before by the same code"
    ) in said
    assert f"{number + 1} of {number + 1} mutants killed" in said


def test_selftest_changed_option_exits_1_if_a_mutant_added_after_the_record_survives(
    shipped: Record, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch)
    code, said = ran(capsys, PROVEN, CHANGED, changed=True)
    assert code == 1
    assert "alive: survivor" in said


def test_selftest_changed_option_exits_1_if_the_comparison_never_finds_differences(
    shipped: Record, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kafka_conformance.core.pipeline.judge", lambda *_: Agrees())
    code, said = ran(capsys, PROVEN, CHANGED, changed=True)
    assert code == 1
    assert "0 of 2 mutants killed" in said


def test_selftest_changed_option_exits_2_if_java_does_not_answer(
    shipped: Record, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selftest, "JavaAnswerer", lambda _: ReferenceAnswerer("java", broken))
    code, said = ran(capsys, PROVEN, CHANGED, changed=True)
    assert code == 2
    assert "Java could not answer: java 4.4.0: RuntimeError: broke" in said


def test_selftest_record_keeps_rows_of_rules_not_selected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.json"
    ran(capsys, CHANGED, record=path)
    ran(capsys, PROVEN, record=path)
    made = records.read(path)
    assert [(row.rule, row.seed, row.examples) for row in made.rows] == [(PROVEN, 7, 50), (CHANGED, 7, 50)]
    assert [kill.mutant for kill in made.rows[0].mutants] == [mutant.slug for mutant in of(PROVEN)]
    assert all(0 < kill.differ <= kill.asked for row in made.rows for kill in row.mutants)
    assert list(records.proven_rows(made, MUTANTS)) == [PROVEN, CHANGED]


def test_selftest_changed_option_keeps_recorded_rows_of_unchanged_rules(
    shipped: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(capsys, PROVEN, CHANGED, changed=True, record=tmp_path / "record.json")[0] == 0
    assert records.read(tmp_path / "record.json") == shipped


def test_selftest_record_has_no_row_for_rule_with_surviving_mutant(
    shipped: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch)
    assert ran(capsys, PROVEN, CHANGED, record=tmp_path / "record.json")[0] == 1
    assert [row.rule for row in records.read(tmp_path / "record.json").rows] == [PROVEN]


def test_selftest_keeps_the_recorded_row_if_java_does_not_answer(
    shipped: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selftest, "JavaAnswerer", lambda _: ReferenceAnswerer("java", broken))
    assert ran(capsys, PROVEN, record=tmp_path / "record.json")[0] == 2
    assert records.read(tmp_path / "record.json") == shipped


def test_selftest_asks_java_each_question_once_for_all_mutants(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: Counter[tuple[str, Release, Question]] = Counter()

    class Counting(ReferenceAnswerer):
        def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> list[Outcome]:
            asked.update((rule.slug, release, question) for question in questions)
            return ReferenceAnswerer.answer(self, rule, release, questions)

    monkeypatch.setattr(selftest, "JavaAnswerer", lambda _: Counting("java"))
    assert ran(capsys, "default-partitioner")[0] == 0
    assert len({release for _, release, _ in asked}) > 3
    assert set(asked.values()) == {1}


def test_selftest_record_drops_rows_of_rules_that_no_longer_exist(
    shipped: Record, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = msgspec.structs.replace(shipped.rows[0], rule="gone")
    records.write(Record((*shipped.rows, gone)), tmp_path / "record.json")
    assert ran(capsys, PROVEN, CHANGED, changed=True, record=tmp_path / "record.json")[0] == 0
    assert records.read(tmp_path / "record.json") == shipped
