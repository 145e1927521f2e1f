"""Answers part by part: what a target leaves out, what is harmless, and fields that an answer should not have.

Two answers are compared in this order; what one step finds hides nothing from the next:

1. differences that no user notices are taken out (``Rule.harmless``), and counted;
2. optional parts that the target leaves out are left out of the expected answer as well (``Rule.optional_parts``): a field
   that is absent, or a step that is answered by ``{"unsupported": why}``;
3. a field that the rule does not have is *too many*, one that it always has is *missing*: both are differences, but if
   anything else differs too, the rest is what is compared, since a field in every answer would hide every mistake.

A step answered by ``{"unsupported": why}`` that is not optional makes the whole answer unsupported.

That an optional part is left out says nothing about the rest of the answer, because such parts only read. For Kafka's own
classes this is held by a test that asks Java the histories of frozen cases with and without their ``look`` steps.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.core.protocol import Answer, Question, to_json
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.sanitize import clipped, harmless
from kafka_conformance.gate.assignments import in_any_order
from kafka_conformance.rules import RULES
from kafka_conformance.rules.answer_types import answer_type, entry_types, step_types, struct_of

__all__ = ["Reading", "compared_part", "differing_optional_parts", "field_kind", "is_same", "read", "unsupported_step"]

_STEPS = "steps"
_NAMES, _NAME = 5, 40
"""As many fields are named, and as many characters of each: the names are the target's."""
_NOTHING = object()
"""An answer without any optional part."""
_THROWN = frozenset({"raises", "message"})
_EMPTY_STEP: tuple[frozenset[str], frozenset[str]] = (_THROWN, frozenset())
"""The fields of the answer to a step that has no type: it is ``{}``."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Two answers, without what need not be compared.

    ``left_out`` and ``given`` are optional parts of the expected answer that the actual one does not have, and has;
    ``harmless`` says what no user notices; ``too_many`` and ``missing`` are fields.
    """

    expected: Answer
    actual: Answer
    left_out: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    harmless: tuple[str, ...] = ()
    too_many: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether both answers are the same."""
        return is_same(self.expected, self.actual)


def is_same(one: Answer, other: Answer) -> bool:
    """Return whether two answers are equal as JSON; the partitions of a member in any order."""
    return to_json(in_any_order(one)) == to_json(in_any_order(other))


def read(rule: Rule, question: Question, expected: Answer, actual: Answer) -> Reading:
    """Read two answers to a question; see the module for what is left out of them."""
    if to_json(expected) == to_json(actual):
        return Reading(expected, actual, given=_optional_parts(rule, question, expected))
    actual, unnoticed = rule.harmless(question, expected, actual)
    cut = _Cut(rule, question)
    expected = cut.cut(expected, actual, "")
    left_out = frozenset(cut.left_out)
    given = _optional_parts(rule, question, expected)
    fields = _Fields(rule, question)
    bare = fields.compare(expected, actual)
    if (fields.too_many or fields.missing) and not is_same(*bare):
        expected, actual = bare
    return Reading(expected, actual, left_out, given, unnoticed,
                   tuple(fields.too_many), tuple(fields.missing))  # fmt: skip


def field_kind(rule: Rule, question: Question, expected: Answer, actual: Answer) -> str:
    """Return the kind of a difference that is of fields alone, which are too many or missing; else an empty text."""
    fields = _Fields(rule, question)
    bare = fields.compare(expected, actual)
    return fields.kind if is_same(*bare) else ""


def compared_part(rule: Rule, question: Question, expected: Answer, actual: Answer) -> Answer:
    """Return an actual answer without what is harmless, and without fields that are too many."""
    return _Fields(rule, question).compare(expected, rule.harmless(question, expected, actual)[0])[1]


def unsupported_step(rule: Rule, question: Question, actual: Answer) -> str:
    """Return why the target does not support a step that is not optional, or an empty text."""
    answers = actual.get(_STEPS)
    if isinstance(answers, list):
        for op, answer in zip(_ops(question), answers, strict=False):
            if _is_unsupported(answer) and f"{_STEPS}.{op}" not in rule.optional_parts:
                return f"step {op}: {answer['unsupported']}"
    return ""


def differing_optional_parts(rule: Rule, question: Question, expected: Answer, actual: Answer) -> list[str]:
    """Return the optional parts in which two answers differ, if they differ in nothing else; otherwise none."""
    if not rule.optional_parts or is_same(expected, actual):
        return []
    ours, theirs = _Cut(rule, question), _Cut(rule, question)
    if not is_same(ours.cut(expected, _NOTHING, ""), theirs.cut(actual, _NOTHING, "")):
        return []
    parts = sorted(ours.left_out.keys() | theirs.left_out.keys())
    return [part for part in parts if to_json(ours.left_out.get(part)) != to_json(theirs.left_out.get(part))]


def _is_unsupported(answer: Any) -> bool:
    return isinstance(answer, dict) and answer.keys() == {"unsupported"} and isinstance(answer["unsupported"], str)


def _ops(question: Any) -> list[str]:
    return [str(step.__struct_config__.tag) for step in getattr(question, _STEPS, ())]


def _inner(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


class _Cut:
    """Leaves out of an expected answer the optional parts that an actual one lacks."""

    def __init__(self, rule: Rule, question: Question) -> None:
        self.rule, self.ops = rule, _ops(question)
        self.left_out: dict[str, list[Any]] = {}
        """What is left out, by path."""

    def cut(self, expected: Any, actual: Any, path: str) -> Any:
        """Return the expected part at a path without what the actual part, or ``_NOTHING``, lacks."""
        nothing = actual is _NOTHING
        if isinstance(expected, dict) and (nothing or isinstance(actual, dict)):
            return {
                name: self.cut(value, _NOTHING if nothing else actual.get(name), _inner(path, name))
                for name, value in expected.items()
                if not self._lacks(() if nothing else actual, name, _inner(path, name), value)
            }
        if isinstance(expected, list) and (nothing or isinstance(actual, list)):
            paths = [_inner(path, op) for op in self.ops] if path == _STEPS else [path] * len(expected)
            others = [_NOTHING] * len(expected) if nothing else actual
            found = [self._entry(*each, in_steps=path == _STEPS) for each in zip(expected, others, paths, strict=False)]
            return [*found, *expected[len(found) :]]
        return expected

    def _entry(self, expected: Any, actual: Any, path: str, *, in_steps: bool) -> Any:
        if in_steps and _is_unsupported(expected):  # it was left out before
            return expected
        if in_steps and path in self.rule.optional_parts and (actual is _NOTHING or _is_unsupported(actual)):
            self.left_out.setdefault(path, []).append(expected)
            return {} if actual is _NOTHING else actual
        return self.cut(expected, actual, path)

    def _lacks(self, actual: Container[str], name: str, path: str, value: Any) -> bool:
        if name in actual or not _is_optional(self.rule, path):
            return False
        self.left_out.setdefault(path, []).append(value)
        return True


def _is_optional(rule: Rule, path: str) -> bool:
    """Return whether the part at a path, or a part that it is in, is optional."""
    return any(path == part or path.startswith(f"{part}.") for part in rule.optional_parts)


def _optional_parts(rule: Rule, question: Question, answer: Answer) -> frozenset[str]:
    """Return the optional parts that an answer has."""
    if not rule.optional_parts:
        return frozenset()
    cut = _Cut(rule, question)
    cut.cut(answer, _NOTHING, "")
    return frozenset(cut.left_out)


class _Fields:
    """Compares the fields of answers, of their steps and of their entries with those that the rule has."""

    def __init__(self, rule: Rule, question: Question) -> None:
        self.types, self.ops = _field_types(rule.slug), _ops(question)
        self.too_many: dict[str, None] = {}
        self.missing: dict[str, None] = {}

    @property
    def kind(self) -> str:
        """The kind of a difference of these fields alone; empty if there are none."""
        names = [clipped(harmless(name), _NAME) for name in list(self.too_many)[:_NAMES]]
        many = [f"{'one field' if len(self.too_many) == 1 else 'fields'} too many: {', '.join(names)}"]
        lacks = [f"lacks {'the field' if len(self.missing) == 1 else 'the fields'} {', '.join(self.missing)}"]
        return "; ".join((many if self.too_many else []) + (lacks if self.missing else []))

    def compare(self, expected: Answer, actual: Answer) -> tuple[Answer, Answer]:
        """Return both answers without the fields that one of them has too many, or lacks."""
        return self._object(expected, actual, "")

    def _object(self, expected: Any, actual: Any, path: str) -> tuple[Any, Any]:
        is_object = not path or path.startswith(f"{_STEPS}.") or path in self.types
        if not (isinstance(expected, dict) and isinstance(actual, dict) and is_object):
            return expected, actual
        known, required = self.types.get(path, _EMPTY_STEP)
        many = [name for name in actual if name not in known and name not in expected]
        shared = expected.keys() & actual.keys()
        lacks = [name for name in expected if name in required and name not in actual] if shared else []
        self.too_many.update(dict.fromkeys(many))
        self.missing.update(dict.fromkeys(lacks))
        ours = {name: value for name, value in expected.items() if name not in lacks}
        theirs = {name: value for name, value in actual.items() if name not in many}
        for name in ours.keys() & theirs.keys():
            if isinstance(ours[name], list) and isinstance(theirs[name], list):
                ours[name], theirs[name] = self._list(ours[name], theirs[name], _inner(path, name))
        return ours, theirs

    def _list(self, expected: Sequence[Any], actual: Sequence[Any], path: str) -> tuple[list[Any], list[Any]]:
        paths = [_inner(path, op) for op in self.ops] if path == _STEPS else [path] * len(expected)
        pairs = [self._object(*each) for each in zip(expected, actual, paths, strict=False)]
        count = len(pairs)
        return [one for one, _ in pairs] + list(expected[count:]), [one for _, one in pairs] + list(actual[count:])


@cache
def _field_types(slug: str) -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """Return the fields that a rule's answers may have, and those that they always have, by path."""
    rule = RULES[slug]
    found = {"": _fields_of(answer_type(rule))}
    for step, answer in (step_types(rule) or {}).items():
        found[f"{_STEPS}.{step.__struct_config__.tag}"] = _fields_of(struct_of(answer))
    for name, entry in entry_types(rule).items():
        found[name] = _fields_of(entry)
    return found


def _fields_of(answer: type[AnswerType]) -> tuple[frozenset[str], frozenset[str]]:
    fields = msgspec.structs.fields(answer)
    return (
        _THROWN | {field.encode_name for field in fields},
        frozenset(field.encode_name for field in fields if field.required),
    )
