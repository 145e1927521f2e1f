"""The recipe for a rule in CONTRIBUTING.md: followed in a copy of the tree, every command works."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
import tomlkit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = re.findall(r"^   `([\w/.]+)`:\n\n   ```\w+\n(.*?)^   ```", PAGE, re.MULTILINE | re.DOTALL)
QUESTION = {"rule": "utils-abs", "question": {"number": -(2**31)}}
DRIVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "hello" in asked:
        hello = {"protocol": 1, "name": "mine", "version": "1", "language": "python", "rules": ["utils-abs"]}
        print(json.dumps({"hello": hello}), flush=True)
    else:
        number = asked["question"]["number"]
        print(json.dumps({"id": asked["id"], "answer": {"absolute": WRITTEN}}), flush=True)
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs ``kafka-conformance`` with the tree in which the recipe was followed."""
    tree = tmp_path_factory.mktemp("tree")
    for part in ("reference", "kit", "jars"):
        shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
    _keep_pinned(tree / "jars" / "kafka_jars" / "releases.toml", {"0.10.0.1", "2.8.2", "3.9.2", "4.4.0"})
    assert len(FILES) == 7, "the recipe shows every file of a rule"
    for name, text in FILES:
        file = tree / name
        assert not file.exists(), f"{name}: the recipe adds files and edits none"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    path = os.pathsep.join(str(tree / part) for part in ("reference", "kit", "jars"))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "kafka_conformance", *arguments],
            cwd=tree, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    return run


def _keep_pinned(file: Path, kept: set[str]) -> None:
    """Unpin the other releases: a rule's Java half is compiled for each."""
    pins = tomlkit.parse(file.read_text(encoding="utf-8"))
    for version in set(pins["releases"]) - kept:  # type: ignore[arg-type]
        del pins["releases"][version]  # type: ignore[union-attr]
    file.write_text(tomlkit.dumps(pins), encoding="utf-8")


def test_verify_proves_the_rule_added_by_the_contributing_recipe(run: Run) -> None:
    ran = run("verify", "--rules", "utils-abs", "--kafka", "0.10.0.1,4.4.0", "--seed", "1", "--json")
    assert ran.returncode == 0, ran
    results = json.loads(ran.stdout)["results"]
    assert [(one["rule"], one["release"]) for one in results] == [("utils-abs", "0.10.0.1"), ("utils-abs", "4.4.0")]
    assert all(one["agreed"] == one["asked"] > 500 for one in results)


def test_selftest_kills_the_mutant_added_by_the_contributing_recipe(run: Run) -> None:
    ran = run("selftest", "--rules", "utils-abs", "--seed", "1")
    assert ran.returncode == 0, ran
    assert "abs-keeps-the-smallest" in ran.stdout


@pytest.mark.parametrize(("written", "code"), [("0 if number == -2**31 else abs(number)", 0), ("abs(number)", 1)])
def test_gate_judges_a_driver_by_the_rule_added_by_the_contributing_recipe(
    run: Run, tmp_path: Path, written: str, code: int
) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER.replace("WRITTEN", written), encoding="utf-8")
    ran = run("gate", "--rules", "utils-abs", "--seed", "1", "--", sys.executable, str(driver))
    assert ran.returncode == code, ran


def test_explain_shows_a_question_of_the_rule_added_by_the_contributing_recipe(run: Run, tmp_path: Path) -> None:
    question = tmp_path / "question.json"
    question.write_text(json.dumps(QUESTION), encoding="utf-8")
    ran = run("explain", str(question))
    assert ran.returncode == 0, ran
    assert "utils-abs" in ran.stdout


def test_freeze_makes_cases_of_the_rule_added_by_the_contributing_recipe(run: Run, tmp_path: Path) -> None:
    ran = run("freeze", "--rules", "utils-abs", "--examples", "50", "--seed", "1", "--folder", str(tmp_path))
    assert ran.returncode == 0, ran
    assert len((tmp_path / "utils-abs.ndjson").read_text(encoding="utf-8").splitlines()) > 5


def test_rules_command_writes_the_page_of_the_rule_added_by_the_contributing_recipe(run: Run, tmp_path: Path) -> None:
    data = "kit/kafka_conformance/cases/data"
    assert run("freeze", "--rules", "utils-abs", "--examples", "50", "--seed", "1", "--folder", data).returncode == 0
    ran = run("rules", "--write", str(tmp_path))
    assert ran.returncode == 0, ran
    page = (tmp_path / "utils-abs.md").read_text(encoding="utf-8")
    assert "| `number` | int32 | The number. |" in page
    assert "| `absolute` | int32 | The absolute value; 0 for -2^31. |" in page
    assert "| `abs-keeps-the-smallest` |" in page
