"""Prove that the kit can fail: every mutant must differ from Java in some question.

A mutant that differs in 25 questions is asked no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli import options
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Pair, Tally, compare
from kafka_conformance.core.progress import steps
from kafka_conformance.core.sources import Source, sources
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.oracle.session import open_oracle
from kafka_conformance.reports.terminal import console, table
from kafka_conformance.rules import RULES, named
from kafka_conformance.rules.mutants import MUTANTS

__all__ = ["run"]

_ENOUGH, _BATCH = 25, 250


@options.rules
@options.examples(2000)
@options.seed
def run(*, rules: Sequence[str], examples: int, seed: int) -> int:
    """Put every mutant of these rules to the questions ``verify`` asks; 1 if one survives, 2 if Java could not answer."""
    slugs = [rule.slug for rule in named(rules)]
    mutants = [mutant for mutant in MUTANTS if mutant.rule in slugs]
    with steps("starting Spark's JVM", len(mutants)) as progress, open_oracle() as oracle:
        asked = {slug: sources(RULES[slug], examples, seed) for slug in slugs}
        tallies = []
        for mutant in mutants:
            progress.doing(mutant.slug)
            tallies.append(_put(oracle, mutant, asked[mutant.rule]))
            progress.advance()
    judged = list(zip(mutants, tallies, strict=True))
    out = console()
    rows = [
        [mutant.slug, mutant.rule, str(mutant.at), f"{tally.total:,}", f"{tally.differ:,}", mutant.story]
        for mutant, tally in judged
    ]
    out.print(table("", ["mutant", "rule", "release", "asked", "caught by", "the mistake"], rows))
    # A mutant that breaks down has not been caught: nobody compared its answer. Where Java breaks down, nobody can.
    javas = [what for _, tally in judged for _, what in tally.errors if what.startswith("java ")]
    alive = [mutant.slug for mutant, tally in judged if not tally.differ]
    bare = [slug for slug in slugs if not any(mutant.rule == slug for mutant in mutants)]
    out.print(f"{len(mutants) - len(alive)} of {len(mutants)} mutants killed, seed {seed}")
    for title, named_ones in (("alive", alive), ("rules without a mutant", bare), ("Java could not answer", javas[:3])):
        if named_ones:
            out.print(f"{title}: {', '.join(named_ones)}", style="bold red", markup=False, soft_wrap=True)
    return 2 if javas else 1 if alive or bare else 0


def _put(oracle: Oracle, mutant: Mutant, asked: Sequence[Source]) -> Tally:
    pair = Pair(JavaAnswerer(oracle), ReferenceAnswerer(mutant.slug, mutant.ask), mutant.at, mutant.at)
    return compare(RULES[mutant.rule], pair, asked, lambda _: None, enough=_ENOUGH, batch_size=_BATCH)
