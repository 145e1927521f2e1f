"""Frozen cases: questions with Java's answers, shipped in the package, so that a gate needs no Java.

One file for each rule, ``cases/<rule>.ndjson``: its first line is the provenance (which jars answered, in which JVM, by
which method, from which seed, with which kit), each other line a case. A case is a question with one answer and every pinned
release that gave it; a question that Java answers differently by release is several cases. ``release`` is the newest of
them when the case was first frozen, and part of the case's name, which is the content hash of rule, release and question, as
everywhere; the name stays when later releases give the same answer.

``kills`` are the mutants whose answer differs: why the case was kept.

In the file, releases that follow one another are written as ``first..last``, by the order of the provenance's ``jars``,
and mutants as their places in the first line's ``mutants``: written out, they would be half of all bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec

from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import exists, read_bytes, write_whole
from kafka_conformance.core.protocol import Answer, Question
from kafka_conformance.core.rule import Rule

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
    """One question, raw, with the answer of all ``releases``; its name is of ``release``, one of them."""

    id: str
    release: str
    releases: tuple[str, ...]
    question: msgspec.Raw
    answer: Answer
    kills: tuple[str, ...]

    def typed_question(self, rule: Rule) -> Question:
        """The question, as its rule takes it. Raises one of ``core.decoding.UNREADABLE``."""
        return msgspec.json.decode(self.question, type=rule.question)


class Frozen(msgspec.Struct, frozen=True):
    """A file of cases."""

    provenance: Provenance
    cases: tuple[Case, ...]

    def at(self, release: str) -> list[Case]:
        """Return the cases whose answer is proven for this release."""
        return [case for case in self.cases if release in case.releases]


def folder_of_cases() -> Path:
    """Return the folder of the cases that ship with the package."""
    return Path(str(resources.files("kafka_conformance.cases"))) / "data"


def frozen(rule: Rule, folder: Path | None = None) -> Frozen | None:
    """Read the cases that ship for this rule; None if it has none. Raises KitError if the file is damaged."""
    path = (folder or folder_of_cases()) / f"{rule.slug}.ndjson"
    return read(path) if exists(path) else None


class _Head(Provenance, frozen=True, forbid_unknown_fields=True):
    """The first line: the provenance, and the mutants that the numbers in ``kills`` of the other lines refer to."""

    mutants: tuple[str, ...]


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case in the form of the file."""

    id: str
    release: str
    releases: tuple[str, ...]
    question: msgspec.Raw
    answer: Answer
    kills: tuple[Annotated[int, msgspec.Meta(ge=0)], ...]


def read(path: Path) -> Frozen:
    """Read the cases in a file. Raises BadInput."""
    try:
        first, *lines = read_bytes(path).splitlines()
        head = msgspec.json.decode(first, type=_Head)
        cases = tuple(_unfolded(map(msgspec.json.Decoder(_Line).decode, lines), tuple(head.jars), head.mutants))
    except (ValueError, IndexError, *UNREADABLE) as error:
        raise BadInput(f"{path} is not a file of frozen cases: {error}") from error
    if len(cases) != head.cases:
        raise BadInput(f"{path} says it has {head.cases} cases and has {len(cases)}: it was cut")
    return Frozen(Provenance(*(getattr(head, name) for name in Provenance.__struct_fields__)), cases)


def write(path: Path, provenance: Provenance, cases: Sequence[Case]) -> None:
    """Write a file of cases, whole or not at all. ``provenance.jars`` are in the order of releases. Raises KitError."""
    mutants = tuple(sorted({slug for case in cases for slug in case.kills}))
    head = _Head(**msgspec.structs.asdict(provenance), mutants=mutants)
    lines = map(msgspec.json.encode, (head, *_folded(cases, tuple(provenance.jars), mutants)))
    write_whole(path, b"\n".join(lines) + b"\n")


def _folded(cases: Iterable[Case], order: Sequence[str], mutants: Sequence[str]) -> Iterable[_Line]:
    places = {version: place for place, version in enumerate(order)}
    numbers = {slug: number for number, slug in enumerate(mutants)}
    for case in cases:
        runs = tuple(_runs(case.releases, places))
        kills = tuple(numbers[slug] for slug in case.kills)
        yield _Line(case.id, case.release, runs, case.question, case.answer, kills)


def _runs(releases: Sequence[str], places: Mapping[str, int]) -> Iterable[str]:
    """Yield runs of successive releases as ``first..last``; one that is not in ``places`` is a run of one."""
    first = 0
    for at in range(1, len(releases) + 1):
        here = places.get(releases[at]) if at < len(releases) else None
        if here is None or here - 1 != places.get(releases[at - 1]):
            yield releases[first] if first == at - 1 else f"{releases[first]}..{releases[at - 1]}"
            first = at


def _unfolded(lines: Iterable[_Line], order: Sequence[str], mutants: Sequence[str]) -> Iterable[Case]:
    """Yield the cases.

    Raises ValueError for a run whose ends are not in ``order``, IndexError for a mutant that is not in ``mutants``.
    """
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    for line in lines:
        if line.releases not in known:
            known[line.releases] = tuple(version for run in line.releases for version in _run(run, order))
        kills = tuple(mutants[number] for number in line.kills)
        yield Case(line.id, line.release, known[line.releases], line.question, line.answer, kills)


def _run(run: str, order: Sequence[str]) -> Sequence[str]:
    first, between, last = run.partition("..")
    return order[order.index(first) : order.index(last) + 1] if between else (first,)
