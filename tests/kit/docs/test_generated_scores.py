"""The table of scores on the page about self-tests is that of the record that ships."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.generated_mutants.page import COMMAND, score_table
from kafka_conformance.generated_mutants.record import shipped
from kafka_conformance.reports.page_block import block_of

PAGE = Path(__file__).parents[3] / "kit" / "docs" / "selftest.md"


def test_selftest_page_score_table_equals_the_shipped_record() -> None:
    assert block_of(PAGE.read_text(encoding="utf-8"), COMMAND) == score_table(shipped()).strip("\n")
