"""The page of ``log inspect`` explains every kind of finding, in the words of the command."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.log_inspect.findings import KINDS

PAGE = Path(__file__).parents[3] / "kit" / "docs" / "log.md"


def test_every_kind_has_its_row() -> None:
    page = PAGE.read_text(encoding="utf-8")
    listed = [line for line in page.partition("## Findings")[2].splitlines() if line.startswith("| `")]
    assert listed == [f"| `{kind.name}` | {kind.severity} | {kind.meaning} |" for kind in KINDS.values()]
