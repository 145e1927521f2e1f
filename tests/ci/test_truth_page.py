"""The page of topics with a known truth is what the audit finds, and no record in it is wrong."""

from __future__ import annotations

import re

import pytest
from truth_page import HEAD, PAGE, TAIL, main, row
from truth_topics import KINDS, Kind, judged

QUICK = {"Java, librdkafka and sarama", "3 partitions, then 12", "digits modulo 12", "5 keys"}


def lines() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    assert text.endswith(TAIL)
    return text[len(HEAD) : -len(TAIL)].splitlines(keepends=True)


def test_audit_truth_page_lists_at_least_30_kinds_of_topics_without_wrong_attribution() -> None:
    assert len(lines()) == len(KINDS) >= 30
    for line in lines():
        *_, attributed, either, unexplained, wrong = (cell.strip() for cell in line.strip().strip("|").split("|"))
        assert wrong == "0", line
        assert "cannot tell" in line or int(attributed.replace(",", "")) or either != "0" or unexplained != "0"
        assert ("cannot tell" in line) <= (attributed == "0")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name in QUICK], ids=lambda kind: kind.name)
def test_audit_truth_page_row_equals_the_audit_of_the_generated_topic(kind: Kind) -> None:
    assert row(kind, judged(kind)) in lines()


@pytest.mark.exhaustive
def test_audit_truth_page_equals_audits_of_all_generated_topics(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_true_client_shares_lie_within_the_audited_confidence_bounds() -> None:
    """58 %, 40 % and 2 % of three clients."""
    (line,) = (line for line in lines() if line.startswith("| Java, librdkafka and sarama |"))
    bounds = re.findall(r"\(([\d.]+) to ([\d.]+) %\)", line)
    assert len(bounds) == 3
    assert line.split("|")[3].strip() in (PAGE.parent / "audit.md").read_text(encoding="utf-8")
    for share, (low, high) in zip((58, 40, 2), bounds, strict=True):
        assert float(low) <= share <= float(high)
