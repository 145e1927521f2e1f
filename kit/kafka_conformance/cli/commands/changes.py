"""Show what differs between two releases of Kafka, the most harmful first, with what to do about each.

R1 is the release in use, R2 the newer one. After a summary come the changes that need action and the findings that begin,
by severity, each with the side whose upgrade brings it; then all other changes of behaviour, whose harm has not been judged,
and the findings that end, which are counted without `--role`. `--role` keeps what concerns the owner of a producer or
consumer, the maintainer of a broker, or the operator of a cluster. Only the rules of the kit are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import click

from kafka_conformance.cli import options
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Severity
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.findings import Role, chosen_findings
from kafka_conformance.findings.upgrades import NOTES, roles_of, side_of
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.oracle.session import known_release
from kafka_conformance.reports.behaviour import BehaviourLine, behaviour_lines
from kafka_conformance.reports.terminal import console
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release

__all__ = ["run"]


_SCOPE = (
    "compared: the rules of the kit. Not compared: other settings, the move from ZooKeeper to KRaft, the protocol, ACLs, "
    "tools. Behind the severity: the side whose upgrade brings the change"
)
_NOBODY = re.compile(r"No\b(?!, unless)|Not noticeably|Not with any client")


@dataclass(frozen=True, slots=True)
class _Item:
    """A finding that begins or ends, a field of a behaviour record that changes, or a class that is gone.

    ``side`` is the one whose upgrade brings it, and ``reach`` its place among changes of the same severity: what is left at
    a default first, then what affects some users, then what affects only few. ``noticed`` is False if it affects none.
    ``severity`` and ``action`` are empty if the change has not been judged.
    """

    what: str
    severity: Severity | None
    title: str
    action: str
    tickets: str
    rule: str
    roles: tuple[Role, ...]
    side: str
    reach: int = 0
    noticed: bool = True

    @property
    def order(self) -> tuple[bool, bool, int, int]:
        """The sort key; what ends does no harm and is last."""
        rank = len(RANKS) if self.severity is None else RANKS[self.severity]
        return self.what == "ends", not self.noticed, rank, self.reach


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
        say_json({"releases": [str(before), str(after)], "role": role, "changes": list(map(asdict, items))})
        return 0
    concerned = f" for the role {role}" if role else ""
    if not items:
        say(f"{before} to {after}: no difference is known{concerned}")
        return 0
    begun = [one for one in items if one.severity is not None and one.what != "ends"]
    judged = [one for one in begun if one.noticed]
    unnoticed = [one for one in begun if not one.noticed]
    others = [one for one in items if one.severity is None]
    ended = [one for one in items if one.what == "ends"]
    counts = Counter(one.severity for one in judged)
    severities = ", ".join(f"{counts[severity]} {severity}" for severity in RANKS if counts[severity])
    say(
        f"{before} to {after}{concerned}: {len(judged)} to look at{f' ({severities})' if severities else ''}, "
        f"{len(unnoticed)} hardly noticeable, {len(others)} also different, {len(ended)} at an end"
    )
    say(_SCOPE)
    out = console()
    for one in judged:
        out.print(f"{one.severity}, {one.side}, {one.what}: {one.title}", markup=False, soft_wrap=True)
        asks = "am I affected?" if one.what == "begins" else "what to do:"
        out.print(f"  {asks} {one.action}", markup=False, soft_wrap=True)
    groups = {"hardly noticeable": unnoticed, "also different, harm not judged": others, "findings that end": ended}
    for heading, rest in groups.items():
        sides = ", ".join(f"{many} {side}" for side, many in Counter(one.side for one in rest).items())
        if rest:
            listed = f" {sides}; --role ROLE lists them" if role is None else ""
            out.print(f"{heading}:{listed}", markup=False, soft_wrap=True)
        for one in rest if role is not None else ():
            out.print(f"  {one.side}: {one.title}", markup=False, soft_wrap=True)
    return 0


def _items(before: Release, after: Release) -> Iterator[_Item]:
    notes = {name: place for place, name in enumerate(NOTES)}
    for area, name, one in chosen_findings(None):
        if one.holds_in(before) != one.holds_in(after):
            what = "ends" if one.holds_in(before) else "begins"
            yield _Item(what, one.severity, f"{one.title} ({one.releases})", one.affected, ", ".join(one.tickets),
                        one.rule or name, area.roles, side_of(area.roles),
                        len(notes) + (not one.affected.startswith("Yes")), not _NOBODY.match(one.affected))  # fmt: skip
    for slug, note in NOTES.items():
        rule = RULES.get(slug)
        if rule is not None and before in rule.releases and after not in rule.releases:
            roles = roles_of(rule)
            yield _Item("is gone", note.severity, rule.title, note.action, "", slug, roles, side_of(roles), notes[slug])
    seen = set()
    for rule in RULES.values():
        for line in behaviour_lines(rule, [before, after]):
            if str(line) not in seen and None not in line.values:
                seen.add(str(line))
                judged = NOTES.get(str(line))
                severity, action = (judged.severity, judged.action) if judged else (None, "")
                roles = roles_of(rule)
                what = {"no yes": "is new", "yes no": "is gone"}.get(" ".join(line.words), "changes")
                yield _Item(what, severity, _title(line), action, line.ticket, rule.slug, roles, side_of(roles),
                            notes.get(str(line), len(notes)))  # fmt: skip


def _title(line: BehaviourLine) -> str:
    """Return the effect of a change, with both values or, for yes and no, with its releases."""
    is_flag = line.words in (["no", "yes"], ["yes", "no"])
    change = f"({line.releases})" if is_flag else " → ".join(line.words)
    return f"{line.effect} {change}{f' [{line.ticket}]' if line.ticket else ''}"
