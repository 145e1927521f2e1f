"""Tables at any width: no word and no number is ever broken, cropped or lost."""

from __future__ import annotations

import io
import re
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from log_partitions import healthy

import kafka_conformance
from kafka_conformance.cli.main import app
from kafka_conformance.core import console
from kafka_conformance.reports.tables import PlainTable, table

WORD = st.text("abc12,345.-_", min_size=1, max_size=30)
CELL = st.lists(WORD, max_size=4).map(" ".join)
ROWS = st.integers(1, 6).flatmap(
    lambda columns: st.lists(st.lists(CELL, min_size=columns, max_size=columns), min_size=1)
)


def printed(made: PlainTable, width: int) -> str:
    out = console.console(io.StringIO(), width)
    out.print(made)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@given(ROWS, st.integers(20, 200))
@example([["orders-0", "12,132 / 2", "0 to 239,789"]], 20)
def test_table_of_any_width_breaks_or_loses_no_word(rows: list[list[str]], width: int) -> None:
    heads = [f"head{column}" for column in range(len(rows[0]))]
    words = Counter(word for row in rows for cell in row for word in cell.split() if cell != "-")
    lines = printed(table("", heads, rows), width).splitlines()
    shown = Counter(word for line in lines for word in line.split())
    assert words <= shown
    longest = max((len(word) for word in (*words, *heads)), default=0)
    assert all(len(line.rstrip()) <= max(width, longest + 2) for line in lines)


@given(ROWS)
def test_table_on_wide_terminal_has_one_line_per_row(rows: list[list[str]]) -> None:
    heads = [f"head{column}" for column in range(len(rows[0]))]
    assert len(printed(table("", heads, rows), 2000).splitlines()) == 1 + len(rows)


def test_table_is_printed_in_the_widest_form_that_fits() -> None:
    made = table("", ["partition", "bytes", "what"], [["orders-0", "12,345", "two words"], ["orders-1", "-", "x"]])
    assert [line.rstrip() for line in printed(made, 30).splitlines()] == [
        "partition   bytes  what",
        "orders-0   12,345  two words",
        "orders-1        -  x",
    ]
    assert [line.rstrip() for line in printed(made, 24).splitlines()] == [
        "partition   bytes  what",
        "orders-0   12,345  two",
        "                   words",
        "orders-1        -  x",
    ]
    assert [line.rstrip() for line in printed(made, 20).splitlines()] == [
        "orders-0", "  bytes  12,345", "  what  two words", "orders-1", "  what  x",
    ]  # fmt: skip


def test_rich_tables_are_used_only_in_module_tables() -> None:
    kit = Path(kafka_conformance.__file__).parent
    uses = {path.relative_to(kit).as_posix() for path in kit.rglob("*.py") if "rich.table" in path.read_text("utf-8")}
    assert uses == {"reports/tables.py"}


EXAMPLES = Path(__file__).parents[3] / "kit" / "docs" / "examples"
TARGET = "python:narrow_targets"
LIGHT: dict[str, Sequence[str]] = {
    "rules": ["rules"],
    "delivery": ["delivery", "--acks", "all", "--replicas", "3", "--crash-unreplicated", "2", "--explain"],
    "certificate": ["certificate", "--shipped", "-v"],
    "log inspect": ["log", "inspect", "data"],
    "log find": ["log", "find", "data/orders-0", "0"],
    "jars list": ["jars", "list"],
    "coverage": ["coverage", "--shipped", "-v"],
    "behaviour": ["behaviour", "producer-sequences", "--kafka", "2.8.2", "3.9.2"],
    # Rules with few frozen cases: what is printed is of the same form for all.
    "gate": [
        "gate",
        "--rules",
        "sequence-increment,sequence-decrement",
        "--examples",
        "5",
        "--seed",
        "1",
        f"{TARGET}:sequence_of",
    ],
    "gates": [
        "gate",
        "--rules",
        "sequence-increment",
        "--examples",
        "5",
        "--seed",
        "1",
        f"{TARGET}:sequence_of",
        f"{TARGET}:no_answer",
    ],
    "explain": ["explain", str(EXAMPLES / "when-records-share-a-batch.json")],
    "explain without steps": ["explain", str(EXAMPLES / "sticky-switch.json")],
}
"""Commands of the light install that print tables."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a log directory and two implementations."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    text = "def sequence_of(*_): return {'sequence': 123456789}\ndef no_answer(*_): return None\n"
    (tmp_path / "narrow_targets.py").write_text(text, "utf-8")
    healthy(tmp_path / "data" / "orders-0")
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", LIGHT)
def test_output_of_table_commands_on_narrow_terminal_breaks_no_word_except_headings(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = {"-"}
    made = PlainTable.__init__

    def recorded(self: PlainTable, title: str, names: Sequence[str], *rest: Any, **more: Any) -> None:
        heads.update(word for head in names for word in str(head).split())
        made(self, title, names, *rest, **more)

    monkeypatch.setattr(PlainTable, "__init__", recorded)

    def shown(width: int) -> Counter[str]:
        monkeypatch.setattr(console, "_WIDTH", width)
        shutil.rmtree(".kafka-conformance", ignore_errors=True)  # a gate asks earlier failures again
        done = CliRunner().invoke(app, LIGHT[name], standalone_mode=False)
        assert done.exception is None, done.exception
        return Counter(re.sub(r"(?<![\w.])\d+\.\d(?![\w.])( s\b)?", "", done.stdout).split())

    wide = shown(10_000)
    assert heads != {"-"} or name in {"log find", "coverage"}
    for width in (80, 60, 20):
        assert not {word: count for word, count in (wide - shown(width)).items() if word not in heads}, width
