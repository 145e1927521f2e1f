"""Behaviour records as text: what a release does, what differs between two, and the page of all changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.text import Text

from kafka_conformance.core.rule import Rule
from kafka_conformance.reports.tables import PlainTable
from kafka_conformance.rules.eras import record_in, value_text
from kafka_reference.behaviour import Behaviour, Change
from kafka_reference.releases import Release

__all__ = ["BehaviourLine", "behaviour_lines", "behaviour_page", "print_lines"]

_HEADS = ("field", "value", "effect", "releases", "ticket")


@dataclass(frozen=True, slots=True)
class BehaviourLine:
    """A field of a behaviour record, with its value in each release that was asked for.

    ``values`` is a value for each release, None where the class is not mirrored there; ``releases`` is a text that names
    the releases of each value.
    """

    java_class: str
    record: type[Behaviour]
    field: str
    values: tuple[Any, ...]
    effect: str
    releases: str
    ticket: str

    def __str__(self) -> str:
        return f"{self.record.__name__}.{self.field}"

    @property
    def words(self) -> list[str]:
        """The value in each release, as text."""
        return ["not there" if value is None else value_text(value[0]) for value in self.values]


def behaviour_lines(rule: Rule, releases: Sequence[Release]) -> list[BehaviourLine]:
    """Return the fields of the records of ``rule`` in a release; of two releases, those that differ.

    Fields that no question of the rule can show are left out, and of two releases the records that only one of them has:
    their class begins or ends between the two.
    """
    lines = {str(line): line for record in rule.behaviours for line in _lines(rule, record, releases)}
    if len(releases) == 1:
        return [line for line in lines.values() if line.values != (None,)]
    return [
        line
        for name, line in lines.items()
        if None not in line.values and line.values[0] != line.values[1] and _shows(rule.shows_with.get(name), lines)
    ]


def _shows(other: str | None, lines: Mapping[str, BehaviourLine]) -> bool:
    """Return whether the field that another field shows with holds in both releases."""
    return other is None or all(value is not None and value[0] for value in lines[other].values)


def behaviour_page(rules: Iterable[Rule]) -> str:
    """Return the page of all changes: a section for each rule, with a table for each of its records.

    A record that several rules have is a table in the section of the first of those that name it first, if any does.
    """
    rules = tuple(rules)
    first = {rule.behaviours[0]: rule for rule in reversed(rules) if rule.behaviours}
    sections = []
    for rule in rules:
        tables = [_table(record, first.setdefault(record, rule), rule) for record in rule.behaviours]
        sections.append("\n\n".join([f"## {rule.slug}", *(tables or ["No change in any release."])]))
    return "\n\n".join(sections) + "\n"


def print_lines(lines: Sequence[BehaviourLine], out: Console) -> None:
    """Print a table for each Java class, with a row for each field."""
    for java_class, fields in groupby(lines, lambda line: line.java_class):
        out.print(Text(java_class, style="bold"))
        rows = [(line.field, " → ".join(line.words), line.effect, line.releases, line.ticket) for line in fields]
        out.print(PlainTable("", _HEADS, rows))
        out.print()


def _lines(rule: Rule, record: type[Behaviour], releases: Sequence[Release]) -> Iterator[BehaviourLine]:
    resolved = [record_in(record, release) for release in releases]
    for change in record.changes():
        values = tuple(None if one is None else (getattr(one, change.name),) for one in resolved)
        spans = _spansvalue_text(change)
        line = BehaviourLine(record.java_class, record, change.name, values, change.effect, spans, change.ticket)
        if str(line) not in rule.unobservable:
            yield line


def _table(record: type[Behaviour], first: Rule, rule: Rule) -> str:
    title = f"`{_short(record.java_class)}`{f' ({record.releases})' if record.releases is not None else ''}"
    if first is not rule:
        return f"{title}: see [{first.slug}](#{first.slug})."
    changes = record.changes()
    if not changes:
        return f"{title}: no change in any release."
    rows = [(f"`{change.name}`", change.effect, _spansvalue_text(change), change.ticket) for change in changes]
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([f"{title}:", "", "| field | effect | releases | ticket |", "|---|---|---|---|", *lines])


def _spansvalue_text(change: Change) -> str:
    if change.values and all(value is True for _, value in change.values) and change.otherwise is False:
        return ", ".join(str(spans) for spans, _ in change.values)
    words = [f"{spans}: {value_text(value)}" for spans, value in change.values]
    if change.otherwise is not None:
        words.append(f"otherwise: {value_text(change.otherwise)}")
    return "; ".join(words)


def _short(java_class: str) -> str:
    return java_class.removeprefix("org.apache.kafka.").rpartition("internals.")[2].removeprefix("clients.producer.")
