"""Show what differs between two releases of Kafka, the most harmful first, with what to do about each.

R1 is the release in use, R2 the newer one. After a summary come the changes that need action and the findings that begin,
by severity, each with the side whose upgrade brings it; then all other changes of behaviour, whose harm has not been judged,
and the findings that end: without `--role`, more than ten are only counted. `--role` keeps what concerns the owner of a
producer or consumer, the maintainer of a broker, or the operator of a cluster. Only the rules of the kit are compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import click
from rich.text import Text

from kafka_conformance.cli import options
from kafka_conformance.core.console import terminal_width
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Severity
from kafka_conformance.core.streams import say, say_json
from kafka_conformance.core.word_wrap import wrapped
from kafka_conformance.findings import Role, chosen_findings
from kafka_conformance.findings.upgrades import NOTES, Note, roles_of, side_of
from kafka_conformance.gate.severity import RANKS
from kafka_conformance.oracle.session import known_release
from kafka_conformance.reports.behaviour import BehaviourLine, behaviour_lines
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import record_in
from kafka_reference.proven import proven_releases
from kafka_reference.releases import Release

__all__ = ["run"]


_SCOPE = (
    "Compared: the rules of the kit. Not compared: other settings, the move from ZooKeeper to KRaft, the protocol, ACLs, "
    "tools: read Kafka's upgrade notes too, https://kafka.apache.org/documentation/#upgrade"
)
_WORDS = {"begins": "risk", "is new": "new", "is gone": "removed", "changes": "changed", "ends": "ended"}
_FEW = 10
"""Changes whose harm has not been judged, and findings that end, are listed without a role if they are no more."""
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
@click.option("--short", is_flag=True, help="Print a line for each: what differs, without what to do.")
@options.as_json
def run(*, first: str, second: str, role: Role | None, short: bool, as_json: bool) -> int:
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
    _print_report(f"{before} to {after}{concerned}", items, role, short=short)
    return 0


def _print_report(head: str, items: Sequence[_Item], role: Role | None, *, short: bool) -> None:
    begun = [one for one in items if one.severity is not None and one.what != "ends"]
    judged = [one for one in begun if one.noticed]
    unnoticed = [one for one in begun if not one.noticed]
    others = [one for one in items if one.severity is None]
    ended = [one for one in items if one.what == "ends"]
    counts = Counter(one.severity for one in judged)
    severities = ", ".join(f"{counts[severity]} {severity}" for severity in RANKS if counts[severity])
    say(
        f"{head}: {len(judged)} to look at{f' ({severities})' if severities else ''}, "
        f"{len(unnoticed)} hardly noticeable, {len(others)} also different, {len(ended)} at an end"
    )
    for severity in RANKS:
        alike: dict[tuple[str, str], list[_Item]] = {}
        for one in judged:
            if one.severity == severity:
                alike.setdefault((one.side, one.action), []).append(one)
        if alike:
            say("")
            say(severity)
        for (_, action), group in alike.items():
            for one in group:
                _print_line(f"{_WORDS[one.what]}{_side(one, role)}: {one.title}", 2)
            if not short:
                _print_line(f"{'am I affected?' if group[0].what == 'begins' else 'what to do:'} {action}", 4)
    _print_rest("hardly noticeable", unnoticed, role)
    _print_rest("also different, harm not judged", others, role)
    _print_rest("findings that end", ended, role)
    say("")
    _print_line(_SCOPE)


def _print_rest(heading: str, rest: Sequence[_Item], role: Role | None) -> None:
    """Print what asks for nothing: each item, or how many there are of each side."""
    if not rest:
        return
    is_listed = role is not None or len(rest) <= _FEW
    sides = ", ".join(f"{many} {side}" for side, many in Counter(one.side for one in rest).items())
    say("")
    say(heading if is_listed else f"{heading}: {sides}; with --role ROLE they are listed")
    for one in rest if is_listed else ():
        severity = f"{one.severity}, " if one.what == "ends" else ""
        _print_line(f"{severity}{_WORDS[one.what]}{_side(one, role)}: {one.title}", 2)


def _side(one: _Item, role: Role | None) -> str:
    """Return the side whose upgrade brings a change, if it is not the role that was asked for."""
    return "" if one.side == role else f", {one.side}"


def _print_line(text: str, indent: int = 0) -> None:
    """Print a line of the report; on a terminal it is wrapped, and its other lines are indented by two more columns."""
    columns = terminal_width()
    width = len(text) + 1 if columns is None else columns - indent - 2
    for number, line in enumerate(wrapped(Text(text), width)):
        say(f"{' ' * (indent + 2 * (number > 0))}{line.plain}")


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
            yield _Item("is gone", note.severity, note.title or rule.title, note.action, "", slug, roles, side_of(roles),
                        notes[slug])  # fmt: skip
    seen = set()
    for rule in RULES.values():
        for line in behaviour_lines(rule, [before, after]):
            if str(line) not in seen and None not in line.values:
                seen.add(str(line))
                judged = NOTES.get(str(line))
                severity, action = (judged.severity, judged.action) if judged else (None, "")
                roles = roles_of(rule)
                what = {"no yes": "is new", "yes no": "is gone"}.get(" ".join(line.words), "changes")
                title = _title(line, judged, before, after)
                yield _Item(what, severity, title, action, line.ticket, rule.slug, roles, side_of(roles),
                            notes.get(str(line), len(notes)))  # fmt: skip


def _title(line: BehaviourLine, note: Note | None, before: Release, after: Release) -> str:
    """Return the effect of a change, the values but for yes and no, and the releases that it came with."""
    effect = note.title if note is not None and note.title else line.effect
    ticket = f" [{line.ticket}]" if line.ticket else ""
    if line.words in (["no", "yes"], ["yes", "no"]):
        return f"{effect} ({line.releases}){ticket}"
    between = [release for release in proven_releases() if before <= release <= after]
    values = [getattr(record, line.field) if (record := record_in(line.record, each)) else None for each in between]
    came = [str(now) for (_, one), (now, other) in pairwise(zip(between, values, strict=True)) if one != other]
    return f"{effect} {' → '.join(line.words)} (since {', '.join(came)}){ticket}"
