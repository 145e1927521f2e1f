"""The page on self-tests names every check and every mistake of the kit, as ``selftest --kit`` has them."""

from __future__ import annotations

from pathlib import Path

from kafka_conformance.kit_mistakes.run import CHECKS, MISTAKES

PAGE = (Path(__file__).parents[3] / "kit" / "docs" / "selftest.md").read_text(encoding="utf-8")


def _rows(head: str) -> list[str]:
    """The rows of the table with this first column."""
    return PAGE.partition(f"\n| {head} |")[2].partition("\n\n")[0].splitlines()[2:]


def test_selftest_page_table_lists_all_checks_of_the_kit() -> None:
    assert _rows("check") == [f"| {check.name} | {check.description} |" for check in CHECKS]


def test_selftest_page_table_lists_all_kit_mutants_with_checks() -> None:
    assert _rows("mistake")[: len(MISTAKES)] == [
        f"| `{one.slug}` | {one.description} | {'; '.join(one.checks)} |" for one in MISTAKES
    ]
