"""The record of generated mutants: for each rule, how many were killed by what, and which survived.

``record.json`` in this folder ships with the package. The result of each mutant is in the folder of results, one file
for each rule, from which an interrupted run goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from kafka_conformance.cases.store import frozen
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.generated_mutants.mutant_trial import Result
from kafka_conformance.generated_mutants.population import Mutant
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import fingerprint

__all__ = ["GeneratedRow", "Record", "Results", "fingerprint_of", "merged", "read", "shipped", "write"]


class GeneratedRow(msgspec.Struct, frozen=True):
    """The generated mutants of one rule."""

    rule: str
    fingerprint: str
    """Of the rule, its frozen cases and its mutants."""
    seed: int
    mutants: int
    """Those that could be executed."""
    frozen: int
    """Killed by frozen cases."""
    fresh: int
    """Killed by fresh questions of a gate alone."""
    survivors: tuple[str, ...]
    """The others, by key."""


class Record(msgspec.Struct, frozen=True):
    """Rows, in the order of the rules."""

    rows: tuple[GeneratedRow, ...] = ()

    def row(self, slug: str) -> GeneratedRow | None:
        """Return the row of a rule."""
        return next((row for row in self.rows if row.rule == slug), None)


def fingerprint_of(slug: str, mutants: Sequence[Mutant], code: str = "") -> str:
    """Return the sha256 of what decides the fate of a rule's mutants, but for the questions of other rules.

    ``code`` is the fingerprint of the rule, by default as installed. Which written mutants a frozen case kills is left out.
    """
    digest = hashlib.sha256((code or fingerprint(RULES[slug])).encode())
    shipped_cases = frozen(RULES[slug])
    for case in () if shipped_cases is None else shipped_cases.cases:
        digest.update(msgspec.json.encode((case.id, case.releases, case.answer)) + b"\n")
    for mutant in mutants:
        digest.update(mutant.mutation.key.encode() + b"\n")
    return digest.hexdigest()


def merged(record: Record, rows: Iterable[GeneratedRow]) -> Record:
    """Return the record with ``rows`` in place of its rows of the same rules."""
    found = {row.rule: row for row in (*record.rows, *rows)}
    return Record(tuple(found[rule] for rule in RULES if rule in found))


def shipped() -> Record:
    """Return the record that ships with the package."""
    return msgspec.json.decode(files(__package__).joinpath("record.json").read_bytes(), type=Record)


def read(path: Path) -> Record:
    """Read a record; an empty one if there is no file. Raises BadInput."""
    try:
        return msgspec.json.decode(read_bytes(path), type=Record) if exists(path) else Record()
    except UNREADABLE as error:
        raise BadInput(f"{path} is not a record of generated mutants: {error}") from error


def write(record: Record, path: Path) -> None:
    """Write a record, a line for each survivor. Raises KitError."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")


class _Head(msgspec.Struct, frozen=True):
    rule: str
    code: str
    seed: int
    cases: dict[str, tuple[str, ...]]


class Results:
    """The file of one rule's results: what it has of the same code and seed need not be asked again.

    A mutant that a case killed is known as long as the case is there. One that no case killed is asked new cases alone.
    """

    def __init__(self, folder: Path, slug: str, seed: int, cases: Mapping[str, Collection[str]]) -> None:
        """``cases`` are the frozen cases that mutants of this rule are asked, by their rule."""
        self._path = folder / f"{slug}.ndjson"
        self._head = _Head(slug, fingerprint(RULES[slug]), seed, {rule: tuple(ids) for rule, ids in cases.items()})
        self.known: dict[str, Result] = {}
        """The results that hold, by key."""
        self.earlier: dict[str, Result] = {}
        """The results of mutants that the cases of then did not kill, by key."""
        self.asked: Mapping[str, frozenset[str]] = {}
        """The cases that were asked then, by their rule."""
        self._read()

    @property
    def has_new_cases(self) -> bool:
        """Return whether some case was not asked then."""
        return any(not asked.issuperset(self._head.cases.get(rule, ())) for rule, asked in self.asked.items())

    def _read(self) -> None:
        if not exists(self._path):
            return
        data = read_bytes(self._path)
        try:
            first, *lines = data.splitlines()
            head = msgspec.json.decode(first, type=_Head)
            if (head.rule, head.code, head.seed) == (self._head.rule, self._head.code, self._head.seed):
                self._take(head.cases, [msgspec.json.decode(line, type=Result) for line in lines])
        except ValueError:
            return  # cut in the middle of a line: they are asked again

    def _take(self, cases: Mapping[str, Collection[str]], found: Iterable[Result]) -> None:
        now = frozenset(case for ids in self._head.cases.values() for case in ids)
        before = {rule: frozenset(ids) for rule, ids in cases.items()}
        self.asked = {rule: before.get(rule, frozenset()) for rule in self._head.cases}
        for one in found:
            if one.verdict == "invalid" or (one.verdict == "frozen" and one.case in now):
                self.known[one.key] = one
            elif one.verdict in ("survived", "fresh"):
                (self.earlier if self.has_new_cases else self.known)[one.key] = one

    def write(self) -> None:
        """Write the results. Raises KitError."""
        # A mutant that was not asked the new cases yet must not count as one that was.
        lines = [msgspec.json.encode(self._head), *map(msgspec.json.encode, self.known.values())]
        write_whole(self._path, b"\n".join(lines) + b"\n")
