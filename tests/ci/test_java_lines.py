"""The lines of Kafka's declarations, from a small repository that stands in for Kafka's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import java_lines
import pytest
from click.testing import CliRunner

from kafka_conformance.rules import RULES
from kafka_conformance.rules.summaries import rule_summary

SUMMARY = """rule = "r."

[[java]]
tag = "3.8.0"
path = "a/Utils.java"
declaration = "int murmur2("
line = 7
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "kafka"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "Utils.java").write_text(
        "class Utils {\n\n    int murmur2(byte[] data) {\n        twice();\n        twice();\n"
    )
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "one"], [*who, "tag", "3.8.0"]):
        subprocess.run(["git", "-C", str(folder), *words], check=True)
    return folder


@pytest.fixture
def summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "rules" / "one" / "summary.toml"
    file.parent.mkdir(parents=True)
    file.write_text(SUMMARY)
    monkeypatch.setattr(java_lines, "RULES", tmp_path / "rules")
    return file


def test_check_of_moved_java_line_exits_1_and_a_run_without_check_updates_the_line_number(
    checkout: Path, summary: Path
) -> None:
    checked = CliRunner().invoke(java_lines.main, [str(checkout), "--check"])
    assert (checked.exit_code, checked.output) == (1, "one: a/Utils.java#L7 is #L3\n")
    assert summary.read_text() == SUMMARY
    assert CliRunner().invoke(java_lines.main, [str(checkout)]).exit_code == 0
    assert summary.read_text() == SUMMARY.replace("line = 7", "line = 3")
    assert CliRunner().invoke(java_lines.main, [str(checkout), "--check"]).exit_code == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("int murmur2(", "long murmur2(", "0 lines of a/Utils.java in 3.8.0 have 'long murmur2(': expected one"),
        ("int murmur2(", "twice(", "2 lines of a/Utils.java in 3.8.0 have 'twice(': expected one"),
        ("3.8.0", "9.9.9", "a/Utils.java cannot be read in 9.9.9"),
        ("a/Utils.java", "b/Utils.java", "b/Utils.java cannot be read in 3.8.0"),
    ],
)
def test_java_declaration_missing_or_ambiguous_in_the_checkout_exits_with_2(
    checkout: Path, summary: Path, old: str, new: str, message: str
) -> None:
    summary.write_text(SUMMARY.replace(old, new))
    ran = CliRunner().invoke(java_lines.main, [str(checkout)])
    assert ran.exit_code == 2
    assert message in ran.output


def test_java_line_update_covers_every_java_entry_of_rule_summaries() -> None:
    for slug in RULES:
        text = (java_lines.RULES / slug.replace("-", "_") / "summary.toml").read_text(encoding="utf-8")
        assert len(java_lines._ENTRY.findall(text)) == len(rule_summary(slug).java) == text.count("[[java]]")
