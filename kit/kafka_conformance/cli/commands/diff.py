"""Show by example what Java changed between two releases, or from each of several to the next.

Between two releases, each change comes with the fields of the behaviour records that explain it. Exit code 1 if something
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cli import options
from kafka_conformance.cli.page_block import block_of, read_page, write_block
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.pipeline import first_difference, size_of
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import to_json
from kafka_conformance.core.sources import sources
from kafka_conformance.oracle.session import chosen_releases, open_oracle
from kafka_conformance.reports.terminal import console, finding, plural
from kafka_conformance.rules import named
from kafka_conformance.verify.attribution import attribute
from kafka_conformance.verify.release_diff import ReleaseDiff, compare_releases, shrink_changes
from kafka_jars.pins import load

__all__ = ["markdown", "run"]


@click.argument("releases", metavar="R1 R2 | all", nargs=-1, required=True)
@options.rules
@options.examples(2000)
@options.seed
@click.option("--table", type=options.FILE, metavar="FILE",
              help="Write the changes of these rules into this page; the rows of other rules stay.")  # fmt: skip
@click.option("--check", type=options.FILE, metavar="FILE", help="Exit with 1 unless this page has the same changes.")
def run(*, releases: Sequence[str], rules: Sequence[str], examples: int, seed: int,
        table: Path | None, check: Path | None) -> int:  # fmt: skip
    """Ask, print what changed; 0 if nothing did, 1 if something did, 2 if Java could not answer."""
    pins = load()
    chosen = chosen_releases(",".join(releases), pins)
    if len(chosen) < 2:
        raise BadInput(f"diff needs two releases or more, or all: {' '.join(releases)!r} is one")
    page = None if check is None else read_page(check)
    diffs: list[ReleaseDiff] = []
    with steps("starting Spark's JVM", len(named(rules)) * len(chosen)) as progress, open_oracle(pins) as oracle:
        java = JavaAnswerer(oracle)
        for rule in named(rules):
            progress.doing(f"making questions for {rule.slug}")
            questions = sources(rule, rule.examples_of(examples, most=1), seed)
            diffs += compare_releases(rule, java, chosen, questions, progress)
            if len(chosen) == 2:
                _print_pair(diffs[-1], java, examples, seed)
    if len(chosen) > 2 and page is None:
        console().print(markdown(diffs), markup=False, soft_wrap=True)
    console().print(f"seed {seed}", style="dim")
    if table is not None:
        write_block(table, "diff", _merged(table, markdown(diffs), [rule.slug for rule in named(rules)]))
    if page is not None:
        return _checked(page, markdown(diffs), [rule.slug for rule in named(rules)], check)
    if any(each.changes for each in diffs):
        return 1
    return 2 if any(each.tally.errors for each in diffs) else 0


def markdown(diffs: Iterable[ReleaseDiff]) -> str:
    """Return the table of changes: for each rule, the releases that changed it, what changed, and an example."""
    lines = [
        "| rule | from | to | what changed | example: the answer before, the answer after, the question |",
        "|---|---|---|---|---|",
    ]
    for each in diffs:
        first, second = each.releases
        begins, ends = each.rule.java_class(first) is None, each.rule.java_class(second) is None
        if begins != ends:
            lines.append(f"| `{each.rule.slug}` | {first} | {second} | {'begins' if begins else 'ends'} | |")
        shown = sorted(each.changes, key=lambda change: size_of(change.example))[:_CHANGES_SHOWN]
        for change in filter(shown.__contains__, each.changes):
            parts = (*first_difference(change.example), change.example.question)
            example = " ".join(f"`{to_json(part).decode()}`" for part in parts).replace("|", "\\|")
            lines.append(f"| `{each.rule.slug}` | {first} | {second} | {change.kind} | {example} |")
        if more := len(each.changes) - len(shown):
            lines.append(f"| `{each.rule.slug}` | {first} | {second} | and {plural(more, 'more kind')} | |")
    return "\n".join(lines) + "\n"


def _print_pair(diff: ReleaseDiff, java: JavaAnswerer, examples: int, seed: int) -> None:
    out = console()
    names = (f"java {diff.releases[0]}", f"java {diff.releases[1]}")
    for each in attribute(diff, shrink_changes(diff, java, examples, seed)):
        out.print(finding(diff.rule, each.change.example, names, each.change.count, ""), soft_wrap=True)
        if each.fields:
            out.print(f"  explained by {', '.join(map(str, each.fields))}", markup=False, soft_wrap=True)
    out.print(diff.summary, markup=False, soft_wrap=True)


# After one change a script differs in hundreds of ways: a page shows those with the smallest examples.
_CHANGES_SHOWN = 3


def _merged(path: Path, made: str, asked: Sequence[str]) -> str:
    """Return the table of a page with the rows of the rules that were asked replaced; rules stand in their usual order."""
    head, rule_line, *rows = made.splitlines()
    old = block_of(read_page(path), "diff").splitlines() if path.exists() else []
    rows += [line for line in old if line.startswith("| `") and _slug(line) not in asked]
    order = {rule.slug: place for place, rule in enumerate(named(()))}
    return "\n".join([head, rule_line, *sorted(rows, key=lambda line: order.get(_slug(line), -1))]) + "\n"


def _slug(row: str) -> str:
    return row.split("`")[1]


def _checked(page: str, made: str, asked: Sequence[str], path: Path | None) -> int:
    """Compare a page's rows about the rules that were asked; return the exit code."""
    wanted, found = {row for row in _rows(page) if row[0].strip("`") in asked}, _rows(made)
    out = console()
    for row in sorted(found - wanted):
        out.print(f"{path} lacks: {' | '.join(row)}", markup=False, soft_wrap=True)
    for row in sorted(wanted - found):
        out.print(f"{path} has a change that Java does not have: {' | '.join(row)}", markup=False, soft_wrap=True)
    out.print(f"{path}: {len(wanted & found)} of {len(wanted | found)} rows are right", markup=False)
    return 0 if wanted == found else 1


def _rows(text: str) -> set[tuple[str, ...]]:
    """Return which rule changes, begins or ends from which release to which, without the kinds of change."""
    found: set[tuple[str, ...]] = set()
    for line in text.splitlines():
        if line.startswith("| `"):
            rule, first, second, what, *_ = (cell.strip("| ") for cell in line.split(" | "))
            found.add((rule, first, second, what if what in ("begins", "ends") else "changes"))
    return found
