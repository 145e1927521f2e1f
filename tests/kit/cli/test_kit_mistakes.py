"""The table of ``selftest --kit``, and its exit code."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_conformance.cli import kit_mistakes as command
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.kit_mistakes import run as runs
from kafka_conformance.kit_mistakes.bench import Bench
from kafka_conformance.kit_mistakes.checks import Check
from kafka_conformance.kit_mistakes.mistake import Mistake, replacing
from kafka_conformance.kit_mistakes.run import run_checks


class Kit:
    """A kit with one switch, which a mistake sets."""

    broken = False


FINDS = Check("finds", "", lambda _: "it is broken" if Kit.broken else "")
BLIND = Check("blind", "", lambda _: "")
RED = Check("red", "", lambda _: "always")


def _planted(*names: str) -> Mistake:
    return Mistake("switch", "the switch is set", names, replacing((Kit, "broken", True)))


def _selftest(monkeypatch: pytest.MonkeyPatch, checks: list[Check], mistakes: list[Mistake]) -> tuple[int, str]:
    monkeypatch.setattr(command, "open_bench", lambda: nullcontext(Bench(None, Path())))  # type: ignore[arg-type]
    monkeypatch.setattr(command, "run_checks", lambda one, progress: run_checks(one, progress, checks, mistakes))
    done = CliRunner().invoke(app, ["selftest", "--kit"], standalone_mode=False)
    assert done.exception is None, done.exception
    return done.return_value, done.stdout


def test_selftest_kit_exits_0_if_the_check_finds_the_planted_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = _selftest(monkeypatch, [FINDS], [_planted("finds")])
    assert code == 0
    assert said.splitlines()[1].split() == ["switch", "the", "switch", "is", "set", "finds"]
    assert "1 of 1 mistake in the kit found, Kafka 3.9.2, seed 1" in said


def test_selftest_kit_exits_1_if_a_check_misses_the_planted_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = _selftest(monkeypatch, [FINDS, BLIND], [_planted("finds", "blind"), _planted("blind")])
    assert code == 1
    assert "switch is not found by: blind" in said
    assert "nothing" in said
    assert "0 of 2 mistakes in the kit found" in said


def test_selftest_kit_exits_1_if_a_check_fails_without_a_planted_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = _selftest(monkeypatch, [FINDS, RED], [_planted("finds")])
    assert code == 1
    assert "red: red without a mistake: always" in said
    assert "1 of 1 mistake in the kit found" in said


@pytest.mark.parametrize("options", [["--rules", "murmur2"], ["--changed"], ["--record", "record.json"]])
def test_selftest_kit_refuses_the_options_rules_changed_and_record(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # A folder that may be written to, as that of --record has to be.
    done = CliRunner().invoke(app, ["selftest", "--kit", *options], standalone_mode=False)
    assert isinstance(done.exception, BadInput)
    assert "leave out --rules, --changed, --generated and --record" in str(done.exception)


def test_selftest_kit_runs_all_checks_and_planted_defects_by_default() -> None:
    assert run_checks.__defaults__ == (runs.CHECKS, runs.MISTAKES)
