"""Show what a rule does in a release, field by field; with a second release, what differs between the two.

RULE is the slug of a rule. `behaviour all --kafka R1 R2` shows what differs between two releases, for every rule; without
releases, `behaviour all` prints the tables of all releases, and --table FILE writes them into a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.oracle.session import chosen_releases, unproven_releases
from kafka_conformance.reports.behaviour import BehaviourLine, behaviour_lines, behaviour_page, print_lines
from kafka_conformance.reports.page_block import block_of, read_page, write_block
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import RULES, named
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["run"]

_ALL = "all"


@click.argument("rule", metavar="RULE | all")
@click.argument("second", metavar="[R2]", default="")
@click.option("--kafka", default="", metavar="R [R2]",
              help="An exact release or 'newest'; of two, after a space or comma, only what differs (default: newest; with "
                   "all: every release).")  # fmt: skip
@click.option("--table", type=options.PRODUCT, metavar="FILE", help="With all: write the tables into this page.")
@click.option(
    "--check", type=options.FILE, metavar="FILE", help="With all: exit with 1 unless this page has the tables."
)
@options.allow_unproven
@options.as_json
def run(*, rule: str, second: str, kafka: str, table: Path | None, check: Path | None, allow_unproven: bool,
        as_json: bool) -> int:  # fmt: skip
    """Print the behaviour of a rule, or write or check the page of all; return the exit code."""
    if second == _ALL or second in RULES:  # behaviour --kafka R1 R2 RULE
        rule, second = second, rule
    if rule == _ALL and not (kafka or second):
        if as_json:
            raise BadInput("behaviour all --json needs releases: give --kafka R, or two of them")
        return _page(table, check)
    if table or check:
        raise BadInput(
            "--table and --check need all, and no release: a page has the behaviour of every rule in every release"
        )
    meant = list(RULES.values()) if rule == _ALL else named([rule])
    releases = chosen_releases(f"{kafka or 'newest'},{second}" if rule != _ALL else f"{kafka},{second}", load())
    if len(releases) > 2:
        raise BadInput(f"behaviour takes one release or two, not {len(releases)}")
    unproven = unproven_releases([("", release) for release in releases], allow=allow_unproven)
    found = {one.slug: behaviour_lines(one, releases) for one in meant}
    if as_json:
        documents = [_fields(slug, lines) for slug, lines in found.items()]
        head = {"releases": [str(release) for release in releases], "unproven": unproven}
        say_json({**head, "rules": documents} if rule == _ALL else {**documents[0], **head})
        return 0
    for release in unproven:
        say(f"{release} is unproven: Java has not been asked whether it behaves like this")
    _print(meant, found, releases)
    return 0


def _print(rules: Sequence[Rule], found: Mapping[str, Sequence[BehaviourLine]], releases: Sequence[Release]) -> None:
    """Print the rules that have something to show, and below them a line for each of the others."""
    out = console()
    for slug, lines in found.items():
        if lines:
            if len(rules) > 1:
                out.print(slug, style="bold underline", markup=False)
            print_lines(lines, out)
    for rule in rules:
        if not found[rule.slug]:
            out.print(f"{rule.slug}: {_nothing(rule, releases)}", markup=False)


def _nothing(rule: Rule, releases: Sequence[Release]) -> str:
    absent = [str(release) for release in releases if release not in rule.releases]
    if absent:
        return f"the rule does not exist in {' and '.join(absent)}"
    if not any(record.changes() for record in rule.behaviours):
        return "no change in any release"
    return "no change" if len(releases) == 2 else f"no field has a value in {releases[0]}"


def _page(table: Path | None, check: Path | None) -> int:
    made = behaviour_page(RULES.values())
    if table is not None:
        write_block(table, "behaviour", f"\n{made}\n")
    if check is not None:
        same = block_of(read_page(check), "behaviour") == made.strip("\n")
        words = "as in the records" if same else "NOT as in the records: run behaviour all --table"
        say(f"{check}: {words}")
        return 0 if same else 1
    if table is None:
        say(made, end="")
    return 0


def _fields(slug: str, lines: Sequence[BehaviourLine]) -> dict[str, Any]:
    return {
        "rule": slug,
        "fields": [
            {"class": line.java_class, "field": line.field, "values": line.words, "effect": line.effect,
             "releases": line.releases, "ticket": line.ticket}
            for line in lines
        ],
    }  # fmt: skip
