"""Show the effective producer settings for every combination of five settings, as observed in each release.

The page is Java's: every release answers every combination, and releases with the same answers share a section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import click
from msgspec import UNSET

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cli import options
from kafka_conformance.cli.page_block import block_of, read_page, write_block
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import KitError
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import Answer, Answered
from kafka_conformance.oracle.session import chosen_releases, open_oracle
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules.idempotence_config.rule import FIVE, NAMES, RULE, five
from kafka_conformance.verify.decision_table import Row, decision_rows
from kafka_jars.pins import load
from kafka_reference.releases import Release

__all__ = ["asked", "markdown", "run"]

_DOMAINS = tuple(FIVE.values())
_NOTHING = (0,) * len(_DOMAINS)
_ASKED_FOR, _TRANSACTIONAL = (1, 0, 0, 0, 0), (0, 0, 0, 0, 1)
_ORDER = ("error", "off, disabled", "off", "on")

Outcomes = Mapping[tuple[int, ...], Answer]


@options.kafka("all")
@click.option("--table", type=options.FILE, metavar="FILE", help="Write the tables into this page.")
@click.option("--check", type=options.FILE, metavar="FILE", help="Exit with 1 unless this page has the same tables.")
def run(*, kafka: str, table: Path | None, check: Path | None) -> int:
    """Ask, print or write the page; 0, or 1 if ``check`` says something else. Raises BadInput, KitError."""
    pins = load()
    releases = sorted(chosen_releases(kafka, pins))
    held_to = None if check is None else read_page(check)
    found: dict[Release, Outcomes] = {}
    with steps("starting Spark's JVM", len(releases)) as progress, open_oracle(pins) as oracle:
        for at in releases:
            progress.doing(f"{len(list(five()))} combinations in {at}")
            found[at] = asked(JavaAnswerer(oracle), at)
            oracle.close_release(str(at))
            progress.advance()
    made = markdown(found)
    if table is not None:
        write_block(table, "idempotence", made)
    if held_to is not None:
        return _checked(held_to, made, check)
    if table is None:
        console().print(made, markup=False, soft_wrap=True)
    return 0


def asked(who: Answerer, at: Release) -> Outcomes:
    """What each combination comes to in this release, by the indices of the values in FIVE. Raises KitError."""
    answers = who.answer(RULE, at, list(five()))
    for outcome in answers:
        if not isinstance(outcome, Answered):
            raise KitError(f"{who.name} did not answer in {at}: {outcome}")
    cells = product(*(range(len(values)) for values in _DOMAINS))
    return {cell: one.answer for cell, one in zip(cells, answers, strict=True) if isinstance(one, Answered)}


def markdown(found: Mapping[Release, Outcomes]) -> str:
    """The page between its marks: what is left alone, then a table for each group of releases that answer alike."""
    lines = [
        "## Left alone",
        "",
        "| releases | nothing set | `enable.idempotence=true` | `transactional.id` set |",
        "|---|---|---|---|",
    ]
    for releases, (nothing, asked, transactional) in _alike({at: _left_alone(each) for at, each in found.items()}):
        lines.append(f"| {releases} | {nothing} | {asked} | {transactional} |")
    lines += ["", "## Every combination"]
    for releases, rows in _alike({at: tuple(_rows(each)) for at, each in found.items()}):
        names = " | ".join(f"`{NAMES[field]}`" for field in FIVE)
        lines += ["", f"### {releases}", "", f"| {names} | comes to |", f"|{'---|' * (len(FIVE) + 1)}", *rows]
    return "\n".join(lines) + "\n"


def _alike(told: Mapping[Release, tuple[str, ...]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    groups: dict[tuple[str, ...], list[Release]] = {}
    for at, text in told.items():
        groups.setdefault(text, []).append(at)
    for text, releases in groups.items():
        yield ", ".join(map(str, releases)), text


def _left_alone(outcomes: Outcomes) -> tuple[str, ...]:
    def told(answer: Answer) -> str:
        if "raises" in answer:
            return f"error: {answer['message']}"
        acks = "all" if answer["acks"] == -1 else answer["acks"]
        state = "transactional" if answer["transactional"] else "idempotent" if answer["idempotent"] else "off"
        return f"{state}; acks {acks}, retries {answer['retries']}, {answer['max_in_flight']} in flight"

    return tuple(told(outcomes[cell]) for cell in (_NOTHING, _ASKED_FOR, _TRANSACTIONAL))


def _rows(outcomes: Outcomes) -> Iterator[str]:
    on_by_default = outcomes[_NOTHING].get("idempotent") is True
    told = {cell: _outcome(cell, answer, on_by_default) for cell, answer in outcomes.items()}

    def place(row: Row) -> tuple[int, str]:
        return next(at for at, kind in enumerate(_ORDER) if row.outcome.startswith(kind)), row.outcome

    for row in sorted(decision_rows(told), key=place):
        cells = (_values(values, allowed) for values, allowed in zip(_DOMAINS, row.allowed, strict=True))
        yield f"| {' | '.join(cells)} | {row.outcome} |"


def _outcome(cell: Sequence[int], answer: Answer, on_by_default: bool) -> str:
    if "raises" in answer:
        in_flight = _DOMAINS[3][cell[3]]
        return f"error: {answer['message'].replace(f'value is {in_flight}.', 'value is N.')}"
    if answer["idempotent"]:
        return "on, transactional" if answer["transactional"] else "on"
    return "off, disabled silently" if on_by_default and cell[0] == 0 else "off"


def _values(values: Sequence[object], allowed: Sequence[int]) -> str:
    """``any``, or the values; a text that stands for any text is not shown."""
    if len(allowed) == len(values):
        return "any"
    return ", ".join(
        "left alone" if values[at] is UNSET else "set" if values[at] == "id" else f"{values[at]}" for at in allowed
    )


def _checked(page: str, made: str, path: Path | None) -> int:
    says, so = _by_release(block_of(page, "idempotence").splitlines()), _by_release(made.splitlines())
    out = console()
    for version, rows in so.items():
        for row in sorted(rows - says.get(version, set())):
            out.print(f"{path} lacks, for {version}: {row}", markup=False, soft_wrap=True)
        for row in sorted(says.get(version, set()) - rows):
            out.print(f"{path} says of {version} what Java does not: {row}", markup=False, soft_wrap=True)
    right = sum(says.get(version) == rows for version, rows in so.items())
    out.print(f"{path}: so of {right} of {len(so)} releases that were asked; {len(says)} are on it", markup=False)
    return 0 if right == len(so) else 1


def _by_release(lines: Iterable[str]) -> dict[str, set[str]]:
    """What is said of each release: the rows of its section, and of the table of what is left alone."""
    said: dict[str, set[str]] = {}
    section: list[str] = []
    for line in lines:
        if line.startswith("### "):
            section = line.removeprefix("### ").split(", ")
        elif line.startswith("| ") and not line.startswith(("| releases", "| `")):
            releases, _, rest = line.removeprefix("| ").partition(" | ")
            named, text = (section, line) if section else (releases.split(", "), f"| {rest}")
            for version in named:
                said.setdefault(version, set()).add(text)
    return said
