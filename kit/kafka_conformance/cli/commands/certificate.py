"""Print the certificate: which questions each rule has answered in each release, and how many match Java.

FILE is a certificate of `verify` (default: the last one made here, else the shipped one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.cli.proof_report import ProofRow, proof_table
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, read_text
from kafka_conformance.core.streams import say
from kafka_conformance.generated_mutants.certificate_scores import with_scores
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console, plural
from kafka_conformance.verify import certificate as certificates
from kafka_jars.pins import load
from kafka_reference.certificate import Certificate, MutationScore, certificate, from_json

__all__ = ["run"]


@click.argument("files", nargs=-1, type=options.FILE, metavar="[FILE...]")
@click.option("--write", default=None, type=options.PRODUCT, metavar="FILE",
              help="Write it to this file, with the scores of generated mutants that ship; several certificates, of other "
              "rules or releases each, become one.")  # fmt: skip
@click.option("--shipped", is_flag=True, help="Print the certificate that ships with the package.")
@click.option("-v", "--verbose", is_flag=True, help="Print the sources of all questions.")
@click.option("--markdown", is_flag=True, help="Print the table of the page `kit/docs/proof.md`.")
def run(*, files: Sequence[Path], shipped: bool, markdown: bool, write: Path | None, verbose: bool = False) -> int:
    """Print a certificate, or write several as one; return 0, or 1 if it proves other code than is installed."""
    found = [_read(file, shipped=shipped) for file in files or (None,)]
    source, made = ", ".join(source for source, _ in found), certificates.merged([one for _, one in found])
    if write is not None:
        made = replace(with_scores(made), unproven=certificates.unproven_releases(made, load()))
        certificates.write(made, write)
    if markdown:
        say(certificates.markdown(made), end="")
        return 0
    void = certificates.void_rules(made)
    _print(made, void, source, verbose=verbose)
    return 1 if void else 0


def _print(made: Certificate, void: Sequence[str], source: str, *, verbose: bool) -> None:
    out = console()
    rows = [
        ProofRow(row.release, row.rule, (row.asked, row.agreed, 0, 0, 0), row.jar_sha256, row.pinned)
        for row in made.rows
    ]
    out.print(proof_table(rows))
    if verbose:
        for rule in made.rules():
            row = next(row for row in made.rows if row.rule == rule)
            sources = "; ".join(f"{count:,} {name}" for name, count in row.sources.items())
            out.print(f"{rule}: {sources}", style="dim", markup=False, soft_wrap=True)
    if made.scores:
        out.print("\nGenerated mutants killed by a gate:")
        out.print(table("", ["rule", "mutants", "by frozen cases", "by a gate", "equivalent", "unreachable"],
                        [_score_cells(rule, score) for rule, score in made.scores.items()]))  # fmt: skip
    for rule, words in made.harness.items():
        out.print(f"{rule}: harness: {words}", markup=False, soft_wrap=True)
    run = f"{source}, made {made.made} by kit {made.kit}, seed {made.seed}, JVM {made.jvm}"
    out.print(run, markup=False, soft_wrap=True)
    if taken := sum(row.made is not None or row.seed is not None for row in made.rows):
        out.print(f"{plural(taken, 'row')} of earlier runs, whose code has not changed since", markup=False)
    for rule, releases in made.unproven.items():
        out.print(f"not proven so far: {rule} in {', '.join(releases)}", markup=False, soft_wrap=True)
    if not void:
        out.print("it proves the code that is installed")
    elif list(void) == made.rules():
        out.print("it proves OTHER code than is installed: run verify")
    else:
        line = f"it proves OTHER code than is installed of {', '.join(void)}: run verify --changed"
        out.print(line, markup=False, soft_wrap=True)


def _score_cells(rule: str, score: MutationScore) -> list[str]:
    counts = (score.mutants, score.by_cases, score.by_gate, score.equivalent, score.unreachable)
    return [rule, *(f"{count:,}" for count in counts)]


def _read(file: Path | None, *, shipped: bool) -> tuple[str, Certificate]:
    last = certificates.last_certificate()
    path = file or (last if not shipped and exists(last) else None)
    if path is not None and not exists(path):
        raise BadInput(f"there is no certificate at {path}: run verify first")
    try:
        if path is None:
            return "the certificate that ships", certificate()
        made = from_json(read_text(path))
        if not all(type(count) is int for row in made.rows for count in row.sources.values()):
            raise TypeError("a count of questions is not a number")
        return str(path), made
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{path} is not a certificate: {error}") from error
