"""The record of generated mutants: for each rule, how many were killed by what, and which survived.

``record.json`` beside this file ships with the package. The result of each mutant is in the folder of results, one file
for each rule, from which an interrupted run goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from kafka_conformance.cases.store import folder_of_cases
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import write_whole
from kafka_conformance.generated_mutants.asking import Result
from kafka_conformance.generated_mutants.population import Mutant
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import fingerprint

__all__ = ["Record", "Results", "Row", "fingerprint_of", "merged", "read", "shipped", "write"]


class Row(msgspec.Struct, frozen=True):
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

    rows: tuple[Row, ...] = ()

    def row(self, slug: str) -> Row | None:
        """Return the row of a rule."""
        return next((row for row in self.rows if row.rule == slug), None)


def fingerprint_of(slug: str, mutants: Sequence[Mutant]) -> str:
    """Return the sha256 of what decides the fate of a rule's mutants, but for the questions of other rules."""
    digest = hashlib.sha256(fingerprint(RULES[slug]).encode())
    cases = folder_of_cases() / f"{slug}.ndjson"
    digest.update(hashlib.sha256(cases.read_bytes() if cases.is_file() else b"").digest())
    for mutant in mutants:
        digest.update(mutant.mutation.key.encode() + b"\n")
    return digest.hexdigest()


def merged(record: Record, rows: Iterable[Row]) -> Record:
    """Return the record with ``rows`` in place of its rows of the same rules."""
    found = {row.rule: row for row in (*record.rows, *rows)}
    return Record(tuple(found[rule] for rule in RULES if rule in found))


def shipped() -> Record:
    """Return the record that ships with the package."""
    return msgspec.json.decode(files(__package__).joinpath("record.json").read_bytes(), type=Record)


def read(path: Path) -> Record:
    """Read a record; an empty one if there is no file. Raises BadInput."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Record) if path.exists() else Record()
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{path} is not a record of generated mutants: {error}") from error


def write(record: Record, path: Path) -> None:
    """Write a record, a line for each survivor. Raises KitError."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n")


class _Head(msgspec.Struct, frozen=True):
    rule: str
    fingerprint: str
    seed: int


class Results:
    """The file of one rule's results: what it has of the same code and seed need not be asked again."""

    def __init__(self, folder: Path, slug: str, fingerprint: str, seed: int) -> None:
        self._path = folder / f"{slug}.ndjson"
        self._head = _Head(slug, fingerprint, seed)
        self.known: dict[str, Result] = {}
        """The results that the file has, by key."""
        self._read()

    def _read(self) -> None:
        if not self._path.is_file():
            return
        try:
            first, *lines = self._path.read_bytes().splitlines()
            if msgspec.json.decode(first, type=_Head) == self._head:
                found = [msgspec.json.decode(line, type=Result) for line in lines]
                self.known = {one.key: one for one in found}
        except (OSError, ValueError):
            self.known = {}  # cut in the middle of a line: they are asked again

    def write(self) -> None:
        """Write the results. Raises KitError."""
        lines = [msgspec.json.encode(self._head), *map(msgspec.json.encode, self.known.values())]
        write_whole(self._path, b"\n".join(lines) + b"\n")
