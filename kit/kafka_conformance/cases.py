"""Frozen cases: questions with Java's answers, shipped in the package, so that a gate needs no Java.

One file for each rule, ``cases/<rule>.ndjson``: its first line is the provenance (which jars answered, in which JVM, by
which method, from which seed, with which kit), each other line a case. A case is a question with one answer and every pinned
release that gave it; a question that Java answers differently by release is several cases. ``release`` is the newest of
them, and part of the case's name, which is the content hash of rule, release and question, as everywhere.

``kills`` are the mutants (``mutants``) that answer it otherwise: why it was kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import msgspec

from kafka_conformance.errors import BadInput, KitError
from kafka_conformance.protocol import Answer, Question
from kafka_conformance.rules import Rule

__all__ = ["Case", "Frozen", "Provenance", "frozen", "read", "write"]


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a file of cases comes from: the jar's sha256 by release, the JVM, the Java method, the search."""

    rule: str
    java: str
    jars: dict[str, str]
    jvm: str
    kit: str
    seed: int
    examples: int
    cases: int


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question, raw, with the answer of all ``releases``, the newest of which is ``release``."""

    id: str
    release: str
    releases: tuple[str, ...]
    question: msgspec.Raw
    answer: Answer
    kills: tuple[str, ...]

    def typed_question(self, rule: Rule) -> Question:
        """The question, as its rule takes it. Raises msgspec.ValidationError."""
        return msgspec.json.decode(self.question, type=rule.question)


class Frozen(msgspec.Struct, frozen=True):
    """A file of cases."""

    provenance: Provenance
    cases: tuple[Case, ...]

    def at(self, release: str) -> list[Case]:
        """The cases whose answer is proven for this release."""
        return [case for case in self.cases if release in case.releases]


def _folder() -> Path:
    return Path(str(resources.files("kafka_conformance"))) / "cases"


def frozen(rule: Rule, folder: Path | None = None) -> Frozen | None:
    """The cases that ship for this rule; None if it has none. Raises KitError if the file is damaged."""
    path = (folder or _folder()) / f"{rule.slug}.ndjson"
    return read(path) if path.is_file() else None


def read(path: Path) -> Frozen:
    """The cases in a file. Raises BadInput."""
    try:
        head, *lines = path.read_bytes().splitlines()
        decoder = msgspec.json.Decoder(Case)
        found = Frozen(msgspec.json.decode(head, type=Provenance), tuple(map(decoder.decode, lines)))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is no file of frozen cases: {error}") from error
    if len(found.cases) != found.provenance.cases:
        raise BadInput(f"{path} says it has {found.provenance.cases} cases and has {len(found.cases)}: it was cut")
    return found


def write(path: Path, provenance: Provenance, cases: Iterable[Case]) -> None:
    """Write a file of cases, whole or not at all. Raises KitError."""
    lines = [msgspec.json.encode(provenance), *map(msgspec.json.encode, cases)]
    scratch = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(b"\n".join(lines) + b"\n")
        scratch.replace(path)
    except OSError as error:
        raise KitError(f"{path} cannot be written: {error.strerror}") from error
