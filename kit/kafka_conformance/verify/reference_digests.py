"""The reference's half of a proof, run once for each distinct behaviour: digests of the answers that it agreed with.

Java is asked every question in every release. The reference reads a release only through behaviour records and spans of
releases, so two releases with equal records and spans have the same answers. If Java's answers to a batch equal, byte for
byte, those that the reference agreed with in such a release, the reference runs for one question in :data:`EVERY` only.
These differ from release to release, so that code which reads a release in any other way is found.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

import msgspec

from kafka_conformance.core.files import write_whole
from kafka_conformance.core.pipeline import Comparison
from kafka_conformance.core.protocol import Agrees, Answered, Outcome, Question, Unsupported, Verdict, judge
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_conformance.rules.eras import record_in
from kafka_conformance.verify.fingerprint import fingerprinted_sources, installed_sources
from kafka_reference.behaviour import Behaviour
from kafka_reference.releases import Release, Spans

__all__ = ["EVERY", "AgreedAnswers", "OncePerBehaviour", "behaviour_digest"]

EVERY = 16
"""The reference runs for one in this many of the questions that need no run of it."""


class AgreedAnswers:
    """Digests of Java's answers, batch by batch, that the reference agreed with: in files, which workers share."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, rule: Rule, release: Release) -> dict[int, str]:
        """Return the digests of a rule in releases that behave like this one, by the number of the batch."""
        path = self._path(rule, release)
        return msgspec.json.decode(path.read_bytes(), type=dict[int, str]) if path.exists() else {}

    def write(self, rule: Rule, release: Release, digests: dict[int, str]) -> None:
        """Keep digests for the next release that behaves like this one."""
        write_whole(self._path(rule, release), msgspec.json.encode(digests))

    def _path(self, rule: Rule, release: Release) -> Path:
        return self._folder / f"{rule.slug}-{behaviour_digest(rule, release)}.agreed"


@dataclass(frozen=True)
class OncePerBehaviour(Comparison):
    """Compares all of a rule's batches, in order, in one release.

    ``agreed`` has the digests of Java's answers that the reference agreed with, and receives those of batches that are
    compared whole; with None, every batch is. ``count`` receives the size of each batch.
    """

    agreed: dict[int, str] | None = None
    count: Callable[[int], None] = lambda _: None
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def outcomes(self, rule: Rule, questions: Sequence[Question]) -> tuple[Sequence[Outcome], Sequence[Outcome]]:
        """Ask Java everything, and the reference what Java's answers do not decide."""
        number = next(self._numbers)
        if self.agreed is not None and number in self.agreed:
            expected: Sequence[Outcome] = self.expected.answer(rule, self.release, questions)
            same = _digest(expected) == self.agreed[number]
            first = zlib.crc32(str(self.release).encode()) % EVERY
            asked = slice(first, None, EVERY) if same else slice(None)
            actual = list(expected)
            actual[asked] = self.actual.answer(rule, self.release, questions[asked])
        else:
            expected, actual = map(list, super().outcomes(rule, questions))
            pairs = zip(expected, actual, strict=True)
            if self.agreed is not None and all(
                isinstance(judge(*pair, self.names), Agrees | Unsupported) for pair in pairs
            ):
                self.agreed[number] = _digest(expected)
        self.count(len(questions))
        return expected, actual

    def verdict(self, rule: Rule, question: Question, expected: Outcome, actual: Outcome) -> Verdict:
        """Compare two outcomes; one that stands for both agrees."""
        same = expected is actual and isinstance(expected, Answered)
        return Agrees() if same else super().verdict(rule, question, expected, actual)


def _digest(outcomes: Sequence[Outcome]) -> str:
    return hashlib.sha256(msgspec.json.encode(outcomes)).hexdigest()


def behaviour_digest(rule: Rule, release: Release) -> str:
    """Return a digest of all that the reference of ``rule`` reads of a release.

    That is every behaviour record and every span of releases that its code reaches, declared by the rule or not.
    """
    read = [repr(record_in(one, release) if isinstance(one, type) else release in one) for one in _read_by(rule.slug)]
    return hashlib.sha256("\n".join(read).encode()).hexdigest()[:32]


@cache
def _read_by(slug: str) -> list[type[Behaviour] | Spans]:
    found: list[Any] = []
    for place in fingerprinted_sources(RULES[slug], installed_sources()):
        module, _, names = place.partition(":")
        values = (getattr(sys.modules.get(module), name, None) for name in names.split(","))
        found += [each for each in values if isinstance(each, Spans) or _is_record(each)]
    return found


def _is_record(value: object) -> TypeGuard[type[Behaviour]]:
    return isinstance(value, type) and issubclass(value, Behaviour) and value is not Behaviour
