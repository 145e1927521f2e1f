"""The page on effective producer settings: every release on it has the rows that the reference gives."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands.idempotence import ask_combinations, markdown
from kafka_jars.pins import load
from kafka_reference.releases import parse_release

PAGE = (Path(__file__).parents[3] / "kit" / "docs" / "idempotence.md").read_text(encoding="utf-8")
RELEASES = sorted(map(parse_release, load().releases))


def test_tables_of_the_idempotence_page_equal_the_reference() -> None:
    made = markdown({release: ask_combinations(ReferenceAnswerer(), release) for release in RELEASES}, RELEASES)
    assert PAGE.partition("<!-- table: made by idempotence -->\n\n")[2].partition("\n<!-- /table -->")[0] == made
