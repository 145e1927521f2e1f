"""The index of the pages: it has every page, and links between pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_conformance.rules import RULES

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "kit" / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def links(page: Path) -> list[str]:
    """The links of a page to files, without code blocks."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link and not link.startswith("#")]


def test_docs_index_links_all_pages() -> None:
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert {link for link in links(DOCS / "README.md") if "/" not in link} == pages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_docs_pages_resolve_to_files(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link.partition("#")[0]).exists()] == []


def test_readme_links_docs_index_and_rule_pages() -> None:
    assert {"kit/docs/README.md", "kit/docs/rules/README.md"} <= set(links(ROOT / "README.md"))


def test_pages_that_count_the_rules_state_the_registered_number() -> None:
    counts = {page: set(re.findall(r"the kit has (\d+)", page.read_text(encoding="utf-8"))) for page in PAGES}
    counting = {page.name: found for page, found in counts.items() if found}
    assert counting.keys() == {"driver.md", "gate.md", "start.md"}
    assert set().union(*counting.values()) == {str(len(RULES))}
