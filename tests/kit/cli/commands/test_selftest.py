"""``selftest``, with the reference in Java's place: a mutant that is not found fails the run."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands import selftest
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import MUTANTS

RULE = RULES["murmur2"]
KILLED = next(mutant for mutant in MUTANTS if mutant.slug == "signed-tail")


@pytest.fixture(autouse=True)
def java_is_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "JavaAnswerer", lambda _: ReferenceAnswerer("java"))
    monkeypatch.setattr(selftest, "open_oracle", nullcontext)


def ran(capsys: pytest.CaptureFixture[str], *rules: str) -> tuple[int, str]:
    code = selftest.run(rules=rules, examples=50, seed=7)
    return code, " ".join(capsys.readouterr().out.split())


def broken(*_: Any) -> Any:
    raise RuntimeError("broke")


def test_every_mutant_of_the_rules_asked_for_is_killed(capsys: pytest.CaptureFixture[str]) -> None:
    code, said = ran(capsys, "murmur2", "partition-for-key")
    mutants = [mutant for mutant in MUTANTS if mutant.rule in ("murmur2", "partition-for-key")]
    assert code == 0
    assert f"{len(mutants)} of {len(mutants)} mutants killed, seed 7" in said
    assert all(mutant.slug in said for mutant in mutants)
    assert "alive" not in said


@pytest.mark.parametrize("ask", [RULE.ask, broken], ids=["no mistake", "breaks down"])
def test_a_survivor_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ask: Any
) -> None:
    monkeypatch.setattr(selftest, "MUTANTS", (KILLED, Mutant("survivor", "murmur2", "none", ask)))
    code, said = ran(capsys, "murmur2")
    assert code == 1
    assert "1 of 2 mutants killed" in said
    assert "alive: survivor" in said


def test_a_rule_without_a_mutant_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(selftest, "MUTANTS", (KILLED,))
    code, said = ran(capsys, "murmur2", "partition-for-key")
    assert code == 1
    assert "rules without a mutant: partition-for-key" in said
