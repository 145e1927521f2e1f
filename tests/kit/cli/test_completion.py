"""Shell completion, as a shell asks for it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from kafka_conformance.cli import main as cli
from kafka_conformance.cli.completion import rule_slugs
from kafka_conformance.rules import RULES


def completed(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setenv("_KAFKA_CONFORMANCE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"kafka-conformance {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    monkeypatch.setattr(sys, "argv", ["kafka-conformance"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    return [line.removeprefix("plain,") for line in capsys.readouterr().out.splitlines()]


def test_rule_slugs_for_shell_completion_equal_the_sorted_rule_names() -> None:
    assert rule_slugs() == sorted(RULES)


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        ("sam", ["sample"]),
        ("verify --rules murmur2,partition", ["murmur2,partition-for-key"]),
        ("verify --kafka 4.4", ["4.4.0"]),
        ("verify --answerer mutant:signed-t", ["mutant:signed-tail"]),
    ],
)
def test_shell_completion_offers_commands_rules_releases_and_mutants(
    words: str, candidates: list[str], monkeypatch: Any, capsys: Any
) -> None:
    assert completed(words, monkeypatch, capsys) == candidates


def test_verify_help_lists_every_rule_name_without_line_breaks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["kafka-conformance", "verify", "--help"])
    with pytest.raises(SystemExit):
        cli.main()
    text = capsys.readouterr().out
    assert [slug for slug in RULES if slug not in text] == []
