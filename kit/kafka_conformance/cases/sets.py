"""Case sets: the frozen cases under a name that never changes its meaning, and the cases that are withdrawn.

``sets.json`` names each set, as "Kafka 4.4, set 1", with its sha256 and the number of its cases by rule. Set 1 has every
case that no later set lists as ``added``; each later set has those of its predecessor and these. So cases that are added
need another set, and what a result of an older set was judged by can still be listed.

``withdrawn`` lists cases that turned out wrong. A withdrawn case keeps its name, its line in its file and its place in its
sets; the question is asked by no gate any more, and every report names the number of withdrawn cases beside its set.

The sha256 is over one line for each case, sorted: its rule, its name, and its answer as JSON. Releases that are added to a
case with the same answer do not change it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated

import msgspec

from kafka_conformance.cases.store import Case, Frozen
from kafka_conformance.core.decoding import UNREADABLE
from kafka_conformance.core.errors import BadInput
from kafka_conformance.core.files import read_bytes

__all__ = [
    "CaseSet",
    "CaseSets",
    "Withdrawn",
    "case_sets",
    "current_label",
    "fingerprint_of",
    "parse_sets",
    "sets_file",
]

_Name = Annotated[str, msgspec.Meta(pattern="^Kafka [0-9]+[.][0-9]+, set [0-9]+$")]


class CaseSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set of cases: its name, the day on which it was opened, its sha256, and the number of its cases by rule.

    ``added`` are the names of the cases that the set before does not have; empty for the first set.
    """

    name: _Name
    opened: str
    sha256: str
    rules: dict[str, int]
    added: tuple[str, ...] = ()

    @property
    def cases(self) -> int:
        """The number of cases."""
        return sum(self.rules.values())


class Withdrawn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case that is not asked any more: its name, its rule, since when, and why."""

    id: str
    rule: str
    since: str
    reason: Annotated[str, msgspec.Meta(min_length=1)]


class CaseSets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All sets, the oldest first, and all withdrawn cases."""

    sets: Annotated[tuple[CaseSet, ...], msgspec.Meta(min_length=1)]
    withdrawn: tuple[Withdrawn, ...] = ()

    @property
    def newest(self) -> CaseSet:
        """The set that a gate asks."""
        return self.sets[-1]

    def withdrawn_of(self, rule: str) -> frozenset[str]:
        """Return the names of the withdrawn cases of a rule."""
        return frozenset(one.id for one in self.withdrawn if one.rule == rule)

    def members(self, name: str, cases: Iterable[Case]) -> list[Case]:
        """Return those of ``cases`` that are in the set ``name``. Raises BadInput for an unknown name."""
        names = [one.name for one in self.sets]
        if name not in names:
            raise BadInput(f"unknown case set {name!r}: expected one of {'; '.join(names)}")
        later = {added for one in self.sets[names.index(name) + 1 :] for added in one.added}
        return [case for case in cases if case.id not in later]

    def lines(self) -> Iterator[str]:
        """Yield a line for each set, and for each withdrawn case."""
        for one in self.sets:
            yield f"{one.name}: {one.cases:,} cases of {len(one.rules)} rules, since {one.opened}, sha256 {one.sha256}"
        for gone in self.withdrawn:
            yield f"withdrawn since {gone.since}: {gone.rule} {gone.id}: {gone.reason}"

    @property
    def label(self) -> str:
        """What reports name: the newest set, and how many of its cases are withdrawn."""
        count = len(self.withdrawn)
        return f"{self.newest.name}, {count:,} withdrawn" if count else self.newest.name


def sets_file() -> Path:
    """Return the file of the sets that ship with the package."""
    return Path(str(resources.files("kafka_conformance.cases"))) / "sets.json"


@cache
def case_sets() -> CaseSets:
    """Read the sets that ship with the package. Raises BadInput."""
    return parse_sets(read_bytes(sets_file()), str(sets_file()))


def parse_sets(content: bytes, name: str) -> CaseSets:
    """Return the sets in this JSON; ``name`` is the file's, for errors. Raises BadInput."""
    try:
        return msgspec.json.decode(content, type=CaseSets)
    except UNREADABLE as error:
        raise BadInput(f"{name} is not a file of case sets: {error}") from error


def current_label() -> str:
    """Return the label of the set that a gate asks. Raises BadInput."""
    return case_sets().label


def fingerprint_of(cases: Mapping[str, Iterable[Case]]) -> tuple[str, dict[str, int]]:
    """Return the sha256 of these cases by rule, and their number by rule."""
    lines, counts = [], Counter[str]()
    for rule, some in cases.items():
        for case in some:
            answer = msgspec.json.encode(case.answer, order="sorted").decode()
            lines.append(f"{rule} {case.id} {answer}\n")
            counts[rule] += 1
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest(), dict(sorted(counts.items()))


def cases_by_rule(files: Iterable[Frozen]) -> dict[str, tuple[Case, ...]]:
    """Return the cases of these files by rule."""
    return {found.provenance.rule: found.cases for found in files}
