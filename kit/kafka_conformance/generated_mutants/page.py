"""The table of scores on the page about self-tests.

``python -m kafka_conformance.generated_mutants.page FILE`` writes it from the record that ships.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from kafka_conformance.generated_mutants.population import Population
from kafka_conformance.generated_mutants.record import Record, shipped
from kafka_conformance.generated_mutants.scores import Score, score_of
from kafka_conformance.reports.page_block import write_block
from kafka_conformance.rules import RULES
from kafka_reference.proven import proven_releases

__all__ = ["COMMAND", "score_table"]

COMMAND: Final = "kafka_conformance.generated_mutants.page"
"""What the marks on the page name."""


def score_table(record: Record) -> str:
    """Return the score of each rule on record, as Markdown, and the rules that are not."""
    population = Population(proven_releases())
    lines = [
        "| rule | mutants | killed by frozen cases | by a gate | alive | equivalent | unreachable |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_row(score_of(row, population.of(row.rule))) for row in record.rows if row.mutants]
    on_record = {row.rule for row in record.rows}
    missing = [slug for slug in RULES if slug not in on_record]
    if missing:
        lines += ["", f"Not on record yet: {', '.join(missing)}."]
    return "\n".join(lines) + "\n"


def _row(score: Score) -> str:
    every = score.frozen + score.fresh + len(score.alive)
    return (
        f"| [{score.rule}](rules/{score.rule}.md) | {every:,} | {score.by_frozen:.1%} | {score.by_gate:.1%} "
        f"| {len(score.alive)} | {score.equivalent} | {score.unreachable} |"
    )


if __name__ == "__main__":
    write_block(Path(sys.argv[1]), COMMAND, score_table(shipped()))
