"""A target is a command, a name, or a callable; it ends with its block."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kafka_conformance.answerers.driver.process import _RUNNING
from kafka_conformance.answerers.target import open_target
from kafka_conformance.core.errors import BadInput, TargetLost
from kafka_conformance.core.protocol import Answered
from kafka_conformance.rules import RULES
from kafka_conformance.rules.murmur2.question import Murmur2Question
from kafka_reference.releases import parse_release

DRIVER = Path(__file__).parent / "driver" / "hostile" / "well_behaved.py"
QUESTIONS = [Murmur2Question("00")]
NEWEST = parse_release("4.4.0")


def test_command_target_runs_only_inside_the_with_block() -> None:
    with open_target("", [sys.executable, str(DRIVER)], timeout_s=30) as target:
        assert target.answer(RULES["murmur2"], NEWEST, QUESTIONS) == [Answered({"hash": 2})]
        assert _RUNNING
    assert not _RUNNING


def test_command_target_ends_if_the_with_block_raises() -> None:
    def run() -> None:
        with open_target("", [sys.executable, str(DRIVER)]) as target:
            target.answer(RULES["murmur2"], NEWEST, QUESTIONS)
            assert _RUNNING
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        run()
    assert not _RUNNING


def test_named_driver_is_built_and_started_with_args_of_the_given_or_default_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "ci" / "drivers" / "mine"
    folder.mkdir(parents=True)
    (folder / "source.py").write_text(DRIVER.read_text().replace('"hostile"', "sys.argv[1]"))
    build = "import shutil; shutil.copy('source.py', 'driver.py'); print('built')"
    python = sys.executable
    (folder / "driver.toml").write_text(
        f'build = [["{python}", "-c", "{build}"]]\ncommand = ["{python}", "driver.py"]\n'
        '[settings.default]\nargs = ["usual"]\n[settings.java]\nargs = ["as Java"]\n'
    )
    shown: list[str] = []
    with open_target("mine:java", show=shown.append) as target:
        assert target.name == "as Java"
        assert target.answer(RULES["murmur2"], NEWEST, QUESTIONS) == [Answered({"hash": 2})]
    assert shown == ["built"]
    with open_target("mine", show=shown.append) as target:
        assert target.name == "usual"


def test_python_callable_target_is_imported_and_answers_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mine_of_target.py").write_text("def ask(rule, at, question): return {'hash': len(question['key'])}\n")
    with open_target("python:mine_of_target:ask") as target:
        assert target.answer(RULES["murmur2"], NEWEST, QUESTIONS) == [Answered({"hash": 2})]
        assert target.finish() is None
    del sys.modules["mine_of_target"]


@pytest.mark.parametrize(
    ("target", "command", "why"),
    [
        ("", [], "no target: give a command after --, python:package.module:answerer, or a name in ci/drivers"),
        ("mine", ["x"], "give one of them"),
        ("nobody-at-all", [], "unknown driver nobody-at-all in ci/drivers"),
        ("python:nobody_at_all:a", [], "cannot be imported"),
    ],
)
def test_missing_double_unknown_or_unimportable_gate_target_raises_bad_input_with_the_reason(
    target: str, command: list[str], why: str
) -> None:
    with pytest.raises(BadInput, match=why), open_target(target, command):
        pass


def test_command_target_that_cannot_be_started_raises_target_lost() -> None:
    with pytest.raises(TargetLost, match="cannot be started"), open_target("", ["no-such-driver-anywhere"]):
        pass
