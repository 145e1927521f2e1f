"""Each check of ``log inspect`` is switched off or shifted in turn, and the tests named here have to fail.

A mistake is a text of a module and the text in its place. It is planted in a separate process, which runs the tests of
one file; one has to fail with it by itself: a mistake that crashes is seen without a test of what is right.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from planted_source import NAME

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

MISTAKES: dict[str, dict[str, str]] = {
    each["name"]: each
    for each in tomllib.loads((HERE / "planted_mistakes.toml").read_text(encoding="utf-8"))["mistake"]
}


@pytest.mark.parametrize("name", MISTAKES)
def test_text_that_planted_mistake_replaces_occurs_once_in_the_module(name: str) -> None:
    mistake = MISTAKES[name]
    module = ROOT / "kit/kafka_conformance/log_inspect" / f"{mistake['module'].replace('.', '/')}.py"
    assert module.read_text(encoding="utf-8").count(mistake["old"]) == 1


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistake_in_log_inspect_check_fails_tests_of_that_check(name: str, tmp_path: Path) -> None:
    mistake = MISTAKES[name]
    planted = json.dumps([f"kafka_conformance.log_inspect.{mistake['module']}", mistake["old"], mistake["new"]])
    path = os.pathsep.join([str(HERE.parents[1] / "shared"), *sys.path])
    words = ["-q", "-x", "-p", "planted_source", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "t")]
    words.append(str(HERE / f"test_{mistake['tests']}.py"))
    environment = os.environ | {NAME: planted, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert ran.returncode == 1, ran.stdout[-2_000:] + ran.stderr[-2_000:]
    assert "1 failed" in ran.stdout, ran.stdout[-2_000:]
    raised_in_test = re.search(r"^tests/\S+:\d+: \w+$|\| AssertionError", ran.stdout, re.MULTILINE)
    assert raised_in_test, ran.stdout[-2_000:]


def test_every_log_inspect_check_module_has_a_planted_mistake() -> None:
    checks = ROOT / "kit/kafka_conformance/log_inspect/checks"
    modules = {f"checks.{path.stem}" for path in checks.glob("[a-z]*.py")} - {"checks.context"}
    assert modules <= {mistake["module"] for mistake in MISTAKES.values()}
