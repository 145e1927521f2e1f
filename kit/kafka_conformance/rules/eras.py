"""Eras: the proven releases in which a rule behaves the same, by its behaviour records.

Two releases are of one era if every field of the records that a question of the rule can show has the same value in
both. One release of each era is the smallest set in which every distinct behaviour of the rule is asked; the newest
stands for its era.

>>> from kafka_conformance.rules import RULES
>>> era = eras(RULES["default-partitioner"])[-1]
>>> str(era.newest)
'3.9.2'
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_conformance.core.rule import Rule
from kafka_conformance.core.spans import runs
from kafka_reference.behaviour import Behaviour
from kafka_reference.errors import NotInThisRelease
from kafka_reference.proven import lacks_proof, proven_releases
from kafka_reference.releases import Release, parse_release

__all__ = [
    "ERAS",
    "Era",
    "behaviour_in",
    "eras",
    "neighbours",
    "newest_of_eras",
    "record_in",
    "releases_of",
    "spans_of",
    "value_text",
    "visible_fields",
]

ERAS = "eras"
"""The word that asks for the eras of each rule in place of releases."""


@dataclass(frozen=True, slots=True)
class Era:
    """``releases``: the proven ones in which the rule behaves the same, in order; ``text`` has them as spans."""

    releases: tuple[Release, ...]
    text: str

    @property
    def newest(self) -> Release:
        """The release that stands for the era."""
        return self.releases[-1]

    def __str__(self) -> str:
        return self.text


def eras(rule: Rule) -> tuple[Era, ...]:
    """Return the eras of a rule, ordered by their newest releases; none if no release that has the rule is proven."""
    found: list[tuple[dict[str, Any], list[Release]]] = []
    having = [
        release for release in proven_releases() if release in rule.releases and not lacks_proof(release, rule.slug)
    ]
    for release in having:
        values = visible_fields(rule, release)
        same = next((releases for others, releases in found if others == values), None)
        if same is None:
            found.append((values, [release]))
        else:
            same.append(release)
    made = [Era(tuple(releases), spans_of(releases, having)) for _, releases in found]
    return tuple(sorted(made, key=lambda era: era.newest))


def newest_of_eras(rule: Rule) -> list[Release]:
    """Return the release that stands for each era of a rule, in order."""
    return [era.newest for era in eras(rule)]


def neighbours(era: Era, every: Sequence[Era]) -> Sequence[Era]:
    """Return the era before this one and the one after it, as far as there are any."""
    place = every.index(era)
    return [*every[max(0, place - 1) : place], *every[place + 1 : place + 2]]


def spans_of(chosen: Collection[Release], among: Sequence[Release]) -> str:
    """Return releases as spans of ``among``, which are in order: ``2.0.1, 2.4.1 to 3.9.2``."""
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs(chosen, among))


def releases_of(spans: str, among: Iterable[Release]) -> list[Release]:
    """Return the releases of ``among`` within the spans that :func:`spans_of` writes, and the ends of these, in order.

    Raises BadInput for an end that is not a release.
    """
    every, found = set(among), set[Release]()
    for span in spans.split(", "):
        first, _, last = span.partition(" to ")
        lowest, highest = parse_release(first), parse_release(last or first)
        found |= {release for release in {*every, lowest, highest} if lowest <= release <= highest}
    return sorted(found)


def visible_fields(rule: Rule, release: Release) -> dict[str, Any]:
    """Return the fields of behaviour records that a question of the rule can show, with their values.

    The name of a record stands for whether the release has its class.
    """
    fields: dict[str, Any] = {}
    for record, resolved in zip(rule.behaviours, behaviour_in(rule, release), strict=True):
        for change in record.changes():
            fields[f"{record.__name__}.{change.name}"] = resolved and getattr(resolved, change.name)
        fields[record.__name__] = resolved is not None
    hidden = {name for name, other in rule.shows_with.items() if not fields.get(other)} | rule.unobservable
    return {name: value for name, value in fields.items() if name not in hidden}


def behaviour_in(rule: Rule, release: Release) -> tuple[Behaviour | None, ...]:
    """Return the behaviour records of a rule in a release; None for a class that the release does not have."""
    return tuple(record_in(record, release) for record in rule.behaviours)


def record_in(record: type[Behaviour], release: Release) -> Behaviour | None:
    """Return a behaviour record in a release; None if the release does not have its class."""
    try:
        return record.of(release)
    except NotInThisRelease:
        return None


def value_text(value: Any) -> str:
    """Return a value of a behaviour record as readers see it: yes and no, names, lists."""
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case enum.Enum():
            return value.value if isinstance(value.value, str) else _named(value)
        case frozenset() | set():
            return ", ".join(sorted(map(value_text, value))) or "none"
        case tuple() | list():
            return ", ".join(map(value_text, value)) or "none"
        case dict():
            return ", ".join(f"{value_text(key)}: {value_text(each)}" for key, each in value.items())
        case type():
            return value.__name__
        case _:
            return str(value)


def _named(value: enum.Enum) -> str:
    return value.name if type(value).__str__ is enum.Enum.__str__ else str(value)
