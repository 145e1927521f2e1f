"""The driver examples in other languages: each is built with its own tools and conforms in a gate."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "kit" / "docs"
EXAMPLES = DOCS / "examples"


@dataclass(frozen=True)
class Example:
    """A driver: its file, the tool that it needs, its build, its command, and a mistake to plant."""

    file: str
    tool: str
    build: tuple[str, ...]
    command: tuple[str, ...]
    seed: str = "0x9747b28c"


DRIVERS = {
    "go": Example("main.go", "go", ("go", "build", "-o", "driver", "."), ("./driver",)),
    "javascript": Example("driver.mjs", "node", (), ("node", "driver.mjs")),
    "java": Example("Driver.java", "java", (), ("java", "Driver.java")),
    "rust": Example("src/main.rs", "cargo", ("cargo", "build", "-q", "--release"), ("target/release/driver",)),
    "csharp": Example("Driver.cs", "dotnet", ("dotnet", "build", "-o", "out"), ("dotnet", "out/driver.dll")),
}


def test_driver_example_folders_are_all_tested_and_linked() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == {*DRIVERS, "log"}
    page = (DOCS / "driver.md").read_text(encoding="utf-8")
    for language, example in DRIVERS.items():
        assert f"(examples/{language}/{example.file})" in page


@pytest.mark.parametrize("language", DRIVERS)
def test_driver_example_has_at_most_65_lines(language: str) -> None:
    assert len((EXAMPLES / language / DRIVERS[language].file).read_text(encoding="utf-8").splitlines()) <= 65


def gate(language: str, folder: Path, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    example = DRIVERS[language]
    if example.build:
        subprocess.run(example.build, cwd=folder, check=True, timeout=280)
    command = [str(folder / word) if (folder / word).is_file() else word for word in example.command]
    return subprocess.run(
        [
            *(sys.executable, "-m", "kafka_conformance", "gate", "--rules", "murmur2,partition-for-key", "--seed", "1"),
            *("--no-github", "--failures", str(tmp_path / "failures"), "--", *command),
        ],
        capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip


@pytest.mark.clients
@pytest.mark.timeout(600)
@pytest.mark.parametrize("language", DRIVERS)
def test_driver_example_conforms_and_fails_with_a_wrong_murmur2_seed(language: str, tmp_path: Path) -> None:
    example = DRIVERS[language]
    if shutil.which(example.tool) is None:
        pytest.skip(f"{example.tool} is not installed: the example in {language} is not built")
    folder = tmp_path / language
    shutil.copytree(EXAMPLES / language, folder)
    conforms = gate(language, folder, tmp_path)
    assert conforms.returncode == 0, conforms.stdout + conforms.stderr
    source = folder / example.file
    text = source.read_text(encoding="utf-8")
    wrong = re.sub(example.seed, "0x9747b28d", text)
    assert wrong != text
    source.write_text(wrong, encoding="utf-8")
    differs = gate(language, folder, tmp_path)
    assert differs.returncode == 1, differs.stdout + differs.stderr
