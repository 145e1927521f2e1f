"""The page of ``drift``: what it says of 4.4.0 is what the pages of changes record."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_conformance.reports.change_pages import read_changes
from kafka_conformance.rules import RULES
from kafka_conformance.verify.drift_questions import LARGEST_SPACE
from kafka_reference.releases import parse_release

DOCS = Path(__file__).parents[3] / "kit" / "docs"
PAGE = (DOCS / "drift.md").read_text(encoding="utf-8")
OLD, NEW = "4.3.1", "4.4.0"


def test_drift_page_lists_rules_changed_in_4_4_0_as_recorded() -> None:
    reported = set(re.findall(r"^\| `([\w-]+)` \| changed \|", PAGE, re.MULTILINE))
    recorded = read_changes(DOCS / "changes").rules
    assert reported == {each.rule for each in recorded if (each.before, each.after, each.what) == (OLD, NEW, "changes")}


def test_drift_page_lists_every_rule_that_exists_in_4_3_1() -> None:
    reported = re.findall(r"^\| `([\w-]+)` \| (?:same|changed) \| [\d,]+ \|", PAGE, re.MULTILINE)
    assert reported == [slug for slug, rule in RULES.items() if rule.has_java(parse_release(OLD))]


def test_drift_page_states_the_question_count_above_which_a_space_is_sampled() -> None:
    assert f"From a space with more than {LARGEST_SPACE:,} questions" in PAGE
