"""The action for GitHub: its script is run as a runner would, with a driver that is right and one that is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "ci" / "action.yml").read_text(encoding="utf-8"))
DRIVER = ROOT / "kit" / "docs" / "examples" / "driver.py"
INSTALL, GATE = ACTION["runs"]["steps"]


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A runner's folder, in which the kit is installed: as the one that runs this test."""
    command = tmp_path / "kafka-conformance" / "bin" / "kafka-conformance"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kafka_conformance "$@"\n')
    command.chmod(0o755)
    return tmp_path


def _gate(runner: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    given = dict.fromkeys(GATE["env"], "") | {"EXAMPLES": "5", "SEED": "1", "REPORT": "reports", "RULES": "murmur2"}
    paths = {
        "RUNNER_TEMP": str(runner),
        "GITHUB_OUTPUT": str(runner / "out"),
        "GITHUB_STEP_SUMMARY": str(runner / "sum"),
    }
    return subprocess.run(["bash", "-eo", "pipefail", "-c", GATE["run"]], env={**os.environ, **given, **paths, **inputs},
                          cwd=runner, capture_output=True, text=True, timeout=60, check=False)  # fmt: skip


def test_github_action_passes_a_correct_driver_and_writes_reports(runner: Path) -> None:
    done = _gate(runner, COMMAND=f"'{sys.executable}' '{DRIVER}'")
    assert done.returncode == 0, done.stderr
    assert (runner / "out").read_text() == "report=reports\n"
    assert "Conforms" in (runner / "sum").read_text()
    made = {path.name for path in (runner / "reports").iterdir()}
    assert made == {"events.ndjson", "junit.xml", "report.md", "report.html", "badge.json"}


def test_github_action_fails_a_wrong_driver_with_an_error_annotation(runner: Path) -> None:
    wrong = runner / "a wrong driver.py"
    wrong.write_text(DRIVER.read_text(encoding="utf-8").replace("0x5BD1E995", "0x5BD1E997"))
    assert "0x5BD1E997" in wrong.read_text()
    done = _gate(runner, COMMAND=f"'{sys.executable}' '{wrong}'")
    assert done.returncode == 1
    assert "::error" in done.stdout


def test_github_action_input_with_shell_commands_is_not_executed(runner: Path) -> None:
    done = _gate(runner, COMMAND=f"true $(touch {runner}/bad); touch {runner}/bad", RULES="$(touch bad)")
    assert done.returncode == 2
    assert "$(touch bad)" in done.stderr
    assert not (runner / "bad").exists()


@pytest.mark.parametrize("target", ["--help", "-h", "--"])
def test_github_action_target_that_begins_with_a_dash_exits_with_2(runner: Path, target: str) -> None:
    done = _gate(runner, TARGET=target)
    assert done.returncode == 2
    assert "::error title=kafka-conformance::target begins with a dash" in done.stdout


def test_github_action_with_newline_in_report_input_exits_2_and_sets_no_output(runner: Path) -> None:
    done = _gate(runner, COMMAND="true", REPORT="reports\nresult=success")
    assert done.returncode == 2
    assert not (runner / "out").exists()


def test_github_action_describes_and_uses_every_input_and_scripts_contain_no_github_expression() -> None:
    used = " ".join(GATE["env"].values()) + GATE["working-directory"]
    assert all(ACTION["inputs"][name]["description"] and f"inputs.{name} " in used for name in ACTION["inputs"])
    assert "${{" not in INSTALL["run"] + GATE["run"], "an expression pasted into a script is a way in"
