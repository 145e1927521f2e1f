"""Tables of a proof: at most 80 columns, no broken word, and no column that is zero throughout."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.console import Console

from kafka_conformance.cli.proof_report import ProofRow, proof_table
from kafka_conformance.rules import RULES

RELEASES = [f"4.{minor}.{patch}" for minor in range(4) for patch in range(3)]


def shown(rows: Sequence[ProofRow], width: int = 80) -> list[str]:
    console = Console(width=width)
    with console.capture() as captured:
        console.print(proof_table(rows))
    return captured.get().splitlines()


def row(
    release: str, rule: str, *, counts: tuple[int, ...] = (134_570, 134_570, 0, 0, 0), pinned: bool = True
) -> ProofRow:
    return ProofRow(release, rule, counts, "0123456789abcdef" * 4, pinned)


def test_proof_table_of_one_release_has_a_line_for_each_rule() -> None:
    lines = shown([row("4.4.0", rule) for rule in RULES])
    assert lines[0] == "Kafka 4.4.0, sha256 of the jars: 0123456789ab"
    assert lines[1].split() == ["rule", "questions", "match"]
    assert [line.split() for line in lines[2:]] == [[rule, "134,570", "134,570"] for rule in RULES]


def test_proof_table_of_several_releases_has_a_line_for_each_release() -> None:
    lines = shown([row(release, rule) for release in RELEASES for rule in RULES])
    assert lines[0].split() == ["release", "rules", "questions", "match", "jar", "sha256"]
    total = f"{134_570 * len(RULES):,}"
    assert [line.split() for line in lines[1:]] == [
        [each, str(len(RULES)), total, total, "0123456789ab"] for each in RELEASES
    ]


@pytest.mark.parametrize(
    ("counts", "head"),
    [((9, 8, 1, 0, 0), "differ"), ((9, 8, 0, 1, 0), "errors"), ((9, 9, 0, 0, 7), "unsupported")],
)
def test_proof_table_shows_differ_errors_or_unsupported_column_only_if_nonzero(
    counts: tuple[int, ...], head: str
) -> None:
    rows = [row("4.4.0", "murmur2"), row("4.4.0", "delivery", counts=counts)]
    assert shown(rows)[1].split() == ["rule", "questions", "match", head]


def test_proof_table_marks_unpinned_releases() -> None:
    one, other = row("3.6.1", "murmur2", pinned=False), row("4.4.0", "murmur2")
    assert shown([one])[0].startswith("Kafka 3.6.1 (unpinned), ")
    assert [line.split("  ")[0] for line in shown([one, other])[1:]] == ["3.6.1 (unpinned)", "4.4.0"]


def test_proof_table_with_large_counts_fits_80_columns() -> None:
    many = (99_999_999, 99_999_999, 99_999, 99_999, 99_999)
    rows = [row("0.10.0.1", rule, counts=many) for rule in RULES]
    assert all(rule in "\n".join(shown(rows)) for rule in RULES)
    assert all(len(line) <= 80 for line in shown(rows))
    assert sum(line.startswith(tuple(RULES)) for line in shown(rows)) == len(RULES)
