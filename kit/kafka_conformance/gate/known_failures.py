"""Known failures: differences that do not fail a gate, each with a reason and an optional last day.

A TOML file with one ``[[known]]`` table for each::

    [[known]]
    rule = "partition-for-key"      # a rule that is asked
    case = "9c3a0f5e12ab44d0"       # a question's id; or
    cases = ["fetch/a", "fetch/b"]  # several; or
    pattern = "another partition*"  # a glob over the kind of difference
    message = '{"partition":*}'     # a glob over the target's answer
    diagnosis = "crc32"             # optional: the mistake that must explain the answer
    release = "since 3.3.1"         # optional: "up to 3.2.3", "2.4.0 to 3.2.3", "4.4.0"; default: every release
    reason = "librdkafka's default is CRC32"
    issue = "https://github.com/…"  # where it is tracked
    expires = 2027-03-31            # the last day on which the entry is valid

A difference that an entry covers does not fail the gate. An invalid entry does:

=============== ====================================================================
stale           its rule was asked, and no difference matches the entry, or none in one of its ``cases``
unknown         it names a rule, a release or a question that is not asked
expired         its last day has passed
another message the difference exists, with another answer
=============== ====================================================================

A withdrawn case (``cases.sets``) never makes an entry invalid: the file's owner did not cause that it is not asked.

``--write-known-failures`` writes or updates the file: stale, unknown and expired entries are removed, uncovered
differences are added, and everything else stays unchanged, comments too. Cases of ``cases`` that no longer differ are
removed. A new entry of a gate of brokers names its cases, any other entry the kind of difference. An entry holds in
every release, unless the difference was found in some of the releases asked and not in others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from difflib import get_close_matches
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from kafka_conformance.cases.sets import case_sets
from kafka_conformance.core.decoding import UNREADABLE_TOML
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Differed, Known, Stale
from kafka_conformance.core.files import exists, read_text, write_whole
from kafka_conformance.core.protocol import Answer, to_json
from kafka_conformance.core.spans import runs
from kafka_conformance.core.suggestion import did_you_mean
from kafka_conformance.gate.determinism import NOT_DETERMINISTIC
from kafka_conformance.gate.diagnosis.candidates import READ_OFF, candidates, pinned
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release, parse_release

__all__ = ["Entry", "KnownFailures", "Miss", "invalid_entries", "read", "updated"]

_EXPIRES_DAYS = 90
_SHOWN = 3
_MISSING, _EXTRA = (
    re.compile("Object missing required field `(.+)`"),
    re.compile("Object contains unknown field `(.+)`"),
)


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[known]]``."""

    rule: str
    reason: str
    expires: date
    case: str = ""
    cases: tuple[str, ...] = ()
    pattern: str = ""
    message: str = "*"
    diagnosis: str = ""
    release: str = ""
    issue: str = ""

    def __post_init__(self) -> None:
        if [bool(self.case), bool(self.cases), bool(self.pattern)].count(True) != 1:
            raise ValueError("an entry needs one of `case`, `cases` and `pattern`")
        if not self.reason.strip():
            raise ValueError("an entry needs a reason")
        _span(self.release)

    def holds_in(self, release: str) -> bool:
        """Whether the entry is about this release."""
        first, last = _span(self.release)
        return (first is None or first <= parse_release(release)) and (last is None or parse_release(release) <= last)

    @property
    def name(self) -> str:
        """The entry's name in reports."""
        cases = ", ".join(self.cases[:_SHOWN]) + (f" and {len(self.cases) - _SHOWN} more" * (len(self.cases) > _SHOWN))
        return " ".join(filter(None, (self.rule, self.release, self.case or self.pattern or cases)))

    @property
    def named(self) -> frozenset[str]:
        """The ids of the questions that the entry names; empty for one with a pattern."""
        return frozenset(filter(None, (self.case, *self.cases)))

    def known(self) -> Known:
        """The note on a difference that the entry covers."""
        return Known(self.reason, self.issue, self.expires.isoformat())


@dataclass(frozen=True, slots=True)
class Miss:
    """A difference, as an entry matches it."""

    rule: str
    release: str
    id: str
    kind: str
    actual: Answer
    equals: Callable[[str], bool]
    """Whether the mutant of this name gives the answer."""


@dataclass(slots=True)
class KnownFailures:
    """The entries, and how each was used in this run."""

    entries: Sequence[Entry] = ()
    today: date = date.min
    partial: bool = False
    """Whether a part of the questions is asked, by choice or for want of the target: no match then says nothing."""
    whole: bool = False
    """Whether a rule that is asked is asked as a whole, in a partial run too."""
    _matches: dict[int, set[str]] = field(default_factory=dict)
    _asked: set[tuple[str, str, str]] = field(default_factory=set)
    _differing: set[tuple[int, str]] = field(default_factory=set)
    _rules: set[tuple[str, str]] = field(default_factory=set)
    _eras: dict[tuple[str, str], Sequence[str]] = field(default_factory=dict)

    def asked(self, rule: str, release: str, ids: Iterable[str], era: Sequence[str] = ()) -> None:
        """Record that these questions were asked; ``era`` are the releases that this one stands for, if any."""
        self._rules.add((rule, release))
        self._eras[rule, release] = era or (release,)
        named = {name for entry in self.entries for name in entry.named}
        self._asked |= {(rule, release, one) for one in ids if one in named}

    def covers(self, miss: Miss) -> Known | None:
        """Return the note on this difference if it is known, else None."""
        for number, entry in enumerate(self.entries):
            if not self._about(entry, miss):
                continue
            right = self._says(entry, miss)
            self._matches.setdefault(number, set()).add("covers" if right else "another message")
            self._differing.add((number, miss.id))
            if right and entry.expires >= self.today:
                return entry.known()
        return None

    def covering(self, miss: Miss) -> Known | None:
        """Return the note on this difference if it is known, else None, without counting it as a use of the entry."""
        covers = (
            one
            for one in self.entries
            if self._about(one, miss) and self._says(one, miss) and one.expires >= self.today
        )
        return next((one.known() for one in covers), None)

    def wrong(self) -> list[Stale]:
        """Return the invalid entries, after everything was asked."""
        found = ((number, entry, self._why(number, entry)) for number, entry in enumerate(self.entries))
        return [Stale(entry.name, why, self._hint(number, entry, why)) for number, entry, why in found if why]

    def asked_releases(self, rule: str) -> set[str]:
        """Return the releases in which a rule was asked, with those that they stand for."""
        return self.stand_for(rule, (release for slug, release in self._rules if slug == rule))

    def stand_for(self, rule: str, releases: Iterable[str]) -> set[str]:
        """Return the releases that these stand for: themselves, or with eras all of theirs."""
        return {each for release in releases for each in self._eras.get((rule, release), (release,))}

    def keeps(self) -> list[bool]:
        """For each entry, whether an updated file keeps it."""
        whys = [self._why(number, entry) for number, entry in enumerate(self.entries)]
        return [
            not why or (why in _GONE and bool(self.entries[number].cases) and bool(self.kept_cases(number)))
            for number, why in enumerate(whys)
        ]

    def kept_cases(self, number: int) -> list[str]:
        """Return the ``cases`` of an entry that an updated file keeps."""
        entry = self.entries[number]
        gone = self._gone(number, entry)
        return [case for case in entry.cases if case not in gone]

    def _gone(self, number: int, entry: Entry) -> dict[str, str]:
        """Return each of the ``cases`` of an entry that does not differ, and why: stale, or unknown."""
        asked = {one for rule, release, one in self._asked if rule == entry.rule and entry.holds_in(release)}
        withdrawn = case_sets().withdrawn_of(entry.rule)
        judged = [one for one in entry.cases if one not in withdrawn]
        found = {one: "stale" if one in asked else "" if self.partial else "unknown" for one in judged}
        return {one: why for one, why in found.items() if why and (number, one) not in self._differing}

    def _hint(self, number: int, entry: Entry, why: str) -> str:
        """Return what to do about an invalid entry."""
        alike = [one for one, each in self._gone(number, entry).items() if each == why]
        if not alike or why == "expired":
            return _MEND[why]
        shown = ", ".join(alike[:_SHOWN]) + (f" and {len(alike) - _SHOWN} more" if len(alike) > _SHOWN else "")
        return f"remove from `cases`, or use --write-known-failures: {shown} {_GONE[why]}"

    def _about(self, entry: Entry, miss: Miss) -> bool:
        if entry.rule != miss.rule or not entry.holds_in(miss.release):
            return False
        return miss.id in entry.named if entry.named else fnmatchcase(miss.kind, entry.pattern)

    def _says(self, entry: Entry, miss: Miss) -> bool:
        if not fnmatchcase(to_json(miss.actual).decode(), entry.message):
            return False
        return not entry.diagnosis or miss.equals(entry.diagnosis)

    def _why(self, number: int, entry: Entry) -> str:
        if entry.named and entry.named <= case_sets().withdrawn_of(entry.rule):
            return ""
        if entry.expires < self.today:
            return "expired"
        if entry.cases and (gone := set(self._gone(number, entry).values())):
            return min(gone)
        asked = [at for rule, at in self._rules if rule == entry.rule and entry.holds_in(at)]
        was_asked = entry.case and any((entry.rule, at, entry.case) in self._asked for at in asked)
        if self.partial and number not in self._matches and not was_asked and not (self.whole and asked):
            return ""
        if not asked or (entry.case and not was_asked):
            return "unknown"
        matches = self._matches.get(number, set())
        return "" if "covers" in matches else "another message" if matches else "stale"


_GONE = {"stale": "agrees", "unknown": "is not a case of the gate"}
_MEND = {
    "expired": "fix the target, or review the entry and set another date",
    "unknown": "no such question is asked: correct the rule, release or case, remove the entry, or ask with --out-of-domain",
    "stale": "the difference is fixed, or only --out-of-domain shows it: remove the entry",
    "another message": "the target's answer has changed: review the entry",
}


def invalid_entries(count: int) -> str:
    """Return in words, for the verdict of a gate, how many entries are invalid."""
    return f"{count:,} invalid {'entry' if count == 1 else 'entries'} in the file of known failures"


def read(path: Path, today: date) -> KnownFailures:
    """The file's entries. Raises BadInput."""
    try:
        document = tomlkit.parse(read_text(path)).unwrap()
        if set(document) - {"known"}:
            raise BadInput(
                f"{path}: expected only [[known]] tables, found {', '.join(sorted(set(document) - {'known'}))}"
            )
        found = document.get("known", [])
        if not isinstance(found, list):
            raise BadInput(f"{path} is not a file of known failures: write each entry as a [[known]] table")
        entries = [_read_entry(path, number, each) for number, each in enumerate(found, 1)]
        return KnownFailures(entries, today)
    except (TOMLKitError, *UNREADABLE_TOML) as error:
        raise BadInput(f"{path} is not a file of known failures: {error}") from error


def _read_entry(path: Path, number: int, given: object) -> Entry:
    """Return an entry of the file. Raises BadInput, with its number and the field that is wrong."""
    try:
        entry = msgspec.convert(given, Entry)
    except UNREADABLE_TOML as error:
        why, _, place = str(error).partition(" - at `$")
        name = place.strip("`").removeprefix(".")
        if missing := _MISSING.fullmatch(why):
            why = f"the field {missing[1]!r} is missing"
        elif extra := _EXTRA.fullmatch(why):
            why = f"unknown field {extra[1]!r}: {did_you_mean(extra[1], Entry.__struct_fields__)}"
        elif name:
            why = f"{name!r}: {why[0].lower()}{why[1:]}"
        raise BadInput(f"{path} is not a file of known failures: [[known]] number {number}: {why}") from error
    _check_diagnosis(path, entry)
    return entry


def updated(path: Path, known: KnownFailures, found: Iterable[tuple[Differed, str]]) -> int:
    """Write the file: the valid entries, and an entry for each kind ``found`` that is not covered. Return how many are new.

    ``found`` holds each such kind with the mutant that explains all of it, or an empty text. Raises KitError.
    """
    text = read_text(path) if exists(path) else ""
    document = tomlkit.parse(text) if text else tomlkit.document()
    if not text:
        document.add(tomlkit.comment("Known differences of the target from Kafka."))
    table = document.get("known")
    kept: Any = tomlkit.aot()
    for number, (item, keep) in enumerate(zip(table or [], known.keeps(), strict=True)):
        if not keep:
            continue
        if "cases" in item and len(cases := known.kept_cases(number)) < len(item["cases"]):
            item["cases"] = _array(cases)
        kept.append(item)
    fresh = [_entry(*each, known.today) for each in _merged(found, known)]
    for one in fresh:
        kept.append(one)
    document.pop("known", None)
    if kept:
        document.append("known", kept)
    write_whole(path, tomlkit.dumps(document).encode())
    return len(fresh)


def _check_diagnosis(path: Path, entry: Entry) -> None:
    """Check that the diagnosis of an entry is one that a gate can report. Raises BadInput."""
    if not entry.diagnosis or entry.rule not in RULES:
        return
    rule = RULES[entry.rule]
    releases = [release for release in pinned() if release in rule.releases]
    names = {f"as-{release}" for release in releases} | READ_OFF | {NOT_DETERMINISTIC}
    names |= {candidate.slug for candidate in candidates(rule, releases[-1], ())}
    if entry.diagnosis not in names:
        near = get_close_matches(entry.diagnosis, sorted(names), 1)
        hint = f"did you mean {near[0]!r}?" if near else "a report of the gate names the diagnosis of each difference"
        raise BadInput(f"{path}: unknown diagnosis {entry.diagnosis!r} for {entry.rule}: {hint}")


def _merged(found: Iterable[tuple[Differed, str]], known: KnownFailures) -> Iterator[tuple[Differed, str, str]]:
    """Yield each kind once for a span of releases, with its diagnosis and the span."""
    groups: dict[tuple[str, str, str], list[Differed]] = {}
    for one, diagnosis in found:
        groups.setdefault((one.rule, one.kind, diagnosis), []).append(one)
    for (rule, _, diagnosis), group in groups.items():
        releases = known.stand_for(rule, (one.release for one in group))
        for span in _spans(releases, known.asked_releases(rule) | releases):
            yield group[0], diagnosis, span


def _spans(found: Iterable[str], asked: Iterable[str]) -> list[str]:
    """Return ``found`` as spans among the releases asked; a span to the newest asked is open, as one to the oldest is."""
    found, asked = set(found), set(asked)
    if found == asked:
        return [""]  # also of a broker whose release is not known
    every = sorted(map(parse_release, asked))
    return [_span_text(run[0], run[-1], every) for run in runs(set(map(parse_release, found)), every)]


def _span_text(first: Release, last: Release, every: Sequence[Release]) -> str:
    match first == every[0], last == every[-1]:
        case True, True:
            return ""
        case True, False:
            return f"up to {last}"
        case False, True:
            return f"since {first}"
    return str(first) if first == last else f"{first} to {last}"


def _span(text: str) -> tuple[Release | None, Release | None]:
    """Return the first and the last release of a span, None for an open end. Raises ValueError."""
    if not text:
        return None, None
    if text.startswith("since "):
        return parse_release(text.removeprefix("since ")), None
    if text.startswith("up to "):
        return None, parse_release(text.removeprefix("up to "))
    first, _, last = text.partition(" to ")
    return parse_release(first), parse_release(last or first)


def _entry(one: Differed, diagnosis: str, release: str, today: date) -> Any:
    table = tomlkit.table()
    kind = f" for {one.kind!r}" if one.cases else ""
    fields = {
        "rule": one.rule,
        **({"release": release} if release else {}),
        **({"cases": _array(one.cases)} if one.cases else {"pattern": escape(one.kind)}),
        **({"diagnosis": diagnosis} if diagnosis else {}),
        "reason": f"written by --write-known-failures on {today}{kind}: replace this by the reason",
        "issue": "",
        "expires": today + timedelta(days=_EXPIRES_DAYS),
    }
    for name, value in fields.items():
        table.add(name, value)
    table.add(tomlkit.nl())
    return table


def _array(cases: Iterable[str]) -> Any:
    """Return a list of TOML with a line for each case: what changes later is a line in a diff."""
    made = tomlkit.array()
    made.extend(cases)
    return made.multiline(multiline=True)
