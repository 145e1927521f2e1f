"""The page on effective producer settings: every release on it has the rows that the reference gives."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli.commands.idempotence import ask_combinations, markdown
from kafka_jars.pins import load
from kafka_reference.releases import parse_release

PAGE = (Path(__file__).parents[3] / "kit" / "docs" / "idempotence.md").read_text(encoding="utf-8")
RELEASES = "".join(re.findall(r"--kafka ([0-9.,\\\n]+)\n```", PAGE)).replace("\\\n", "").split(",")


def test_its_tables_are_the_references() -> None:
    made = markdown(
        {release: ask_combinations(ReferenceAnswerer(), release) for release in map(parse_release, RELEASES)}
    )
    assert PAGE.partition("<!-- table: made by idempotence -->\n\n")[2].partition("\n<!-- /table -->")[0] == made


def test_it_has_every_pinned_release_and_both_sides_of_every_change() -> None:
    assert set(RELEASES) >= set(load().releases)
    assert sorted(RELEASES, key=parse_release) == RELEASES
    assert {
        "0.10.2.2",
        "0.11.0.0",
        "1.0.0",
        "2.0.1",
        "2.1.0",
        "2.4.1",
        "2.5.0",
        "3.0.1",
        "3.1.0",
        "3.1.1",
        "4.0.0",
    } < set(RELEASES)
