"""The page to start with: its gate conforms, its copy with a mistake does not, and its audit finds what the page says."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "kit" / "docs" / "start.md").read_text(encoding="utf-8")
KIT = (sys.executable, "-m", "kafka_conformance")


def gate(driver: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    (words,) = re.findall(r"^\$ kafka-conformance (gate .*) -- python3 \S+$", PAGE, re.MULTILINE)
    return subprocess.run(
        [*KIT, *words.split(), "--no-github", "--failures", str(folder), "--", sys.executable, str(driver)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_python_of_the_start_page_gives_the_results_shown() -> None:
    failed, tried = doctest.testfile(str(ROOT / "kit" / "docs" / "start.md"), module_relative=False)
    assert (failed, tried) == (0, 2)


@pytest.mark.exhaustive
def test_gate_of_the_start_page_conforms_with_output_shown(tmp_path: Path) -> None:
    done = gate(ROOT / "kit" / "docs" / "examples" / "driver.py", tmp_path)
    assert done.returncode == 0
    (shown,) = re.findall(r"```text\n…\n(partition-for-key .*?)```", PAGE, re.DOTALL)
    printed = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for line in shown.splitlines():
        assert any(each.startswith(" ".join(line.split())) for each in printed), line


@pytest.mark.exhaustive
def test_start_page_driver_with_planted_mistake_is_diagnosed(tmp_path: Path) -> None:
    right, wrong = re.search(r"replace `(\w+)` by `(\w+)`", PAGE).groups()  # type: ignore[union-attr]
    text = (ROOT / "kit" / "docs" / "examples" / "driver.py").read_text(encoding="utf-8")
    assert right in text
    copy = tmp_path / "driver.py"
    copy.write_text(text.replace(right, wrong), encoding="utf-8")
    done = gate(copy, tmp_path / "failures")
    assert done.returncode == 1
    names = re.findall(r"equal `([a-z-]+)`", done.stdout)
    assert names
    assert set(names) <= set(re.findall(r"`(unsigned[a-z-]*)`", PAGE))


@pytest.mark.exhaustive
@pytest.mark.jvm
def test_audit_of_the_start_page_finds_first_record_of_other_producer(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(import zlib.*?)```", PAGE, re.DOTALL)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=60)
    (words,) = re.findall(r"^\$ kafka-conformance (audit .*)$", PAGE, re.MULTILINE)
    done = subprocess.run(
        [*KIT, *words.split()], cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 1, done.stderr
    (headline,) = re.findall(r"```text\n([^`]* records are not where .*)\n…\n```", PAGE)
    assert headline in done.stdout
    assert "partition 0, offset 874: the first record placed by librdkafka-consistent" in done.stdout
