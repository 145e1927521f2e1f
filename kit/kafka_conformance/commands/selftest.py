"""``selftest``: every mutant against the real Java. Each has to be found; the share that is, is the mutation score."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.engine import Pair, compare
from kafka_conformance.mutants import MUTANTS, Mutant
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.progress import steps
from kafka_conformance.protocol import to_json
from kafka_conformance.reports.terminal import console, table
from kafka_conformance.rules import RULES, named
from kafka_conformance.session import open_oracle
from kafka_conformance.sources import Source, sources

__all__ = ["run"]


def run(*, rules: Sequence[str], examples: int, seed: int) -> int:
    """Put every mutant of these rules to the questions ``verify`` asks; 1 if one survives."""
    slugs = [rule.slug for rule in named(rules)]
    mutants = [mutant for mutant in MUTANTS if mutant.rule in slugs]
    bare = [slug for slug in slugs if not any(mutant.rule == slug for mutant in mutants)]
    with steps("starting Spark's JVM", len(mutants)) as progress, open_oracle() as oracle:
        asked = {slug: sources(RULES[slug], examples, seed) for slug in slugs}
        rows = []
        for mutant in mutants:
            progress.doing(mutant.slug)
            rows.append(_put(oracle, mutant, asked[mutant.rule]))
            progress.advance()
    out = console()
    out.print(table("", ["mutant", "rule", "release", "asked", "caught by", "the mistake", "first question"], rows))
    alive = [row[0] for row in rows if row[4] == "0"]
    out.print(f"{len(rows) - len(alive)} of {len(rows)} mutants killed, seed {seed}")
    if alive or bare:
        out.print(
            f"alive: {', '.join(alive) or 'none'}; rules without a mutant: {', '.join(bare) or 'none'}",
            style="bold red",
            markup=False,
        )
    return 1 if alive or bare else 0


def _put(oracle: Oracle, mutant: Mutant, asked: Sequence[Source]) -> list[str]:
    rule = RULES[mutant.rule]
    pair = Pair(JavaAnswerer(oracle), ReferenceAnswerer(mutant.slug, mutant.ask), mutant.at, mutant.at)
    tally = compare(rule, pair, asked, lambda _: None)
    # A mutant that breaks down has not been caught by comparing.
    first = to_json(tally.differences[0].question).decode() if tally.differences else ""
    shown = first if len(first) <= 60 else first[:57] + "..."
    caught = f"{len(tally.differences):,}"
    return [mutant.slug, mutant.rule, str(mutant.at), f"{tally.total:,}", caught, mutant.story, shown]
