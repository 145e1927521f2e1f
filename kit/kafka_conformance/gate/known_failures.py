"""Known failures: differences that do not fail a gate, each with a reason and an optional last day.

A TOML file with one ``[[known]]`` table for each::

    [[known]]
    rule = "partition-for-key"      # a rule that is asked
    case = "9c3a0f5e12ab44d0"       # a question's id; or
    pattern = "another partition*"  # a glob over the kind of difference
    message = '{"partition":*}'     # a glob over the target's answer
    diagnosis = "crc32"             # optional: the mistake that must explain the answer
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

``--write-known-failures`` writes or updates the file: stale, unknown and expired entries are removed, uncovered
differences are added, and everything else stays as it is, comments too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any

import msgspec
import tomlkit
from tomlkit.exceptions import TOMLKitError

from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.events import Differed, Known, Stale
from kafka_conformance.core.files import write_whole
from kafka_conformance.core.protocol import Answer, to_json

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
    _matches: dict[int, set[str]] = field(default_factory=dict)
    _asked: set[tuple[str, str, str]] = field(default_factory=set)
    _rules: set[tuple[str, str]] = field(default_factory=set)

    def asked(self, rule: str, release: str, ids: Iterable[str]) -> None:
        """Record that these questions were asked."""
        self._rules.add((rule, release))
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

    def wrong(self) -> list[Stale]:
        """Return the invalid entries, after everything was asked."""
        found = ((entry, self._why(number, entry)) for number, entry in enumerate(self.entries))
        return [Stale(entry.name, why, _MEND[why]) for entry, why in found if why]

    def keeps(self) -> list[bool]:
        """For each entry, whether an updated file keeps it."""
        return [not self._why(number, entry) for number, entry in enumerate(self.entries)]

    def _about(self, entry: Entry, miss: Miss) -> bool:
        if entry.rule != miss.rule or entry.release not in ("", miss.release):
            return False
        return entry.case == miss.id if entry.case else fnmatchcase(miss.kind, entry.pattern)

    def _says(self, entry: Entry, miss: Miss) -> bool:
        if not fnmatchcase(to_json(miss.actual).decode(), entry.message):
            return False
        return not entry.diagnosis or miss.equals(entry.diagnosis)

    def _why(self, number: int, entry: Entry) -> str:
        if entry.expires < self.today:
            return "expired"
        asked = [at for rule, at in self._rules if rule == entry.rule and entry.release in ("", at)]
        if not asked or (entry.case and not any((entry.rule, at, entry.case) in self._asked for at in asked)):
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
        document = tomlkit.parse(path.read_text(encoding="utf-8")).unwrap()
        if set(document) - {"known"}:
            raise BadInput(
                f"{path}: expected only [[known]] tables, found {', '.join(sorted(set(document) - {'known'}))}"
            )
        return KnownFailures(msgspec.convert(document.get("known", []), list[Entry]), today)
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from error
    except (TOMLKitError, UnicodeDecodeError, msgspec.ValidationError, ValueError) as error:
        raise BadInput(f"{path} is not a file of known failures: {error}") from error


def updated(path: Path, known: KnownFailures, found: Iterable[tuple[Differed, str]]) -> int:
    """Write the file: the valid entries, and an entry for each kind ``found`` that is not covered. Return how many are new.

    ``found`` holds each such kind with the mutant that explains all of it, or an empty text. Raises KitError.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    document = tomlkit.parse(text) if text else tomlkit.document()
    if not text:
        document.add(tomlkit.comment("Known differences of the target from Kafka."))
    table = document.get("known")
    kept: Any = tomlkit.aot()
    for item, keep in zip(table or [], known.keeps(), strict=True):
        if keep:
            kept.append(item)
    fresh = [_entry(kind, diagnosis, known.today) for kind, diagnosis in found]
    for one in fresh:
        kept.append(one)
    document.pop("known", None)
    if kept:
        document.append("known", kept)
    write_whole(path, tomlkit.dumps(document).encode())
    return len(fresh)


def _entry(one: Differed, diagnosis: str, today: date) -> Any:
    table = tomlkit.table()
    fields = {
        "rule": one.rule,
        "release": one.release,
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
