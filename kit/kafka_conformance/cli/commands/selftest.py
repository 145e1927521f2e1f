"""Prove that the kit can fail: every mutant must differ from Java in some question.

A mutant that differs in 25 questions is asked no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cli import options
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Comparison, Tally, error_line, tally
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import Answered
from kafka_conformance.core.sources import sources
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
    """Compare every mutant of these rules with Java; 1 if a mutant survives, 2 if Java could not answer."""
    slugs = [rule.slug for rule in named(rules)]
    mutants = [mutant for mutant in MUTANTS if mutant.rule in slugs]
    tallies: list[Tally] = []
    with steps("starting Spark's JVM", len(mutants)) as progress, open_oracle() as oracle:
        questions = {slug: sources(RULES[slug], examples, seed) for slug in slugs}
        for mutant in mutants:
            progress.doing(mutant.slug)
            actual = ReferenceAnswerer(mutant.slug, mutant.ask)
            comparison = Comparison(JavaAnswerer(oracle), actual, mutant.at)
            tallies.append(
                tally(RULES[mutant.rule], comparison, questions[mutant.rule], enough=_ENOUGH, batch_size=_BATCH)
            )
            progress.advance()
    return _report(slugs, list(zip(mutants, tallies, strict=True)), seed)


def _report(slugs: Sequence[str], results: Sequence[tuple[Mutant, Tally]], seed: int) -> int:
    out = console()
    rows = [
        [mutant.slug, mutant.rule, str(mutant.at), f"{counts.total:,}", f"{counts.differ:,}", mutant.story]
        for mutant, counts in results
    ]
    out.print(table("", ["mutant", "rule", "release", "asked", "caught by", "the mistake"], rows))
    # A mutant that fails to answer is not killed: only an answer that differs from Java's is.
    alive = [mutant.slug for mutant, counts in results if not counts.differ]
    bare = [slug for slug in slugs if not any(mutant.rule == slug for mutant, _ in results)]
    errors = [each for _, counts in results for each in counts.errors if not isinstance(each.expected, Answered)]
    out.print(f"{len(results) - len(alive)} of {len(results)} mutants killed, seed {seed}")
    for title, names in (
        ("alive", alive),
        ("rules without a mutant", bare),
        ("Java could not answer", [error_line(each.verdict) for each in errors[:3]]),
    ):
        if names:
            out.print(f"{title}: {', '.join(names)}", style="bold red", markup=False, soft_wrap=True)
    return 2 if errors else 1 if alive or bare else 0
