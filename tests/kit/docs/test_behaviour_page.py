"""The page of behaviours: it has what the behaviour records say."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.reports.behaviour import behaviour_page
from kafka_conformance.reports.page_block import block_of
from kafka_conformance.rules import RULES

PAGE = Path(__file__).parents[3] / "kit" / "docs" / "behaviour.md"


def test_behaviour_page_table_equals_the_behaviour_records() -> None:
    shown = block_of(PAGE.read_text(encoding="utf-8"), "behaviour")
    made = behaviour_page(RULES.values()).strip("\n")
    assert shown == made, "run: kafka-conformance behaviour all --table kit/docs/behaviour.md"
