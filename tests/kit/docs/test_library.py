"""The guide to the library: its chapters' Python runs, and its program has 60 lines, public names only and strict types."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "kit" / "docs" / "library"
PROGRAM = ROOT / "kit" / "docs" / "examples" / "explore.py"
CHAPTERS = sorted(path for path in LIBRARY.glob("*.md") if path.name != "README.md")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_library_chapter_doctests_pass(chapter: Path) -> None:
    pytest.importorskip("pyarrow")
    text = chapter.read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, chapter.name, str(chapter), 0)
    assert len(examples.examples) >= 8
    assert doctest.DocTestRunner().run(examples).failed == 0


@pytest.mark.parametrize("page", sorted(LIBRARY.glob("*.md")), ids=lambda path: path.stem)
def test_links_of_library_pages_resolve_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (page.parent / link.partition("#")[0]).exists()] == []


def test_library_overview_links_all_chapters() -> None:
    overview = (LIBRARY / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in CHAPTERS} <= set(re.findall(r"\]\(([\w-]+\.md)\)", overview))


def test_library_example_program_prints_output_shown_in_overview() -> None:
    pytest.importorskip("pyarrow")
    ran = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, check=True, timeout=60)
    (shown,) = re.findall(r"```text\n(.*?)```", (LIBRARY / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert ran.stdout == shown


def test_library_example_program_has_at_most_60_lines_and_only_public_names() -> None:
    text = PROGRAM.read_text(encoding="utf-8")
    assert sum(1 for line in text.splitlines() if line.strip()) <= 60
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    assert len(imports) >= 6
    for one in imports:
        package = import_module(one.module or "")
        assert hasattr(package, "__path__"), f"{one.module} is not a package"
        assert {alias.name for alias in one.names} - {"bulk"} <= set(package.__all__)
    assert not re.search(r"\._|type: ignore", text)


def test_library_example_program_passes_strict_mypy() -> None:
    pytest.importorskip("mypy")
    options = ["--strict", "--config-file=", "--python-version=3.11", "--follow-imports=silent"]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *options, f"--cache-dir={ROOT / '.mypy_cache' / 'library'}", PROGRAM],
        capture_output=True, text=True, check=False, timeout=240, env={"MYPYPATH": str(ROOT / "reference"), "PATH": ""},
    )  # fmt: skip
    assert ran.stdout == "Success: no issues found in 1 source file\n", ran.stdout + ran.stderr
