"""Frozen cases: questions with Java's answers, shipped in the package, so that a gate needs no Java.

One file for each rule, ``cases/<rule>.ndjson``: its first line is the provenance (which jars answered, in which JVM, by
which method, from which seed, with which kit), each other line a case. A case is a question with one answer and every pinned
release that gave it; a question that Java answers differently by release is several cases. ``release`` is the newest of
them, and part of the case's name, which is the content hash of rule, release and question, as everywhere.

``kills`` are the mutants (``mutants``) that answer it otherwise: why it was kept.

In the file, releases that follow one another are written as ``first..last``, by the order of the provenance's ``jars``: a
list of twenty-eight in each of twenty thousand lines would be half of all bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path

import msgspec

from kafka_conformance.errors import BadInput, KitError
from kafka_conformance.protocol import Answer, Question
from kafka_conformance.rules import Rule

__all__ = ["Case", "Frozen", "Provenance", "folder_of_cases", "frozen", "read", "write"]


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


def folder_of_cases() -> Path:
    """Where the cases are that ship with the package."""
    return Path(str(resources.files("kafka_conformance"))) / "cases"


def frozen(rule: Rule, folder: Path | None = None) -> Frozen | None:
    """The cases that ship for this rule; None if it has none. Raises KitError if the file is damaged."""
    path = (folder or folder_of_cases()) / f"{rule.slug}.ndjson"
    return read(path) if path.is_file() else None


def read(path: Path) -> Frozen:
    """The cases in a file. Raises BadInput."""
    try:
        head, *lines = path.read_bytes().splitlines()
        decoder = msgspec.json.Decoder(Case)
        provenance = msgspec.json.decode(head, type=Provenance)
        found = Frozen(provenance, tuple(_unfolded(map(decoder.decode, lines), tuple(provenance.jars))))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is no file of frozen cases: {error}") from error
    if len(found.cases) != found.provenance.cases:
        raise BadInput(f"{path} says it has {found.provenance.cases} cases and has {len(found.cases)}: it was cut")
    return found


def write(path: Path, provenance: Provenance, cases: Iterable[Case]) -> None:
    """Write a file of cases, whole or not at all. ``provenance.jars`` are in the order of releases. Raises KitError."""
    folded = _folded(cases, tuple(provenance.jars))
    lines = [msgspec.json.encode(provenance), *map(msgspec.json.encode, folded)]
    scratch = path.with_suffix(".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(b"\n".join(lines) + b"\n")
        scratch.replace(path)
    except OSError as error:
        raise KitError(f"{path} cannot be written: {error.strerror}") from error


def _folded(cases: Iterable[Case], order: Sequence[str]) -> Iterable[Case]:
    """Releases that follow one another in ``order`` as ``first..last``."""
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    places = {version: place for place, version in enumerate(order)}
    for case in cases:
        if case.releases not in known:
            known[case.releases] = tuple(_runs(case.releases, places))
        yield msgspec.structs.replace(case, releases=known[case.releases])


def _runs(releases: Sequence[str], places: Mapping[str, int]) -> Iterable[str]:
    first = 0
    for at in range(1, len(releases) + 1):
        here = places.get(releases[at]) if at < len(releases) else None
        if here is None or here - 1 != places.get(releases[at - 1]):
            yield releases[first] if first == at - 1 else f"{releases[first]}..{releases[at - 1]}"
            first = at


def _unfolded(cases: Iterable[Case], order: Sequence[str]) -> Iterable[Case]:
    """The reverse. Raises ValueError for a run whose ends are not in ``order``."""
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    for case in cases:
        if case.releases not in known:
            known[case.releases] = tuple(version for run in case.releases for version in _run(run, order))
        yield msgspec.structs.replace(case, releases=known[case.releases])


def _run(run: str, order: Sequence[str]) -> Sequence[str]:
    first, between, last = run.partition("..")
    return order[order.index(first) : order.index(last) + 1] if between else (first,)
