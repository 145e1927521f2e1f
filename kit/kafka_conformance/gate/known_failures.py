"""Known failures: differences that do not fail a gate, each with a reason and an optional last day.

A TOML file with one ``[[known]]`` table for each::

    [[known]]
    rule = "partition-for-key"      # a rule that is asked
    case = "9c3a0f5e12ab44d0"       # a question's id; or
    pattern = "another partition*"  # a glob over the kind of difference
    message = '{"partition":*}'     # a glob over the target's answer
    diagnosis = "crc32"             # optional: the mistake that must explain the answer
    release = "since 3.3.1"         # optional: "up to 3.2.3", "2.4.0 to 3.2.3", "4.4.0"; default: every release
    reason = "librdkafka's default is CRC32"
    issue = "https://github.com/…"  # where it is tracked
    expires = 2027-03-31            # the last day on which the entry is valid

A difference that an entry covers does not fail the gate. An invalid entry does:

=============== ====================================================================
stale           its rule was asked, and no difference matches the entry
unknown         it names a rule, a release or a question that is not asked
expired         its last day has passed
another message the difference exists, with another answer
=============== ====================================================================

An entry of a withdrawn case (``cases.sets``) is never invalid: that it is not asked is no doing of the file's owner.

``--write-known-failures`` writes or updates the file: stale, unknown and expired entries are removed, uncovered
differences are added, and everything else stays unchanged, comments too. A new entry holds in every release, unless the
difference was found in some of the releases asked and not in others.
"""

from __future__ import annotations

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
from kafka_conformance.gate.determinism import NOT_DETERMINISTIC
from kafka_conformance.gate.diagnosis.candidates import READ_OFF, candidates, pinned
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release, parse_release

__all__ = ["Entry", "KnownFailures", "Miss", "read", "updated"]

_EXPIRES_DAYS = 90


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ``[[known]]``."""

    rule: str
    reason: str
    expires: date
    case: str = ""
    pattern: str = ""
    message: str = "*"
    diagnosis: str = ""
    release: str = ""
    issue: str = ""

    def __post_init__(self) -> None:
        if bool(self.case) == bool(self.pattern):
            raise ValueError("an entry needs either a case or a pattern")
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
        return " ".join(filter(None, (self.rule, self.release, self.case or self.pattern)))

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
    _matches: dict[int, set[str]] = field(default_factory=dict)
    _asked: set[tuple[str, str, str]] = field(default_factory=set)
    _rules: set[tuple[str, str]] = field(default_factory=set)
    _eras: dict[tuple[str, str], Sequence[str]] = field(default_factory=dict)

    def asked(self, rule: str, release: str, ids: Iterable[str], era: Sequence[str] = ()) -> None:
        """Record that these questions were asked; ``era`` are the releases that this one stands for, if any."""
        self._rules.add((rule, release))
        self._eras[rule, release] = era or (release,)
        named = {entry.case for entry in self.entries if entry.case}
        self._asked |= {(rule, release, one) for one in ids if one in named}

    def covers(self, miss: Miss) -> Known | None:
        """Return the note on this difference if it is known, else None."""
        for number, entry in enumerate(self.entries):
            if not self._about(entry, miss):
                continue
            right = self._says(entry, miss)
            self._matches.setdefault(number, set()).add("covers" if right else "another message")
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
        found = ((entry, self._why(number, entry)) for number, entry in enumerate(self.entries))
        return [Stale(entry.name, why, _MEND[why]) for entry, why in found if why]

    def asked_releases(self, rule: str) -> set[str]:
        """Return the releases in which a rule was asked, with those that they stand for."""
        return self.stand_for(rule, (release for slug, release in self._rules if slug == rule))

    def stand_for(self, rule: str, releases: Iterable[str]) -> set[str]:
        """Return the releases that these stand for: themselves, or with eras all of theirs."""
        return {each for release in releases for each in self._eras.get((rule, release), (release,))}

    def keeps(self) -> list[bool]:
        """For each entry, whether an updated file keeps it."""
        return [not self._why(number, entry) for number, entry in enumerate(self.entries)]

    def _about(self, entry: Entry, miss: Miss) -> bool:
        if entry.rule != miss.rule or not entry.holds_in(miss.release):
            return False
        return entry.case == miss.id if entry.case else fnmatchcase(miss.kind, entry.pattern)

    def _says(self, entry: Entry, miss: Miss) -> bool:
        if not fnmatchcase(to_json(miss.actual).decode(), entry.message):
            return False
        return not entry.diagnosis or miss.equals(entry.diagnosis)

    def _why(self, number: int, entry: Entry) -> str:
        if entry.case in case_sets().withdrawn_of(entry.rule):
            return ""
        if entry.expires < self.today:
            return "expired"
        asked = [at for rule, at in self._rules if rule == entry.rule and entry.holds_in(at)]
        was_asked = entry.case and any((entry.rule, at, entry.case) in self._asked for at in asked)
        if self.partial and number not in self._matches and not was_asked:
            return ""
        if not asked or (entry.case and not was_asked):
            return "unknown"
        matches = self._matches.get(number, set())
        return "" if "covers" in matches else "another message" if matches else "stale"


_MEND = {
    "expired": "fix the target, or review the entry and set another date",
    "unknown": "no such question is asked: correct the rule, release or case, remove the entry, or ask with --out-of-domain",
    "stale": "the difference is fixed, or only --out-of-domain shows it: remove the entry",
    "another message": "the target's answer has changed: review the entry",
}


def read(path: Path, today: date) -> KnownFailures:
    """The file's entries. Raises BadInput."""
    try:
        document = tomlkit.parse(read_text(path)).unwrap()
        if set(document) - {"known"}:
            raise BadInput(
                f"{path}: expected only [[known]] tables, found {', '.join(sorted(set(document) - {'known'}))}"
            )
        entries = msgspec.convert(document.get("known", []), list[Entry])
        for entry in entries:
            _check_diagnosis(path, entry)
        return KnownFailures(entries, today)
    except (TOMLKitError, *UNREADABLE_TOML) as error:
        raise BadInput(f"{path} is not a file of known failures: {error}") from error


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
    for item, keep in zip(table or [], known.keeps(), strict=True):
        if keep:
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
    fields = {
        "rule": one.rule,
        **({"release": release} if release else {}),
        "pattern": escape(one.kind),
        **({"diagnosis": diagnosis} if diagnosis else {}),
        "reason": f"written by --write-known-failures on {today}: replace this by the reason",
        "issue": "",
        "expires": today + timedelta(days=_EXPIRES_DAYS),
    }
    for name, value in fields.items():
        table.add(name, value)
    table.add(tomlkit.nl())
    return table
