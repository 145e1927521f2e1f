"""What is proven, as the README and two pages say it: the figures are those of what ships, and no rule is left out."""

from __future__ import annotations

from pathlib import Path

import proof_pages
import pytest

from kafka_conformance.core.errors import BadInput
from kafka_conformance.reports.page_block import write_block
from kafka_conformance.rules import RULES
from kafka_reference import certificate

PAGE = (Path(__file__).parents[2] / "kit" / "docs" / "proof.md").read_text(encoding="utf-8")


def test_proof_figures_on_the_pages_equal_the_shipped_certificate() -> None:
    assert proof_pages.void_pages() == [], f"run `{proof_pages.COMMAND}`"


def test_proof_page_with_another_figure_is_reported_as_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"<!-- table: made by {proof_pages.COMMAND} -->\n<!-- /table -->\n", encoding="utf-8")
    monkeypatch.setattr(proof_pages, "BLOCKS", {page: proof_pages.proof_line})
    write_block(page, proof_pages.COMMAND, proof_pages.proof_line())
    assert proof_pages.void_pages() == []
    text = page.read_text(encoding="utf-8")
    asked = f"{sum(row.asked for row in certificate().rows):,}"
    assert asked in text
    page.write_text(text.replace(asked, "1"), encoding="utf-8")
    assert proof_pages.void_pages() == ["README.md"]
    page.write_text("no block", encoding="utf-8")
    with pytest.raises(BadInput, match="has no line"):
        write_block(page, proof_pages.COMMAND, proof_pages.proof_line())


def test_proof_page_section_on_arguments_that_the_question_gives_names_every_rule() -> None:
    section = PAGE.partition("### Arguments that the question gives")[2]
    assert [slug for slug in RULES if f"`{slug}`" not in section] == []
