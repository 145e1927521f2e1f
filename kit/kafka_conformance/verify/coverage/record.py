"""The record of coverage: for each rule and release, the methods of the classes it mirrors, and what of them has run.

``record.json`` in this folder ships with the package. The pages ``coverage.md`` and ``proof.md`` are made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.rules import RULES
from kafka_reference.releases import parse_release

__all__ = ["CoverageRow", "Method", "Ratio", "Record", "merged", "newest_rows", "read", "shipped", "write"]


class Ratio(msgspec.Struct, frozen=True, array_like=True):
    """How many of something have run."""

    run: int
    total: int

    def __add__(self, other: Ratio) -> Ratio:
        """Return both together."""
        return Ratio(self.run + other.run, self.total + other.total)

    @property
    def percent(self) -> str:
        """``75 %``; rounded down, so that 100 % is all."""
        return f"{100 * self.run // self.total} %" if self.total else "none"

    def __str__(self) -> str:
        """Return ``3 of 4 (75 %)``."""
        return f"{self.run:,} of {self.total:,} ({self.percent})" if self.total else "none"


class Method(msgspec.Struct, frozen=True, omit_defaults=True):
    """A method of Kafka's, with its lambdas: its name, how much of it has run, and what has not.

    ``missed`` are the lines that never ran; ``partly`` are lines with branches that did not run: the line, the branches
    that ran, and all of them.
    """

    name: str
    """``Class.method(types of the parameters)``, a nested class as ``Outer$Inner``."""
    lines: Ratio
    branches: Ratio
    missed: tuple[int, ...] = ()
    partly: tuple[tuple[int, int, int], ...] = ()

    @property
    def short_name(self) -> str:
        """``Class.method``, by which ``coverage.toml`` names it."""
        return self.name.partition("(")[0]


class CoverageRow(msgspec.Struct, frozen=True):
    """The coverage of one rule in one release, and the questions that gave it."""

    rule: str
    release: str
    jar_sha256: str
    fingerprint: str
    """The fingerprint of the rule that was asked."""
    seed: int
    examples: int
    kinds: int
    """How many kinds of question were asked."""
    spaces: dict[str, int]
    """Questions of each enumerated space."""
    generated: int
    """Questions of the rule's strategy."""
    methods: dict[str, tuple[Method, ...]]
    """Methods by the name of the outer class, with slashes."""

    @property
    def asked(self) -> int:
        """All questions."""
        return sum(self.spaces.values()) + self.generated


class Record(msgspec.Struct, frozen=True):
    """Rows, sorted by rule and release."""

    rows: tuple[CoverageRow, ...] = ()

    def row(self, rule: str, release: str) -> CoverageRow | None:
        """Return the row of a rule in a release, or None."""
        return next((row for row in self.rows if (row.rule, row.release) == (rule, release)), None)


def newest_rows(record: Record) -> list[CoverageRow]:
    """Return the row of each rule in the newest release in which it was measured."""
    return list({row.rule: row for row in record.rows}.values())


def merged(record: Record, rows: Iterable[CoverageRow]) -> Record:
    """Return the record with ``rows`` in place of its rows of the same rules and releases."""
    found = {(row.rule, row.release): row for row in (*record.rows, *rows)}
    return Record(tuple(sorted(found.values(), key=_place)))


def _place(row: CoverageRow) -> tuple[int, object]:
    return list(RULES).index(row.rule) if row.rule in RULES else len(RULES), parse_release(row.release)


def shipped() -> Record:
    """Return the record that ships with the package."""
    file = files(__package__).joinpath("record.json")
    return msgspec.json.decode(file.read_bytes(), type=Record) if file.is_file() else Record()


def read(path: Path) -> Record:
    """Read a record; an empty one if there is no file. Raises BadInput."""
    try:
        return msgspec.json.decode(read_bytes(path), type=Record) if exists(path) else Record()
    except UNREADABLE as error:
        raise BadInput(f"{path} is not a record of coverage: {error}") from error


def write(record: Record, path: Path) -> None:
    """Write a record, a line for each method. Raises KitError."""
    write_whole(path, _lines(record.rows).encode())


def _lines(rows: Sequence[CoverageRow]) -> str:
    """Return JSON whose changes can be read in a history."""
    texts = []
    for row in rows:
        head = msgspec.to_builtins(row)
        head["methods"] = {}
        classes = ",\n".join(
            f"  {msgspec.json.encode(name).decode()}: [\n"
            + ",\n".join(f"   {msgspec.json.encode(method).decode()}" for method in methods) + "\n  ]"
            for name, methods in row.methods.items()
        )  # fmt: skip
        text = msgspec.json.encode(head).decode().removesuffix('"methods":{}}')
        texts.append(f' {text}"methods": {{\n{classes}\n }}}}')
    return '{"rows": [\n' + ",\n".join(texts) + "\n]}\n"
