"""Measure which lines and branches of Kafka's own classes the questions of each rule run.

Kafka's classes answer in a JVM with JaCoCo's agent, one rule at a time. `--shipped` prints the record that ships with the
package, without Java.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.progress import steps
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sources import sources
from kafka_conformance.core.streams import say_json
from kafka_conformance.oracle.session import chosen_releases, fresh_seed
from kafka_conformance.reports.tables import table
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import named
from kafka_conformance.verify.coverage import record as records
from kafka_conformance.verify.coverage.measurement import open_meter
from kafka_conformance.verify.coverage.mirrored_code import mirrored_code
from kafka_conformance.verify.coverage.page import coverage_page
from kafka_conformance.verify.coverage.record import CoverageRow, Record
from kafka_conformance.verify.coverage.summary import decreases, false_reasons, summary_of
from kafka_conformance.verify.fingerprint import fingerprint
from kafka_jars.pins import Pins, load
from kafka_reference.releases import Release

__all__ = ["run"]

_EXAMPLES = 500


@options.kafka("newest")
@options.rules
@click.option("--examples", default=None, type=click.IntRange(min=0), metavar="N",
              help="Questions that Hypothesis generates for each rule (default: 500; --check: as recorded).")  # fmt: skip
@click.option("--seed", default=None, type=click.IntRange(min=0), metavar="N",
              help="Seed of the generated questions; it is printed (default: random; --check: as recorded).")  # fmt: skip
@click.option("--shipped", is_flag=True, help="Print the record that ships with the package; nothing is measured.")
@click.option("--check", is_flag=True,
              help="Exit with 1 if a method runs fewer of its lines or branches than in the record that ships, or if a "
              "reason why a method is not the rule's own is not true.")  # fmt: skip
@click.option("--record", default=None, type=options.PRODUCT, metavar="FILE",
              help="Write what is measured into this record; its rows of other rules and releases stay.")  # fmt: skip
@click.option("--write", default=None, type=options.PRODUCT, metavar="FILE", help="Write the page, as Markdown.")
@click.option("-v", "--verbose", is_flag=True, help="Print the methods that have not run, or not as a whole.")
@options.as_json
def run(*, kafka: str, rules: Sequence[str], examples: int | None, seed: int | None, shipped: bool, check: bool,
        record: Path | None, write: Path | None, verbose: bool, as_json: bool) -> int:  # fmt: skip
    """Measure, print, write; return 0, or 1 if a check fails. Raises KitError, JarError."""
    before = records.shipped()
    asked = [rule for rule in named(rules) if rules or mirrored_code(rule.slug) is not None]
    for rule in asked:
        if mirrored_code(rule.slug) is None:
            raise BadInput(
                f"{rule.slug} has no coverage.toml, which names the classes that it mirrors: add it to its package"
            )
    if shipped:
        if record is not None:
            raise BadInput("--shipped measures nothing that --record could write: leave one of them out")
        rows = [row for row in before.rows if row.rule in {rule.slug for rule in asked}]
        if not rows:
            raise BadInput("the shipped record has none of these rules: measure them, without --shipped")
    else:
        plan = [(rule, release) for rule in asked for release in _releases(rule, kafka, load())]
        if not plan:
            raise BadInput("none of these rules exists in these releases: name others with --kafka")
        kept = Record() if record is None else records.read(record)
        rows = []
        for row in _measure(plan, examples, seed, before if check else Record()):
            rows.append(row)
            if record is not None:  # after each row: a run that is ended keeps what it has measured
                records.write(records.merged(kept, rows), record)
    current = records.merged(before, rows)
    if write is not None:
        write_whole(write, coverage_page(current).encode())
    faults = [line for row in rows for line in _faults(row, before, current)] if check else []
    _print(rows, faults, verbose=verbose, as_json=as_json, stale=_stale(rows) if shipped else [])
    return 1 if faults else 0


def _releases(rule: Rule, kafka: str, pins: Pins) -> list[Release]:
    """Return the releases to measure a rule in; ``newest`` is the newest that has the rule."""
    if kafka.strip() == "newest":
        return [release for release in chosen_releases("all", pins) if release in rule.releases][-1:]
    return [release for release in chosen_releases(kafka, pins) if release in rule.releases]


def _measure(
    plan: Sequence[tuple[Rule, Release]], examples: int | None, seed: int | None, recorded: Record
) -> Iterator[CoverageRow]:
    """Measure each rule in each release; ``examples`` and ``seed`` are by default those of the ``recorded`` row, if any."""
    fresh = fresh_seed()
    with steps("starting Spark's JVM", len(plan)) as progress, open_meter(load()) as meter:
        for rule, release in plan:
            progress.doing(f"{rule.slug} in {release}")
            row = recorded.row(rule.slug, str(release))
            number = examples if examples is not None else row.examples if row else _EXAMPLES
            chance = seed if seed is not None else row.seed if row else fresh
            questions = sources(rule, rule.examples_of(number), chance)
            yield meter.measure(rule, release, questions, chance, number)
            progress.advance()


def _faults(row: CoverageRow, before: Record, current: Record) -> list[str]:
    newest = {each.rule: each for each in records.newest_rows(current)}[row.rule]
    return decreases(before.row(row.rule, row.release), row) + (false_reasons(row, current) if row == newest else [])


def _stale(rows: Sequence[CoverageRow]) -> list[str]:
    """Return the rules whose code has changed since they were measured."""
    current = {rule.slug: fingerprint(rule) for rule in named([row.rule for row in rows])}
    return list(dict.fromkeys(row.rule for row in rows if row.fingerprint != current[row.rule]))


def _print(
    rows: Sequence[CoverageRow], faults: Sequence[str], *, verbose: bool, as_json: bool, stale: Sequence[str]
) -> None:
    if as_json:
        document = {"exit_code": 1 if faults else 0, "faults": faults, "changed_since": stale, "rows": rows}
        say_json(document)
        return
    out = console()
    lines = []
    for row in rows:
        each = summary_of(row)
        lines.append([row.rule, row.release, str(each.branches), str(each.lines), str(row.kinds), f"{row.asked:,}"])
    out.print(table("", ["rule", "release", "branches run", "lines run", "kinds", "questions"], lines))
    for row in rows if verbose else ():
        each = summary_of(row)
        for method in each.never_run:
            out.print(f"{row.rule} in {row.release}: never run: {method.name}", markup=False, soft_wrap=True)
        for method in each.partly_run:
            what = f"lines {method.lines}, branches {method.branches}"
            out.print(f"{row.rule} in {row.release}: run in part: {method.name}: {what}", markup=False, soft_wrap=True)
    for line in faults:
        out.print(line, style="bold red", markup=False, soft_wrap=True)
    if stale:
        out.print(f"measured before the code of {', '.join(stale)} changed", markup=False, soft_wrap=True)
    seeds = ", ".join(dict.fromkeys(str(row.seed) for row in rows))
    out.print(f"not Kafka's, and not measured: the harness of each rule (certificate). seed {seeds}",
              markup=False, soft_wrap=True)  # fmt: skip
