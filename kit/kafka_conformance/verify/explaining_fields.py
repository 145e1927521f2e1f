"""Which fields of the behaviour records explain that a question has other answers in two releases.

The smallest set of fields that, given the values of the first release, makes the reference of the second answer as the
first does. The reference stands for Java here, which ``verify`` proves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.pipeline import kind_of, size_of
from kafka_conformance.core.protocol import Agrees, Outcome, Question, judge
from kafka_conformance.core.rule import Rule
from kafka_conformance.reports.behaviour import behaviour_lines
from kafka_conformance.verify.release_diff import KindOfChange, ReleaseDiff
from kafka_reference.behaviour import Behaviour, overridden
from kafka_reference.releases import Release

__all__ = ["AttributedChange", "Attribution", "Field", "attribute", "differing"]

# Sets of this many fields are tried one by one; larger ones are found by leaving out one field after another.
_TRIED = 2


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a behaviour record, and its value in the first release."""

    record: type[Behaviour]
    name: str
    value: Any

    def __str__(self) -> str:
        return f"{self.record.__name__}.{self.name}"


@dataclass(frozen=True, slots=True)
class AttributedChange:
    """A change between two releases, and the fields that explain its example; no field if that is not known."""

    change: KindOfChange
    fields: tuple[Field, ...]


def attribute(diff: ReleaseDiff, changes: Iterable[KindOfChange]) -> Iterator[AttributedChange]:
    """Yield the changes with the fields that explain their examples.

    A field that explains none of these is looked for in all differences found; the smallest that needs it is a change of
    its own.
    """
    attribution = Attribution(diff.rule, diff.releases)
    for change in changes:
        yield AttributedChange(change, attribution.fields_of(change.example.question))
    by_question = {one.question: one for one in sorted(diff.tally.differences, key=size_of)}
    for _, question in attribution.still_unnamed(by_question):
        found = by_question[question]
        yield AttributedChange(KindOfChange(kind_of(diff.rule, found), found, 1), attribution.fields_of(question))


def differing(rule: Rule, releases: tuple[Release, Release]) -> list[Field]:
    """Return the fields that differ between two releases and that questions of ``rule`` can show."""
    lines = behaviour_lines(rule, releases)
    return [Field(line.record, line.field, value[0]) for line in lines if (value := line.values[0]) is not None]


class Attribution:
    """Explains differences of a rule between two releases; what explained one difference is tried first for the next."""

    def __init__(self, rule: Rule, releases: tuple[Release, Release]) -> None:
        self._rule, self._releases = rule, releases
        self._fields = differing(rule, releases)
        self._found: list[tuple[Field, ...]] = []
        self._reference = ReferenceAnswerer()

    def fields_of(self, question: Question) -> tuple[Field, ...]:
        """Return the smallest set of fields that explains the two answers to ``question``.

        Returns () if the reference has the same answer in both releases, or if all fields together do not explain them.
        """
        expected = self._answer(question, self._releases[0], ())
        if self._explains(question, expected, ()) or not self._explains(question, expected, self._fields):
            return ()
        for size in range(1, _TRIED + 1):
            for fields in self._candidates(size):
                if self._explains(question, expected, fields):
                    return self._keep(fields)
        left = tuple(self._fields)
        for field in reversed(self._fields):
            without = tuple(one for one in left if one != field)
            if self._explains(question, expected, without):
                left = without
        return self._keep(left)

    def still_unnamed(self, questions: Iterable[Question]) -> Iterator[tuple[Field, Question]]:
        """Yield each field that has explained nothing so far, with the first of ``questions`` that it is needed for."""
        named = {field for fields in self._found for field in fields}
        left = [field for field in self._fields if field not in named]
        for question in questions:
            if not left:
                return
            expected = self._answer(question, self._releases[0], ())
            if self._explains(question, expected, self._fields):
                for field in list(left):
                    if not self._explains(question, expected, [one for one in self._fields if one != field]):
                        left.remove(field)
                        self._keep((field,))
                        yield field, question

    def _candidates(self, size: int) -> Iterator[tuple[Field, ...]]:
        known = [fields for fields in self._found if len(fields) == size]
        yield from known
        yield from (fields for fields in combinations(self._fields, size) if fields not in known)

    def _keep(self, fields: tuple[Field, ...]) -> tuple[Field, ...]:
        if fields not in self._found:
            self._found.append(fields)
        return fields

    def _explains(self, question: Question, expected: Outcome, fields: Iterable[Field]) -> bool:
        return isinstance(judge(expected, self._answer(question, self._releases[1], fields), ("", "")), Agrees)

    def _answer(self, question: Question, release: Release, fields: Iterable[Field]) -> Outcome:
        values: dict[type[Behaviour], dict[str, Any]] = {}
        for field in fields:
            values.setdefault(field.record, {})[field.name] = field.value
        with ExitStack() as stack:
            for record, changed in values.items():
                stack.enter_context(overridden(record, **changed))
            (outcome,) = self._reference.answer(self._rule, release, [question])
        return outcome
