"""The stream of a gate's events put in order, and the words that every report of it shares.

A stream has the order in which things happened; a report wants each rule in each release with its findings. Findings
that are the same in several releases are one finding. A stream that was cut before ``ended``, or that holds
nothing, proves nothing: its exit code is 2, and its verdict says so.

What comes from a target is hostile text, and may be a dictionary of anything, nested without end. :func:`as_json` and
:func:`clipped` are how reports get at it; making it harmless in its own format is each writer's duty.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kafka_conformance.core.events import (
    Began,
    Diagnosis,
    Differed,
    Ended,
    Event,
    ProtocolError,
    RuleBegan,
    RuleEnded,
    Stale,
)
from kafka_conformance.gate.reports.release_ranges import Places, era_count, since_until
from kafka_conformance.gate.severity import RANKS, rank
from kafka_conformance.reports.terminal import plural

__all__ = [
    "CODES",
    "UNEXPLAINED",
    "UNFINISHED",
    "Broken",
    "Explained",
    "Outline",
    "Part",
    "ReportedFinding",
    "RuleRow",
    "address",
    "as_json",
    "compared",
    "counted",
    "diagnosed",
    "explanations",
    "findings",
    "folded",
    "impact",
    "outline",
    "protocol_errors",
    "replay_command",
    "summed",
    "unanswered",
    "verdict",
    "worst_verdict",
]

# What an exit code says.
CODES = {0: "conforms", 1: "differs", 2: "could not be judged"}

UNEXPLAINED = "no known mistake explains this"

# The verdict of a rule that began and did not end: the stream was cut.
UNFINISHED = "unfinished"

_WORST = ("crashed", "errored", UNFINISHED, "differs", "not judged", "known", "unsupported", "agrees")

_ADDRESS = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9._~:/?#@!$&'*+,;=%-]*)?", re.ASCII)


@dataclass(slots=True)
class RuleRow:
    """A rule in a release: how it began, what happened, how it ended; ``ended`` is None if the stream was cut."""

    rule: str
    release: str
    grade: str
    frozen: int
    era: tuple[str, ...] = ()
    """The releases that this one stands for, itself included; empty unless eras were asked."""
    differed: list[Differed] = field(default_factory=list)
    protocol_errors: list[ProtocolError] = field(default_factory=list)
    ended: RuleEnded | None = None
    outside: list[Differed] = field(default_factory=list)
    """Findings that no user can bring about; they are in no other list."""

    @property
    def verdict(self) -> str:
        """One of ``events.Verdict``, or ``unfinished``."""
        return self.ended.verdict if self.ended else UNFINISHED


def worst_verdict(rows: Iterable[RuleRow]) -> str:
    """Return the worst verdict of these rows; there must be one."""
    found = {row.verdict for row in rows}
    return next(each for each in _WORST if each in found)


@dataclass(slots=True)
class Outline:
    """A whole gate. ``began`` and ``ended`` are None where the stream lacks them."""

    began: Began | None = None
    rows: list[RuleRow] = field(default_factory=list)
    stale: list[Stale] = field(default_factory=list)
    ended: Ended | None = None

    @property
    def exit_code(self) -> int:
        """As the gate ended: 0, 1 or 2; 2 if it did not."""
        return self.ended.exit_code if self.ended else 2

    @property
    def rules(self) -> list[str]:
        """The rules that were asked, in their order."""
        return list(dict.fromkeys(row.rule for row in self.rows))

    @property
    def releases(self) -> list[str]:
        """The releases that were to be judged, in their order."""
        named = self.began.releases if self.began else ()
        return list(dict.fromkeys([*named, *(row.release for row in self.rows)]))

    @property
    def span(self) -> str:
        """The releases as text; with eras all that they stand for."""
        return era_count(self.rows) or since_until(self.releases)

    @property
    def unproven(self) -> tuple[str, ...]:
        """The releases that were judged although no proof covers them."""
        return self.began.unproven if self.began else ()

    @property
    def target(self) -> str:
        """``franz-go 1.22.2``, as the target names itself; not escaped."""
        target = self.began.target if self.began else None
        return " ".join(filter(None, (target.name, target.version))) if target else "the target"


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A difference that is the same in several releases: the first stands for all, ``times`` counts all."""

    first: Differed
    where: str
    times: int
    keys: int = 0
    unexplained: bool = False
    """Whether a diagnosis was looked for and not found."""

    @property
    def impact(self) -> str:
        """The severity, and the number of different keys if there are any; empty for a stream that lacks them."""
        return impact(self.first, self.keys)

    @property
    def explanation(self) -> str:
        """The diagnosis in one line, or that there is none; empty if none was looked for."""
        return diagnosed(self.first.diagnosis) if self.first.diagnosis else UNEXPLAINED if self.unexplained else ""


@dataclass(frozen=True, slots=True)
class Broken:
    """An error that is the same in several releases."""

    first: ProtocolError
    where: str
    times: int


@dataclass(frozen=True, slots=True)
class Explained:
    """A diagnosis of a rule as a whole, which none of its findings has, the same in several releases."""

    rule: str
    where: str
    diagnosis: Diagnosis


@dataclass(frozen=True, slots=True)
class Part:
    """A part of two answers: a field, or a step with what was asked there. None is a part that one of them lacks."""

    name: str
    asked: str
    expected: str | None
    actual: str | None

    @property
    def same(self) -> bool:
        """Whether both say the same there."""
        return self.expected == self.actual


def outline(events: Iterable[Event]) -> Outline:
    """The events in order. A stream may end anywhere; events of a rule that did not begin get a row too."""
    made = Outline()
    rows: dict[tuple[str, str], RuleRow] = {}
    for event in events:
        match event:
            case Began():
                made.began = event
            case RuleBegan():
                row = _row(rows, event)
                row.grade, row.frozen, row.era = event.grade, event.frozen, event.era
            case Differed():
                row = _row(rows, event)
                (row.outside if event.out_of_domain else row.differed).append(event)
            case ProtocolError():
                _row(rows, event).protocol_errors.append(event)
            case RuleEnded():
                row = _row(rows, event)
                row.ended, row.grade = event, event.grade
            case Stale():
                made.stale.append(event)
            case Ended():
                made.ended = event
    made.rows = list(rows.values())
    return made


def _row(rows: dict[tuple[str, str], RuleRow], event: RuleBegan | Differed | ProtocolError | RuleEnded) -> RuleRow:
    return rows.setdefault((event.rule, event.release), RuleRow(event.rule, event.release, "exact", 0))


def findings(rows: Sequence[RuleRow], *, outside: bool = False) -> list[ReportedFinding]:
    """Every finding of these rows, the most harmful first, once for all releases in which it is the same.

    With ``outside`` those out of domain.
    """
    places = Places(rows)
    exact = {(row.rule, row.release) for row in rows if row.grade == "exact"}
    groups: dict[tuple[str, ...], list[Differed]] = {}
    for row in rows:
        for one in row.outside if outside else row.differed:
            # A finding that is known in one release and not in another is two.
            known = one.known.reason if one.known else ""
            mutant = one.diagnosis.mutant if one.diagnosis else ""
            sides = (as_json(each) for each in (one.question, one.expected, one.actual))
            groups.setdefault((one.rule, one.kind, known, str(one.known is None), mutant, *sides), []).append(one)
    found = []
    for group in groups.values():
        first, times, keys = group[0], sum(one.times for one in group), max(one.keys for one in group)
        diagnosable = bool(first.effect) and not first.cases and (first.rule, first.release) in exact
        unexplained = diagnosable and first.diagnosis is None
        found.append(ReportedFinding(first, _place(group, places), times, keys, unexplained))
    return sorted(found, key=lambda one: (*rank(one.first), -one.times) if one.first.effect else (len(RANKS), 0, 0))


def impact(one: Differed, keys: int | None = None) -> str:
    """The severity of a finding, and the number of different keys if there are any."""
    if not one.effect:
        return ""
    count = one.keys if keys is None else keys
    return ", ".join(filter(None, (one.severity, plural(count, "key") if count else "")))


def protocol_errors(rows: Sequence[RuleRow]) -> list[Broken]:
    """Every error of these rows, once for all releases in which it is the same."""
    places = Places(rows)
    groups: dict[tuple[str, ...], list[ProtocolError]] = {}
    for row in rows:
        for one in row.protocol_errors:
            groups.setdefault((one.rule, one.error, one.what, one.hint), []).append(one)
    return [Broken(group[0], _place(group, places), sum(one.times for one in group)) for group in groups.values()]


def unanswered(one: ProtocolError) -> list[tuple[str, str]]:
    """The question at fault, its right answer, and how to ask it again, each with its name; not escaped."""
    asked = [] if one.question is None else [("question", as_json(one.question)), ("expected", as_json(one.expected))]
    return asked + ([("replay", again)] if (again := replay_command(one)) else [])


def replay_command(one: Differed | ProtocolError) -> str:
    """The command that asks a saved question again, with the target: ``replay`` starts no program that a file names.

    A script of ``gate client`` is not saved: ``by`` is its command. Empty where there is neither.
    """
    if not one.file:
        return f"kafka-conformance {one.by}" if one.by else ""
    return shlex.join(["kafka-conformance", "replay", one.file, *(["--actual", one.by] if one.by else [])])


def explanations(rows: Sequence[RuleRow]) -> list[Explained]:
    """Return the diagnoses of rules as a whole that none of their findings has."""
    places = Places(rows)
    groups: dict[tuple[str, Diagnosis], list[str]] = {}
    for row in rows:
        named = {one.diagnosis.mutant for one in row.differed if one.diagnosis}
        for one in row.ended.diagnoses if row.ended else ():
            if one.mutant not in named:
                groups.setdefault((row.rule, one), []).append(row.release)
    return [Explained(rule, places(rule, at), one) for (rule, one), at in groups.items()]


def _place(group: Sequence[Differed] | Sequence[ProtocolError], places: Places) -> str:
    return places(group[0].rule, [one.release for one in group])


def folded(rows: Sequence[RuleRow]) -> Iterator[list[RuleRow]]:
    """Rows of one rule that follow each other with the same verdict and grade, as one."""
    group: list[RuleRow] = []
    places = {rule: place for place, rule in enumerate(dict.fromkeys(row.rule for row in rows))}
    for row in sorted(rows, key=lambda row: places[row.rule]):
        if group and (group[0].rule, group[0].verdict, group[0].grade) != (row.rule, row.verdict, row.grade):
            yield group
            group = []
        group.append(row)
    if group:
        yield group


def summed(rows: Sequence[RuleRow]) -> list[int]:
    """Return how many questions of these rows were asked, agreed, differed, are known, were unsupported and failed."""
    ends = [row.ended for row in rows if row.ended]
    return [
        sum(getattr(end, name) for end in ends)
        for name in ("asked", "agreed", "differed", "known", "unsupported", "failed")
    ]


def verdict(seen: Outline) -> str:
    """The gate's verdict in one line: not escaped, but its first word is the kit's."""
    if seen.ended is None:
        what = "the event stream ends before the gate did" if seen.began or seen.rows else "there are no events"
        return f"{CODES[2]}: {seen.target}: {what}, so nothing is claimed"
    word = CODES.get(seen.exit_code, CODES[2])
    unproven = f" (unproven: {', '.join(seen.unproven)})" if seen.unproven else ""
    selected = f" (only {seen.began.selection})" if seen.began and seen.began.selection else ""
    return f"{word}: {seen.target}, Kafka {seen.span}{unproven}{selected}: {seen.ended.why}"


def counted(ended: RuleEnded | Ended) -> str:
    """``1,000 questions, 588 agreed, 412 differed``, naught left out."""
    sides = (
        (ended.agreed, "agreed"),
        (ended.differed, "differed"),
        (ended.known, "known to differ"),
        (ended.failed, "failed"),
        (ended.unsupported, "unsupported"),
        (ended.not_run, "not run"),
    )
    return ", ".join([plural(ended.asked, "question"), *(f"{count:,} {what}" for count, what in sides if count)])


def diagnosed(one: Diagnosis, *, references: bool = True) -> str:
    """A diagnosis in one line: which known mistake gives the same answers, and references to it."""
    verb = "equals" if one.wrong == 1 else "equal"
    line = f"{one.equal:,} of {plural(one.wrong, 'wrong answer')} {verb} `{one.mutant}`: {one.description}"
    if one.sample_of:
        line += f" (a sample of {one.sample_of:,})"
    if one.right:
        line += f"; so do {one.also:,} of {plural(one.right, 'right one')}"
    return f"{line} (see {', '.join(one.references)})" if references and one.references else line


def compared(one: Differed, limit: int = 200) -> list[Part]:
    """Both answers part by part: field by field, and step by step where both have steps; at most ``limit`` parts."""
    parts = [
        Part(name, "", *(as_json(side[name]) if name in side else None for side in (one.expected, one.actual)))
        for name in dict.fromkeys([*one.expected, *one.actual])
        if not (name == "steps" and _steps(one))
    ]
    asked, sides = one.question.get("steps"), _steps(one)
    for number in range(max(map(len, sides), default=0)):
        if len(parts) >= limit:
            break
        step = as_json(asked[number]) if isinstance(asked, list) and number < len(asked) else ""
        parts.append(
            Part(str(number), step, *(as_json(side[number]) if number < len(side) else None for side in sides))
        )
    return parts[:limit]


def _steps(one: Differed) -> list[list[Any]]:
    sides = [one.expected.get("steps"), one.actual.get("steps")]
    return [side for side in sides if isinstance(side, list)] if all(isinstance(side, list) for side in sides) else []


def as_json(value: object) -> str:
    """``value`` as one line of JSON with sorted keys; not escaped for output: a string may hold anything."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)
    except (RecursionError, TypeError, ValueError):
        return "(it cannot be shown as JSON)"


def address(text: str) -> str | None:
    """``text`` if it is a plain web address, to be made a link; None if it is anything else."""
    return text if len(text) < 2000 and _ADDRESS.fullmatch(text) else None
