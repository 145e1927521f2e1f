"""The pull request for a first adopter of the gate: its commands and its workflow make what it describes."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import client_results
import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "ci" / "adopters" / "krafka"
TEXT = (FOLDER / "pull-request.md").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of the client, in which the commands of the pull request were run."""
    (tmp_path / "krafka").mkdir()
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit" / "ci").symlink_to(ROOT / "ci")
    found = re.search(r"<!-- made -->\n```sh\n(.*?)```", TEXT, re.DOTALL)
    assert found
    subprocess.run(["bash", "-euc", found[1]], cwd=tmp_path / "kit", check=True, timeout=60)
    return tmp_path / "krafka"


def test_pull_request_commands_create_workflow_and_driver_of_stated_lines_built_with_the_checkout(
    checkout: Path,
) -> None:
    made = {str(path.relative_to(checkout)) for path in checkout.rglob("*") if path.is_file()}
    assert {".github/workflows/kafka-conformance.yml", "kafka-conformance/Cargo.toml"} <= made
    dependency = tomllib.loads((checkout / "kafka-conformance" / "Cargo.toml").read_text())["dependencies"]["krafka"]
    assert dependency == {"path": "..", "features": ["test-broker"]}
    lines = sum(len(path.read_text().splitlines()) for path in (checkout / "kafka-conformance" / "src").iterdir())
    assert f"a driver of {lines} lines" in TEXT


def test_workflow_of_adopter_pull_request_uses_only_action_inputs_and_the_described_gate_command(
    checkout: Path,
) -> None:
    workflow = yaml.safe_load((checkout / ".github/workflows/kafka-conformance.yml").read_text())
    (gate,) = [step for step in workflow["jobs"]["gate"]["steps"] if "/ci@" in step.get("uses", "")]
    assert gate["with"].keys() <= yaml.safe_load((ROOT / "ci" / "action.yml").read_text())["inputs"].keys()
    assert f"kafka-conformance gate -- {gate['with']['command']}" in TEXT


def test_client_of_adopter_pull_request_agrees_in_three_recorded_rules_without_known_failures_file() -> None:
    assert not list((ROOT / "ci" / "known-failures").glob("krafka*"))
    (one,) = [each for each in client_results.read_results() if each.name == "krafka"]
    assert not one.deviations
    assert {count.rule: count.agreed == count.asked > 0 for count in one.rules} == dict.fromkeys(
        ("partition-for-key", "murmur2", "producer-partition"), True
    )
    assert f"{one.version} answers" in TEXT
