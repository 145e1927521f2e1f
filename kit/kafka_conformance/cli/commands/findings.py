"""List findings that hold in a release: unexpected behaviour of Kafka's own classes, who is affected, and what to do.

The most harmful are first. `--role` keeps those that concern the owner of a producer or consumer, the maintainer of a
broker, or the operator of a cluster.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import click

from kafka_conformance.cli import options
from kafka_conformance.core.streams import say_json
from kafka_conformance.findings import Area, Finding, Role, chosen_findings
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.oracle.session import known_release
from kafka_conformance.reports.terminal import console, plural
from kafka_reference.releases import Release

__all__ = ["counted", "run", "short_list"]


@click.option("--kafka", default="newest", show_default=True, metavar="RELEASE", help="An exact release, or 'newest'.")
@options.role
@click.option("--short", is_flag=True, help="Print a line for each: severity, title and releases.")
@options.as_json
def run(*, kafka: str, role: Role | None, short: bool, as_json: bool) -> int:
    """Print the findings; return 0. Raises BadInput."""
    release = known_release(kafka)
    if as_json:
        found = [_document(*each) for each in _held(release, role)]
        say_json({"release": str(release), "role": role, "findings": found})
        return 0
    out = console()
    for line in short_list(release, role) if short else _lines(release, role):
        out.print(line, markup=False, soft_wrap=True)
    return 0


def counted(release: Release, role: Role | None) -> str:
    """Return the number of findings that hold in a release, by severity, in a line."""
    severities = Counter(one.severity for *_, one in _held(release, role))
    words = ", ".join(f"{severities[severity]} {severity}" for severity in RANKS if severities[severity])
    many = plural(severities.total(), "finding")
    return f"Kafka {release}{f', {role}' if role else ''}: {many}{f': {words}' if words else ''}"


def short_list(release: Release, role: Role | None) -> list[str]:
    """Return the number of findings that hold in a release, and a line for each."""
    return [counted(release, role), *(_title(one) for *_, one in _held(release, role))]


def _held(release: Release, role: Role | None) -> Iterator[tuple[Area, str, Finding]]:
    return (each for each in chosen_findings(role) if each[2].holds_in(release))


def _title(one: Finding) -> str:
    return f"{one.severity}: {one.title} ({one.releases})"


def _lines(release: Release, role: Role | None) -> Iterator[str]:
    yield counted(release, role)
    for *_, one in _held(release, role):
        yield from (_title(one), f"  effect: {one.effect}", f"  am I affected? {one.affected}")


def _document(area: Area, name: str, one: Finding) -> dict[str, object]:
    """Return a finding as the commands print it with ``--json``."""
    return {
        "finding": name, "title": one.title, "severity": one.severity, "roles": area.roles, "releases": one.releases,
        "effect": one.effect, "affected": one.affected, "tickets": one.tickets,
    }  # fmt: skip
