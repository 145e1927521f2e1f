"""Show what a producer with these settings will do, or the effective settings of every combination of five.

With SETTINGS such as `acks=1 retries=0`, the reference answers, without Java: is the producer idempotent, does its
constructor throw, and what can a retry write twice; by default in all proven releases. The exit code is 1 if the
constructor throws in one of them. Without SETTINGS, Java is asked: every release answers every combination, and releases
with the same answers share a section.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TypeAlias

import click
from msgspec import UNSET

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.cli import options
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import BadInput, KitError
from kafka_conformance.core.progress import steps
from kafka_conformance.core.protocol import Answer, Answered
from kafka_conformance.core.streams import say
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.oracle.session import chosen_releases, open_oracle, unproven_releases
from kafka_conformance.reports.page_block import block_of, read_page, write_block
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules.eras import releases_of, spans_of
from kafka_conformance.rules.idempotence_config.question import NAMES
from kafka_conformance.rules.idempotence_config.rule import RULE
from kafka_conformance.rules.idempotence_config.spaces import FIVE, five
from kafka_conformance.verify.decision_table import DecisionRow, decision_rows
from kafka_jars.pins import load
from kafka_reference.errors import JavaException
from kafka_reference.idempotence import producer_outcome
from kafka_reference.idempotence.config_behaviour import IDEMPOTENCE
from kafka_reference.releases import Release, parse_release

__all__ = ["ask_combinations", "markdown", "run"]

_DOMAINS = tuple(FIVE.values())
_NOTHING = (0,) * len(_DOMAINS)
_REQUESTED, _TRANSACTIONAL = (1, 0, 0, 0, 0), (0, 0, 0, 0, 1)
_THROWS = "the constructor throws"
_ORDER = ("error", "off, disabled", "off", "on")

Answers: TypeAlias = Mapping[tuple[int, ...], Answer]
"""The answer to each combination, by the indices of its values in FIVE."""


@click.argument("settings", nargs=-1, metavar="[SETTINGS]...")
@options.kafka("all")
@click.option("--table", type=options.PRODUCT, metavar="FILE", help="Write the tables into this page.")
@click.option("--check", type=options.FILE, metavar="FILE", help="Exit with 1 unless this page has the same tables.")
def run(*, settings: tuple[str, ...], kafka: str, table: Path | None, check: Path | None) -> int:
    """Print what a producer does; or ask Java, and print, write or check the page.

    Returns 1 if ``check`` differs, or if the constructor throws in a release; else 0. Raises BadInput, KitError.
    """
    pins = load()
    pinned = sorted(map(parse_release, pins.releases))
    releases = sorted(chosen_releases(kafka, pins))
    if settings:
        if table is not None or check is not None:
            raise BadInput("SETTINGS are answered by the reference: --table and --check ask Java, and take none")
        unproven_releases([(RULE.slug, release) for release in releases], allow=None)
        given = read_settings(settings)
        outcomes = {release: (_outcome(given, release),) for release in reversed(releases)}
        for alike, (outcome,) in _grouped(outcomes, pinned):
            say(f"{alike}: {outcome}")
        return 1 if any(outcome.startswith(_THROWS) for (outcome,) in outcomes.values()) else 0
    page = None if check is None else read_page(check)
    answers: dict[Release, Answers] = {}
    with steps("starting Spark's JVM", len(releases)) as progress, open_oracle(pins) as oracle:
        for release in releases:
            progress.doing(f"{len(list(five()))} combinations in {release}")
            answers[release] = ask_combinations(JavaAnswerer(oracle), release)
            oracle.close_release(str(release))
            progress.advance()
    made = markdown(answers, pinned)
    if table is not None:
        write_block(table, "idempotence", f"\n{made}\n")
    if page is not None:
        return _check(page, made, check, pinned)
    if table is None:
        console().print(made, markup=False, soft_wrap=True)
    return 0


def read_settings(words: Sequence[str]) -> dict[str, str]:
    """Return settings given as ``NAME=VALUE``. Raises BadInput for names that decide nothing here."""
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        known = list(NAMES.values())
        if equals and name != name.strip() and name.strip() in known:
            raise BadInput(f"{word!r} has a space before =: write {name.strip()}={value.strip()}")
        if not equals or name not in known:
            expected = f"expected NAME=VALUE with one of {', '.join(known)}"
            hint = did_you_mean(name.replace("_", "."), known, expected) if equals else expected
            raise BadInput(f"{word!r} is not a setting that decides about idempotence: {hint}")
        if name in found:
            raise BadInput(f"{name} is given twice: {found[name]!r} and {value!r}")
        found[name] = value
    return found


def _outcome(settings: Mapping[str, str], release: Release) -> str:
    """Return what a producer with these settings does in a release: its constructor throws, or what a retry can write."""
    try:
        one = producer_outcome(settings, release)
    except JavaException as error:
        return f"{_THROWS} {error.java_name}: {error.message}"
    acks = "all" if one.acks == -1 else one.acks
    effective = f"acks {acks}, retries {one.retries}, {one.max_in_flight} in flight"
    if one.idempotent:
        kind = "transactional and idempotent" if one.transactional else "idempotent"
        return f"{kind} ({effective}): a batch that is sent again is written once, and in order"
    silently = IDEMPOTENCE not in settings and producer_outcome({}, release).idempotent
    kind = f"not idempotent{', and only a line in the log says so' if silently else ''} ({effective})"
    if not one.retries:
        return f"{kind}: nothing is sent again, so nothing is written twice; a batch that is lost stays lost"
    order = ", and behind a later one" if one.max_in_flight > 1 else ""
    return f"{kind}: a batch that is sent again can be written twice{order}"


def ask_combinations(answerer: Answerer, release: Release) -> Answers:
    """Return the answer to each combination in this release. Raises KitError."""
    outcomes = answerer.answer(RULE, release, list(five()))
    for outcome in outcomes:
        if not isinstance(outcome, Answered):
            raise KitError(f"{answerer.name} did not answer in {release}: {outcome}")
    cells = product(*(range(len(values)) for values in _DOMAINS))
    return {cell: one.answer for cell, one in zip(cells, outcomes, strict=True) if isinstance(one, Answered)}


def markdown(answers: Mapping[Release, Answers], pinned: Sequence[Release]) -> str:
    """Return the generated part of the page: the defaults, then a table for each group of releases with equal answers.

    Groups are written as spans of the ``pinned`` releases.
    """
    lines = [
        "## Defaults",
        "",
        "| releases | nothing set | `enable.idempotence=true` | `transactional.id` set |",
        "|---|---|---|---|",
    ]
    for releases, (nothing, requested, transactional) in _grouped(
        {release: _defaults(one) for release, one in answers.items()}, pinned
    ):
        lines.append(f"| {releases} | {nothing} | {requested} | {transactional} |")
    lines += ["", "## Every combination"]
    for releases, rows in _grouped({release: tuple(_rows(one)) for release, one in answers.items()}, pinned):
        names = " | ".join(f"`{NAMES[field]}`" for field in FIVE)
        lines += ["", f"### {releases}", "", f"| {names} | result |", f"|{'---|' * (len(FIVE) + 1)}", *rows]
    return "\n".join(lines) + "\n"


def _grouped(
    texts: Mapping[Release, tuple[str, ...]], pinned: Sequence[Release]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each text with the releases that have it, as spans of all that are pinned."""
    every = sorted({*pinned, *texts})
    groups: dict[tuple[str, ...], list[Release]] = {}
    for release, text in texts.items():
        groups.setdefault(text, []).append(release)
    for text, releases in groups.items():
        yield spans_of(releases, every), text


def _defaults(answers: Answers) -> tuple[str, ...]:
    return tuple(_default(answers[cell]) for cell in (_NOTHING, _REQUESTED, _TRANSACTIONAL))


def _default(answer: Answer) -> str:
    if "raises" in answer:
        return f"error: {answer['message']}"
    acks = "all" if answer["acks"] == -1 else answer["acks"]
    state = "transactional" if answer["transactional"] else "idempotent" if answer["idempotent"] else "off"
    return f"{state}; acks {acks}, retries {answer['retries']}, {answer['max_in_flight']} in flight"


def _rows(answers: Answers) -> Iterator[str]:
    on_by_default = answers[_NOTHING].get("idempotent") is True
    results = {cell: _result(cell, answer, on_by_default) for cell, answer in answers.items()}

    def place(row: DecisionRow) -> tuple[int, str]:
        return next(place for place, kind in enumerate(_ORDER) if row.outcome.startswith(kind)), row.outcome

    for row in sorted(decision_rows(results), key=place):
        cells = (_values(values, allowed) for values, allowed in zip(_DOMAINS, row.allowed, strict=True))
        yield f"| {' | '.join(cells)} | {row.outcome} |"


def _result(cell: Sequence[int], answer: Answer, on_by_default: bool) -> str:
    if "raises" in answer:
        in_flight = _DOMAINS[3][cell[3]]
        return f"error: {answer['message'].replace(f'value is {in_flight}.', 'value is N.')}"
    if answer["idempotent"]:
        return "on, transactional" if answer["transactional"] else "on"
    return "off, disabled silently" if on_by_default and cell[0] == 0 else "off"


def _values(values: Sequence[object], allowed: Sequence[int]) -> str:
    """Return ``any``, or the values; a transactional.id is shown as "set"."""
    if len(allowed) == len(values):
        return "any"
    return ", ".join(
        "unset" if values[index] is UNSET else "set" if values[index] == "id" else f"{values[index]}"
        for index in allowed
    )


def _check(page: str, made: str, path: Path | None, pinned: Sequence[Release]) -> int:
    """Print the rows that the page lacks or should not have, for each release that was asked."""
    actual, expected = (_by_release(text.splitlines(), pinned) for text in (block_of(page, "idempotence"), made))
    out = console()
    for version, rows in expected.items():
        for row in sorted(rows - actual.get(version, set())):
            out.print(f"{path}: missing row for {version}: {row}", markup=False, soft_wrap=True)
        for row in sorted(actual.get(version, set()) - rows):
            out.print(f"{path}: wrong row for {version}: {row}", markup=False, soft_wrap=True)
    right = sum(actual.get(version) == rows for version, rows in expected.items())
    summary = f"{right} of {len(expected)} releases match; the page has {len(actual)}"
    out.print(f"{path}: {summary}", markup=False, soft_wrap=True)
    return 0 if right == len(expected) else 1


def _by_release(lines: Iterable[str], pinned: Sequence[Release]) -> dict[str, set[str]]:
    """Return the rows for each release: those of its section, and its defaults."""
    found: dict[str, set[str]] = {}
    section: list[Release] = []
    for line in lines:
        if line.startswith("### "):
            section = releases_of(line.removeprefix("### "), pinned)
        elif line.startswith("| ") and not line.startswith(("| releases", "| `")):
            releases, _, rest = line.removeprefix("| ").partition(" | ")
            named, row = (section, line) if section else (releases_of(releases, pinned), f"| {rest}")
            for release in named:
                found.setdefault(str(release), set()).add(row)
    return found
