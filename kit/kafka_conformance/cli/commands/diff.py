"""Show by example what Java changed between two releases, or from each of several to the next.

Between two releases, each change comes with the fields of the behaviour records that explain it. Exit code 1 if something
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, is_folder
from kafka_conformance.core.pipeline import first_difference, size_of
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import to_json
from kafka_conformance.core.sources import sources
from kafka_conformance.oracle.session import chosen_releases, open_oracle
from kafka_conformance.reports.change_pages import (
    ChangeExample,
    Changes,
    ExplainingFields,
    RuleChange,
    SameAnswer,
    index_table,
    read_changes,
    write_changes,
)
from kafka_conformance.reports.page_block import write_block
from kafka_conformance.reports.terminal import console, finding, plural
from kafka_conformance.rules import named
from kafka_conformance.verify.explaining_fields import Attribution, attribute
from kafka_conformance.verify.release_diff import KindOfChange, ReleaseDiff, compare_releases, shrink_changes
from kafka_jars.pins import load

__all__ = ["markdown", "run"]


@click.argument("releases", metavar="R1 R2 | all", nargs=-1, required=True)
@options.rules
@options.examples(2000)
@options.seed
@click.option("--table", type=options.PRODUCT, metavar="FILE",
              help="Write the changes of these rules into this page, and into a folder of its name with a page for "
              "each release; those of other rules stay.")  # fmt: skip
@click.option(
    "--check",
    type=options.FILE,
    metavar="FILE",
    help="Exit with 1 unless the folder of this page has the same changes.",
)
def run(*, releases: Sequence[str], rules: Sequence[str], examples: int, seed: int,
        table: Path | None, check: Path | None) -> int:  # fmt: skip
    """Ask, print what changed; 0 if nothing did, 1 if something did, 2 if Java could not answer."""
    pins = load()
    chosen = chosen_releases(",".join(releases), pins)
    if len(chosen) < 2:
        raise BadInput(f"diff needs two releases or more, or all: {' '.join(releases)!r} is one")
    on_record = None if check is None else read_changes(_beside(check))
    diffs: list[ReleaseDiff] = []
    with steps("starting Spark's JVM", len(named(rules)) * len(chosen)) as progress, open_oracle(pins) as oracle:
        java = JavaAnswerer(oracle)
        for rule in named(rules):
            progress.doing(f"making questions for {rule.slug}")
            questions = sources(rule, rule.examples_of(examples, most=1), seed)
            diffs += compare_releases(rule, java, chosen, questions, progress)
            if len(chosen) == 2:
                _print_pair(diffs[-1], java, examples, seed)
    if len(chosen) > 2 and on_record is None:
        console().print(markdown(diffs), markup=False, soft_wrap=True)
    console().print(f"seed {seed}", style="dim")
    slugs = [rule.slug for rule in named(rules)]
    if table is not None:
        _write(table, diffs, slugs)
    if check is not None and on_record is not None:
        return _checked(on_record, _rule_changes(diffs), slugs, check)
    if any(each.changes for each in diffs):
        return 1
    return 2 if any(each.tally.errors for each in diffs) else 0


def _beside(page: Path) -> Path:
    """Return the folder of the changes that an index page shows: ``changes`` next to ``changes.md``. Raises BadInput."""
    if is_folder(page):
        raise BadInput(f"{page} is a folder: name the page, such as changes.md")
    return page.with_suffix("")


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
        shown = _smallest(each)
        for change in shown:
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


def _write(page: Path, diffs: Sequence[ReleaseDiff], asked: Sequence[str]) -> None:
    """Write the changes of the rules that were asked into the page and its folder."""
    folder = _beside(page)
    old = read_changes(folder) if exists(folder) else Changes((), ())
    changes = old.merged(Changes(tuple(_rule_changes(diffs)), tuple(_examples(diffs))), asked)
    write_changes(folder, changes)
    write_block(page, "diff", index_table(folder.name, changes))


def _rule_changes(diffs: Iterable[ReleaseDiff]) -> Iterator[RuleChange]:
    for each in diffs:
        names = str(each.releases[0]), str(each.releases[1])
        begins, ends = (each.rule.java_class(release) is None for release in each.releases)
        if begins != ends:
            yield RuleChange(each.rule.slug, *names, "begins" if begins else "ends")
        if each.changes:
            yield RuleChange(each.rule.slug, *names, "changes", len(each.changes))


def _examples(diffs: Iterable[ReleaseDiff]) -> Iterator[ChangeExample]:
    """Yield the smallest examples of each rule in each release, with the fields that explain them."""
    for each in diffs:
        attribution = Attribution(each.rule, each.releases)
        for change in _smallest(each):
            one, (before, after) = change.example, each.releases
            sides = [(before, one.expected), (after, one.actual)]
            first, second = (SameAnswer((str(release),), msgspec.to_builtins(answer)) for release, answer in sides)
            fields = tuple(map(str, attribution.fields_of(one.question)))
            asked = msgspec.json.decode(to_json(one.question))
            yield ChangeExample(each.rule.slug, change.kind, asked, (first, second), ExplainingFields(fields))


def _smallest(diff: ReleaseDiff) -> list[KindOfChange]:
    """Return the changes with the smallest examples, in their order."""
    shown = sorted(diff.changes, key=lambda change: size_of(change.example))[:_CHANGES_SHOWN]
    return [change for change in diff.changes if change in shown]


def _checked(on_record: Changes, found: Iterable[RuleChange], asked: Sequence[str], path: Path) -> int:
    """Compare the changes on record of the rules that were asked with those found; return the exit code."""
    wanted = {_row(each) for each in on_record.rules if each.rule in asked}
    made = {_row(each) for each in found}
    out = console()
    for row in sorted(made - wanted):
        out.print(f"{path} lacks: {row}", markup=False, soft_wrap=True)
    for row in sorted(wanted - made):
        out.print(f"{path} has a change that Java does not have: {row}", markup=False, soft_wrap=True)
    out.print(f"{path}: {len(wanted & made)} of {len(wanted | made)} rows are right", markup=False)
    return 0 if wanted == made else 1


def _row(change: RuleChange) -> str:
    return f"{change.rule} | {change.before} | {change.after} | {change.what}"
