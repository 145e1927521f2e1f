"""Show what differs between two releases of Kafka, the most harmful first, with what to do about each.

R1 is the release in use, R2 the newer one. `--role` keeps what concerns the owner of a producer or consumer, the maintainer
of a broker, or the operator of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.findings import Role, chosen_findings
from kafka_conformance.findings.upgrades import advice_of
from kafka_conformance.gate.harm import RANKS
from kafka_conformance.oracle.session import known_release
from kafka_conformance.reports.behaviour import behaviour_lines
from kafka_conformance.reports.terminal import console, plural
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

__all__ = ["run"]

_WHAT = ("begins", "changes", "ends")


@dataclass(frozen=True, slots=True)
class _Item:
    """A finding that begins or ends, or a field of a behaviour record that changes."""

    what: str
    severity: str
    title: str
    action: str
    tickets: str
    rule: str
    roles: tuple[Role, ...]

    @property
    def order(self) -> tuple[bool, int, int]:
        """What ends harms nobody: it is last."""
        return self.what == "ends", RANKS[self.severity], _WHAT.index(self.what)


@click.argument("first", metavar="R1")
@click.argument("second", metavar="R2")
@options.role
@options.as_json
def run(*, first: str, second: str, role: Role | None, as_json: bool) -> int:
    """Print the changes; return 0. Raises BadInput."""
    before, after = known_release(first), known_release(second)
    if before == after:
        raise BadInput(f"{before} twice: name two releases, the one in use and a newer one")
    if before > after:
        raise BadInput(f"{before} is newer than {after}: name the older one first: changes {after} {before}")
    items = sorted(
        (one for one in _items(before, after) if role is None or role in one.roles), key=lambda one: one.order
    )
    if as_json:
        say_json({"releases": [str(before), str(after)], "role": role, "changes": list(map(_document, items))})
        return 0
    out = console()
    for one in items:
        out.print(f"{one.severity}, {one.what}: {one.title}", markup=False, soft_wrap=True)
        if one.what != "ends":
            out.print(f"  what to do: {one.action}", markup=False, soft_wrap=True)
    counts = ", ".join(f"{sum(one.what == what for one in items)} {words}" for what, words in _COUNTED)
    concerned = f" for the role {role}" if role else ""
    if not items:
        say(f"{before} to {after}: no difference is known{concerned}")
    else:
        say(f"{before} to {after}{concerned}: {plural(len(items), 'difference')}: {counts}")
    return 0


_COUNTED = (("begins", "findings begin"), ("changes", "behaviours change"), ("ends", "findings end"))


def _items(before: Release, after: Release) -> list[_Item]:
    found = []
    for area, name, one in chosen_findings(None):
        if one.holds_in(before) != one.holds_in(after):
            what = "ends" if one.holds_in(before) else "begins"
            found.append(_Item(what, one.severity, f"{one.title} ({one.releases})", one.affected,
                               ", ".join(one.tickets), one.rule or name, area.roles))  # fmt: skip
    fields: dict[str, _Item] = {}
    for rule in RULES.values():
        for line in behaviour_lines(rule, [before, after]):
            advice = advice_of(str(line))
            values = "" if line.words in (["no", "yes"], ["yes", "no"]) else f" {' → '.join(line.words)}"
            spans = f" ({line.releases})" if not values else ""
            tickets = f" [{line.ticket}]" if line.ticket else ""
            title = f"{line.effect}{values}{spans}{tickets}"
            fields.setdefault(str(line), _Item("changes", advice.severity, title, advice.action, line.ticket, rule.slug,
                                               advice.roles))  # fmt: skip
    return [*found, *fields.values()]


def _document(one: _Item) -> dict[str, Any]:
    return {
        "what": one.what, "severity": one.severity, "title": one.title, "action": one.action, "tickets": one.tickets,
        "rule": one.rule, "roles": one.roles,
    }  # fmt: skip
