"""``rules``: lists the rules, writes and checks their pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kafka_conformance.cases import rule_pages as pages
from kafka_conformance.cli.main import app
from kafka_conformance.core.errors import BadInput
from kafka_conformance.rules import RULES

FEW = {slug: RULES[slug] for slug in ("murmur2", "sequence-increment")}


def rules(*words: str) -> Result:
    return CliRunner().invoke(app, ["rules", *words], standalone_mode=False)


def test_rules_command_lists_every_rule_with_releases_and_title() -> None:
    assert json.loads(rules("--json").output)["rules"] == [
        {"rule": rule.slug, "releases": str(rule.releases), "title": rule.title} for rule in RULES.values()
    ]
    printed = rules().output
    assert all(slug in printed for slug in RULES)


def test_rules_command_write_creates_pages_and_check_names_outdated_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "RULES", FEW)
    assert rules("--write", str(tmp_path)).return_value == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "murmur2.md", "sequence-increment.md"]
    assert rules("--check", str(tmp_path)).return_value == 0
    (tmp_path / "murmur2.md").write_text("old")
    (tmp_path / "of-no-rule.md").write_text("old")
    checked = rules("--check", str(tmp_path))
    assert checked.return_value == 1
    assert checked.output.splitlines() == [
        f"{tmp_path}/{name}: not current: run kafka-conformance rules --write {tmp_path}"
        for name in ("murmur2.md", "of-no-rule.md")
    ]


def test_rules_command_check_of_missing_folder_names_the_command_to_write_pages(tmp_path: Path) -> None:
    error = rules("--check", str(tmp_path / "none")).exception
    assert isinstance(error, BadInput)
    assert str(error) == f"{tmp_path}/none is not a folder: write the pages first, with --write {tmp_path}/none"
