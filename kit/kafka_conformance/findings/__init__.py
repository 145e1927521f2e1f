"""The findings: unexpected behaviour of Kafka's own Java classes, by area, with the releases and who is affected.

``AREA.toml`` in this folder is an area. Its ``roles`` are those affected: the owner of a producer or a consumer,
the maintainer of a broker, the operator of a cluster. A finding has an effect, a severity, and ``affected``, which says
when a reader is affected and what to do. The command ``findings`` lists those of a release, ``changes`` those that begin or
end between two releases, and ``ci/finding_pages.py`` writes the pages in ``kit/docs``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from kafka_conformance.core.events import Severity
from kafka_reference.releases import Release, Spans, since

__all__ = ["ROLES", "Area", "Finding", "Role", "chosen_findings", "read_areas", "stated_spans"]

Role: TypeAlias = Literal["producer", "consumer", "broker", "operator"]
"""For whom a finding matters. ``operator`` runs a cluster; ``broker`` maintains an implementation of a broker."""
ROLES: tuple[Role, ...] = get_args(Role)

_VERSION = r"\d+(?:\.\d+)+(?:\.x)?"


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding, as its area's file describes it; one without a case names its rule.

    ``releases`` is a text that names those with the behaviour, by Kafka's source; ``shown_in`` names one release of each
    answer to the case that shows the finding.
    """

    title: str
    severity: Severity
    releases: str
    effect: str
    affected: str
    shown_in: tuple[str, ...] = ()
    rule: str = ""
    tickets: tuple[str, ...] = ()

    def holds_in(self, release: Release) -> bool:
        """Return whether a release has the finding."""
        return any(release in spans for spans in stated_spans(self.releases))


class Area(msgspec.Struct, frozen=True):
    """A page: its name, title and introduction, for whom it is, and its findings by name."""

    name: str
    title: str
    about: str
    roles: tuple[Role, ...]
    findings: dict[str, Finding]


@cache
def read_areas() -> tuple[Area, ...]:
    """Return the areas, by name of their files."""
    areas = []
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        whole = msgspec.toml.decode(path.read_bytes())
        head = {name: whole.pop(name) for name in ("title", "about", "roles")}
        areas.append(msgspec.convert({"name": path.stem, **head, "findings": whole}, Area))
    return tuple(areas)


def chosen_findings(role: Role | None) -> list[tuple[Area, str, Finding]]:
    """Return the findings that concern a role (None: all), each with its area and name, the most severe first."""
    found = [
        (area, name, one)
        for area in read_areas()
        if role is None or role in area.roles
        for name, one in area.findings.items()
    ]
    return sorted(found, key=lambda each: get_args(Severity).index(each[2].severity))


def stated_spans(text: str) -> Iterator[Spans]:
    """Yield the releases that the text ``releases`` of a finding names.

    >>> [str(spans) for spans in stated_spans("up to 3.9.1, 4.0.0 and 4.1.0 to 4.1.x")]
    ['4.1.0 to 4.1.x', '0.0.0 to 3.9.1', '4.0.0']
    """
    if text.startswith("every release"):
        yield since("0.0.0")
    for first, last in re.findall(rf"({_VERSION}) to ({_VERSION})", text):
        yield since(first.replace(".x", ".0"), until=last)
    rest = re.sub(rf"{_VERSION} to {_VERSION}", "", text)
    for kind, version in re.findall(rf"(since |up to |)({_VERSION})", rest):
        if kind == "since ":
            yield since(version if version.count(".") > 1 else f"{version}.0")
        else:
            yield since("0.0.0" if kind else version.replace(".x", ".0"), until=version)
