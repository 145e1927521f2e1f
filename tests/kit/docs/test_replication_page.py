"""The page on replication: its examples are those of the package, and its code prints what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from kafka_conformance.replication.example_page import COMMAND, example_page
from kafka_conformance.reports.page_block import block_of

PATH = Path(__file__).parents[3] / "kit" / "docs" / "replication.md"
PAGE = PATH.read_text(encoding="utf-8")


def test_replication_page_shows_current_example_histories() -> None:
    assert block_of(PAGE, COMMAND) == example_page().strip("\n"), f"run: python -m {COMMAND} {PATH.name}"


def test_replication_page_python_example_prints_output_shown() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shown = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, str(PATH), "exec"), {})  # noqa: S102 - the page's own code
    assert printed.getvalue().splitlines() == shown
