"""The workflow of the drift alarm: its script is run as a runner would, with a command that records its arguments."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from kafka_conformance.cli.main import app

ROOT = Path(__file__).parents[2]
# YAML reads the key `on` as true.
WORKFLOW: dict[Any, Any] = yaml.safe_load((ROOT / "ci" / "workflows" / "drift.yml").read_text(encoding="utf-8"))
JOB = WORKFLOW["jobs"]["drift"]
(DRIFT,) = (step for step in JOB["steps"] if step.get("name") == "Drift")


def _run(folder: Path, code: int = 0, **inputs: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the script with a ``kafka-conformance`` that ends with ``code``; what it printed, and its arguments."""
    command = folder / "bin" / "kafka-conformance"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{folder}/arguments"\necho what was found\nexit {code}\n')
    command.chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        **dict.fromkeys(DRIFT["env"], ""), **inputs,
    }  # fmt: skip
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", DRIFT["run"]], env=environment, cwd=folder,
                          capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    return done, (folder / "arguments").read_text().splitlines()


@pytest.mark.parametrize(
    ("inputs", "arguments"),
    [
        ({}, ["drift", "--published"]),
        ({"RELEASE": "4.5.0"}, ["drift", "4.5.0"]),
        ({"RELEASE": "4.5.0", "AFTER": "4.3.1"}, ["drift", "4.5.0", "--after", "4.3.1"]),
    ],
)
def test_drift_workflow_passes_inputs_as_arguments_and_writes_output_to_the_job_summary(
    tmp_path: Path, inputs: dict[str, str], arguments: list[str]
) -> None:
    done, given = _run(tmp_path, **inputs)
    assert (done.returncode, given) == (0, arguments)
    command = app.get_command(click.Context(app), "drift")
    assert command is not None
    command.make_context("drift", given[1:])  # it parses
    assert done.stdout == "what was found\n"
    assert (tmp_path / "summary").read_text() == "```\nwhat was found\n```\n"


@pytest.mark.parametrize(("code", "why"), [(1, "changed a rule, or moved a class"), (2, "could not be judged")])
def test_failing_drift_workflow_keeps_exit_code_and_prints_an_error_annotation_with_the_reason(
    tmp_path: Path, code: int, why: str
) -> None:
    done, _ = _run(tmp_path, code)
    assert done.returncode == code
    assert done.stdout.startswith("what was found\n::error title=Kafka drift::")
    assert why in done.stdout
    assert "what was found" in (tmp_path / "summary").read_text()


def test_drift_workflow_input_with_shell_commands_is_not_executed(tmp_path: Path) -> None:
    _, given = _run(tmp_path, RELEASE=f"$(touch {tmp_path}/bad); touch {tmp_path}/bad")
    assert not (tmp_path / "bad").exists()
    assert given[1].startswith("$(touch")
    assert "${{" not in DRIFT["run"]


def test_drift_workflow_has_a_schedule_release_inputs_a_time_limit_and_read_only_permissions() -> None:
    triggers = WORKFLOW[True]
    (schedule,) = triggers["schedule"]
    assert len(schedule["cron"].split()) == 5
    assert set(triggers["workflow_dispatch"]["inputs"]) == {"release", "after"}
    assert JOB["timeout-minutes"] <= 120
    assert WORKFLOW["permissions"] == {"contents": "read"}
