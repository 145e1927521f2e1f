"""The record of killed mutants: for each rule, the code that was asked, and how many questions each mutant took.

``record.json`` in this folder ships with the package. ``selftest --changed`` asks all mutants of a rule only if the record
has no row with the fingerprint of the installed ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.core.mutant import Mutant
from kafka_conformance.rules import RULES
from kafka_conformance.verify.fingerprint import mutants_fingerprint

__all__ = ["Kill", "MutantRow", "Record", "merged", "proven_rows", "read", "shipped", "void_rules", "write"]


class Kill(msgspec.Struct, frozen=True, array_like=True):
    """A mutant that was killed, and by how many questions."""

    mutant: str
    release: str
    asked: int
    """Questions until it was given up."""
    differ: int
    """The number of questions that it answered differently from Java."""


class MutantRow(msgspec.Struct, frozen=True):
    """The mutants of one rule, all killed in one run."""

    rule: str
    fingerprint: str
    """The fingerprint of the rule's mutants that were asked."""
    seed: int
    examples: int
    mutants: tuple[Kill, ...]
    """In the order of the code."""

    def quickest(self, among: Collection[str]) -> Kill:
        """Return which of these mutants took the fewest questions; of several, the first by name."""
        return min((kill for kill in self.mutants if kill.mutant in among), key=lambda kill: (kill.asked, kill.mutant))


class Record(msgspec.Struct, frozen=True):
    """Rows, in the order of the rules."""

    rows: tuple[MutantRow, ...] = ()


def proven_rows(record: Record, mutants: Iterable[Mutant]) -> dict[str, MutantRow]:
    """Return the rows that hold for these mutants, by rule.

    A row holds if its fingerprint is the one of the installed code, and if it has every mutant of its rule in its release,
    killed.
    """
    installed: dict[str, list[tuple[str, str]]] = {}
    for mutant in mutants:
        installed.setdefault(mutant.rule, []).append((mutant.slug, str(mutant.release)))
    return {
        row.rule: row
        for row in record.rows
        if row.mutants
        and [(kill.mutant, kill.release) for kill in row.mutants] == installed.get(row.rule)
        and all(kill.differ for kill in row.mutants)
        and row.fingerprint == mutants_fingerprint(RULES[row.rule])
    }


def void_rules(record: Record, mutants: Sequence[Mutant]) -> list[str]:
    """Return the rules whose row is missing or does not hold for these mutants, and the rules that are not installed."""
    proven = proven_rows(record, mutants)
    rules = dict.fromkeys([*RULES, *(row.rule for row in record.rows)])
    return [rule for rule in rules if rule not in proven]


def merged(record: Record, rows: Iterable[MutantRow], without: Iterable[str] = ()) -> Record:
    """Return the record with ``rows`` in place of its rows of the same rules.

    It has no rows of the rules ``without``, nor of rules that are not installed.
    """
    found = {row.rule: row for row in (*record.rows, *rows)}
    left_out = set(without)
    return Record(tuple(found[rule] for rule in RULES if rule in found and rule not in left_out))


def shipped() -> Record:
    """Return the record that ships with the package."""
    return msgspec.json.decode(files(__package__).joinpath("record.json").read_bytes(), type=Record)


def read(path: Path) -> Record:
    """Read a record; an empty one if there is no file. Raises BadInput."""
    try:
        return msgspec.json.decode(read_bytes(path), type=Record) if exists(path) else Record()
    except UNREADABLE as error:
        raise BadInput(f"{path} is not a record of mutants: {error}") from error


def write(record: Record, path: Path) -> None:
    """Write a record, a line for each mutant. Raises KitError."""
    write_whole(path, _lines(record.rows).encode())


def _lines(rows: Sequence[MutantRow]) -> str:
    """Return JSON whose changes can be read in a history."""
    texts = []
    for row in rows:
        head = msgspec.json.encode(msgspec.structs.replace(row, mutants=())).decode().removesuffix("[]}")
        kills = ",\n".join(f"  {msgspec.json.encode(kill).decode()}" for kill in row.mutants)
        texts.append(f" {head}[\n{kills}\n ]}}")
    return '{"rows": [\n' + ",\n".join(texts) + "\n]}\n"
