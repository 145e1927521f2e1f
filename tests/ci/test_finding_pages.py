"""The findings: every case is described once, its releases are those of its answers, and the pages are current."""

from __future__ import annotations

import re

import pytest
from finding_pages import DOCS, FOLDER, index, page, read_case, seen_in

from kafka_conformance.findings import Finding, read_areas, stated_spans
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

AREAS = read_areas()
FINDINGS = {name: finding for area in AREAS for name, finding in area.findings.items()}
SHOWN = [name for name, finding in FINDINGS.items() if finding.shown_in]
AGAIN = "run: python ci/finding_pages.py"
VERSION = r"\d+(?:\.\d+)+(?:\.x)?"


def test_every_finding_case_has_one_finding_with_unique_name_and_title() -> None:
    names = [name for area in AREAS for name in area.findings]
    assert len(names) == len(set(names))
    assert {path.stem for path in FOLDER.glob("*.json")} == {name for name in names if read_case(name) is not None}
    titles = [finding.title for finding in FINDINGS.values()]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize("name", SHOWN)
def test_stated_releases_of_a_finding_match_the_recorded_answers(name: str) -> None:
    case, finding = read_case(name), FINDINGS[name]
    assert case is not None
    assert set(finding.shown_in) <= set(case.releases)
    stated = list(stated_spans(finding.releases))
    assert stated, finding.releases
    within = [version for version in case.releases if any(parse_release(version) in each for each in stated)]
    assert seen_in(case, finding) == within


@pytest.mark.parametrize("name", FINDINGS)
def test_every_finding_states_effect_affected_users_and_releases(name: str) -> None:
    finding: Finding = FINDINGS[name]
    assert finding.effect.endswith(".")
    assert re.match(r"(Yes|Only|No|Not)\b", finding.affected)
    assert finding.affected.endswith(".")
    assert not finding.title.endswith(".")
    assert finding.releases
    assert (finding.rule in RULES) == (read_case(name) is None)


def test_committed_finding_pages_equal_generated_pages() -> None:
    assert (DOCS / "findings.md").read_text(encoding="utf-8") == index(AREAS), AGAIN
    for area in AREAS:
        assert (FOLDER / f"{area.name}.md").read_text(encoding="utf-8") == page(area), AGAIN
    assert {path.stem for path in FOLDER.glob("*.md")} == {area.name for area in AREAS}
