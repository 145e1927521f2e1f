"""The top level of the repository: a file committed by mistake may stop the README's commands, as ``.venv`` would."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTLED = {
    ".ci", ".gitattributes", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md",
    "ci", "jars", "kit", "mkdocs.yml", "pyproject.toml", "reference", "tests", "tox.ini", "toxfile.py",
}  # fmt: skip


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git repository")
def test_repository_root_has_exactly_the_expected_files_and_folders() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert {line.partition("/")[0] for line in listed.stdout.splitlines()} == SETTLED
