"""Prove that the kit can fail: every mutant must differ from Java in some question.

A mutant that differs in 25 questions is asked no more. With --generated, mutants are made from the syntax trees of the
reference, and asked what a gate asks. With --kit, mistakes are planted in the kit itself, and its checks must find each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.answerers.recorded_outcomes import CachedAnswerer
from kafka_conformance.cli import options
from kafka_conformance.cli.generated_selftest import run_generated
from kafka_conformance.cli.kit_mistakes import run_kit_mistakes
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.pipeline import Tally, error_line
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import Answered
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import HYPOTHESIS, Source, collect
from kafka_conformance.oracle.session import open_oracle
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import RULES, named
from kafka_conformance.rules.mutants import MUTANTS
from kafka_conformance.verify.fingerprint import mutants_fingerprint
from kafka_conformance.verify.mutants import record as records
from kafka_conformance.verify.mutants.comparison import compare_mutants, verdict
from kafka_conformance.verify.mutants.record import Kill, MutantRow, Record
from kafka_conformance.verify.mutants.selection import MutantSelection, select_all, select_changed

__all__ = ["run"]


@options.rules
@options.examples(2000)
@options.seed
@click.option("--changed", is_flag=True,
              help="Ask all mutants of a rule only if the record that ships does not prove them killed as installed; "
              "of every other rule ask one, the quickest to kill.")  # fmt: skip
@click.option("--record", default=None, type=options.PRODUCT, metavar="FILE",
              help="Write into this record the rules of which all mutants are asked and killed; its rows of other rules "
              "stay.")  # fmt: skip
@click.option("--generated", is_flag=True,
              help="Ask mutants that are generated from the reference's syntax trees the questions of a gate instead; "
              "needs no Java.")  # fmt: skip
@click.option("--search", default=0, type=click.IntRange(min=0), metavar="N",
              help="With --generated: ask survivors N more questions of each rule, and those of its spaces; write what "
              "kills to .kafka-conformance/generated-mutants/killers.ndjson, for freeze --add (default: 0).")  # fmt: skip
@click.option("--kit", is_flag=True,
              help="Plant mistakes in the kit itself instead: in the oracle, the comparison, the counts and the verdicts. "
              "Each must be found by the checks that it names, on a few questions of Kafka 3.9.2.")  # fmt: skip
def run(*, rules: Sequence[str], examples: int, seed: int, changed: bool = False, record: Path | None = None,
        generated: bool = False, search: int = 0, kit: bool = False) -> int:  # fmt: skip
    """Compare mutants of these rules with Java; 1 if a mutant survives, 2 if Java could not answer."""
    if search and not generated:
        raise BadInput("--search asks about generated mutants: give --generated as well")
    if kit:
        if rules or changed or generated or record is not None:
            raise BadInput(
                "--kit plants mistakes in the kit, not in rules: leave out --rules, --changed, --generated and --record"
            )
        return run_kit_mistakes()
    slugs = [rule.slug for rule in named(rules)]
    if generated:
        return run_generated(slugs, seed, changed=changed, record=record, search=search)
    selection = select_changed(slugs, MUTANTS, records.shipped()) if changed else select_all(slugs, MUTANTS)
    kept = Record() if record is None else records.merged(records.read(record), [])
    tallies: dict[str, Tally] = {}
    with steps("starting Spark's JVM", len(selection.mutants)) as progress, open_oracle() as oracle:
        java = CachedAnswerer(JavaAnswerer(oracle))
        for slug in slugs:
            mutants = [mutant for mutant in selection.mutants if mutant.rule == slug]
            tallies |= compare_mutants(RULES[slug], mutants, java, _questions(RULES[slug], examples, seed), progress)
            if record is not None:  # after each rule: a run that is ended keeps the rules that it has asked
                results = [(mutant, tallies[mutant.slug]) for mutant in mutants]
                kept = _with_rule(kept, RULES[slug], results, examples, seed) if slug in selection.whole else kept
                records.write(kept, record)
    return _report(slugs, selection, tallies, seed, changed=changed)


def _questions(rule: Rule, examples: int, seed: int) -> Iterator[Source]:
    """Yield the sources of :func:`kafka_conformance.core.sources.sources`, without counts of their kinds."""
    for space in rule.spaces:
        yield Source(space.name, tuple(space.questions()))
    yield Source(HYPOTHESIS, tuple(collect(rule, examples, seed)))


def _with_rule(record: Record, rule: Rule, results: Sequence[tuple[Mutant, Tally]], examples: int, seed: int) -> Record:
    """Return the record with these mutants of a rule if all are killed; without a row of the rule if one survives.

    A rule that Java could not answer in full changes nothing.
    """
    if not results or any(not isinstance(each.expected, Answered) for _, counts in results for each in counts.errors):
        return record
    if not all(counts.differ for _, counts in results):
        return records.merged(record, [], without=[rule.slug])
    kills = tuple(Kill(mutant.slug, str(mutant.release), counts.total, counts.differ) for mutant, counts in results)
    return records.merged(record, [MutantRow(rule.slug, mutants_fingerprint(rule), seed, examples, kills)])


def _report(
    slugs: Sequence[str], selection: MutantSelection, tallies: dict[str, Tally], seed: int, *, changed: bool
) -> int:
    out = console()
    results = [(mutant, tallies[mutant.slug]) for mutant in selection.mutants]
    rows = [
        [mutant.slug, mutant.rule, str(mutant.release), f"{counts.total:,}", f"{counts.differ:,}", mutant.description]
        for mutant, counts in results
    ]
    out.print(table("", ["mutant", "rule", "release", "asked", "caught by", "the mistake"], rows))
    found = verdict(slugs, results)
    if changed:
        out.print(selection.summary, markup=False, soft_wrap=True)
    out.print(f"{len(results) - len(found.alive)} of {len(results)} mutants killed, seed {seed}")
    for title, names in (
        ("alive", found.alive),
        ("rules without a mutant", found.bare),
        ("Java could not answer", [error_line(each.verdict) for each in found.errors[:3]]),
    ):
        if names:
            out.print(f"{title}: {', '.join(names)}", style="bold red", markup=False, soft_wrap=True)
    return found.exit_code
