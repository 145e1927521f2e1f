"""The pages of what Java changed: they follow from their files, and the reference answers each example as Java did."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.protocol import Answered, to_json
from kafka_conformance.reports.change_pages import ChangeExample, index_table, read_changes, release_page
from kafka_conformance.reports.page_block import block_of
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

DOCS = Path(__file__).parents[3] / "kit" / "docs"
PAGES = {path.stem: read_changes(path.with_suffix("")) for path in sorted(DOCS.glob("changes*.md"))}
RELEASES = [
    (page, release)
    for page, changes in PAGES.items()
    for release in sorted({change.after for change in changes.rules}, key=parse_release)
]
AGAIN = "run: kafka-conformance diff all --seed 1 --table kit/docs/changes.md"


def examples_of(page: str, release: str) -> list[ChangeExample]:
    return [example for example in PAGES[page].examples if example.releases[1] == release]


@pytest.mark.parametrize(("page", "release"), RELEASES)
def test_committed_change_page_equals_the_generated_page_and_has_prose_lines_under_1200_characters(
    page: str, release: str
) -> None:
    rules = [change for change in PAGES[page].rules if change.after == release]
    text = (DOCS / page / f"{release}.md").read_text(encoding="utf-8")
    assert text == release_page(page, rules, examples_of(page, release)), AGAIN
    prose = re.sub(r"^\|.*", "", text, flags=re.MULTILINE)
    assert max(map(len, prose.splitlines())) < 1200


@pytest.mark.parametrize("page", PAGES)
def test_change_index_lists_exactly_the_releases_with_page_files(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert block_of(text, "diff") == index_table(page, PAGES[page]).strip(), AGAIN
    releases = {release for name, release in RELEASES if name == page}
    assert {path.stem for path in (DOCS / page).glob("*.md")} == releases
    assert {path.stem for path in (DOCS / page).glob("*.ndjson")} - {"rules"} <= releases


@pytest.mark.parametrize(("page", "release"), RELEASES)
def test_examples_on_change_page_have_reference_answers_equal_to_java(page: str, release: str) -> None:
    for example in examples_of(page, release):
        assert _is_answered_as_by_java(example)


def _is_answered_as_by_java(example: ChangeExample) -> bool:
    rule = RULES[example.rule]
    question = msgspec.convert(example.question, type=rule.question)
    for side in example.answers:
        (outcome,) = ReferenceAnswerer().answer(rule, parse_release(side.kafka[0]), [question])
        assert isinstance(outcome, Answered)
        if msgspec.json.decode(to_json(outcome.answer)) != side.answer:
            return False
    return True


@pytest.mark.parametrize("page", PAGES)
def test_change_examples_name_differing_fields_cover_all_changed_rules_and_stay_within_recorded_kinds(
    page: str,
) -> None:
    changes = PAGES[page]
    assert all(example.found.fields for example in changes.examples)
    counted = {(change.rule, change.after): change.kinds for change in changes.rules if change.what == "changes"}
    shown = Counter((example.rule, example.releases[1]) for example in changes.examples)
    assert set(shown) == set(counted)
    assert all(shown[key] <= counted[key] for key in shown)
