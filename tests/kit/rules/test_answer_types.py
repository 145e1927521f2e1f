"""The types of answers: the frozen cases, which Java answered, have these fields and no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import pytest

from kafka_conformance.cases.store import Case, frozen
from kafka_conformance.core.answer_type import AnswerType
from kafka_conformance.rules import RULES
from kafka_conformance.rules.answer_types import answer_type, entry_types, step_types

_THROWN = {"raises", "message"}


def cases(slug: str) -> tuple[Case, ...]:
    found = frozen(RULES[slug])
    assert found is not None
    return found.cases


def answered(slug: str) -> Iterator[tuple[Any, Any]]:
    """Each type with an answer that should be of it: of questions, and of steps."""
    rule = RULES[slug]
    steps = step_types(rule)
    for case in cases(slug):
        if set(case.answer) <= _THROWN:
            continue
        yield answer_type(rule), case.answer
        for field, kind in entry_types(rule).items():
            yield from ((kind, entry) for entry in case.answer.get(field, ()) if not set(entry) <= _THROWN)
        if steps is None:
            continue
        question: Any = case.typed_question(rule)
        for step, answer in zip(question.steps, case.answer.get("steps", ()), strict=True):
            if answer != {} and not (answer and set(answer) <= _THROWN):
                yield steps[type(step)], answer


def structs(value: Any) -> Iterator[AnswerType]:
    """The typed parts of an answer, at any depth."""
    if isinstance(value, AnswerType):
        yield value
        for field in value.__struct_fields__:
            yield from structs(getattr(value, field))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from structs(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from structs(one)


@cache
def occurring(slug: str) -> dict[type, set[str]]:
    """The types of a rule's answers with the fields that occur. Raises ValidationError for an answer of another type."""
    found: dict[type, set[str]] = defaultdict(set)
    for kind, answer in answered(slug):
        for part in structs(msgspec.convert(answer, kind, strict=True)):
            found[type(part)] |= {name for name in part.__struct_fields__ if getattr(part, name) is not msgspec.UNSET}
    return found


@pytest.mark.parametrize("slug", RULES)
def test_recorded_java_answers_of_a_rule_have_the_declared_type(slug: str) -> None:
    assert answer_type(RULES[slug]) in occurring(slug)


def test_every_field_of_an_answer_type_occurs_in_some_recorded_java_answer() -> None:
    for kind in {kind for slug in RULES for kind in occurring(slug)}:
        assert set(kind.__struct_defaults__) <= {msgspec.UNSET}, "a field of an answer is given or absent"
        names = set().union(*(occurring(slug).get(kind, set()) for slug in RULES))
        assert set(kind.__struct_fields__) == names, f"no frozen case has these fields of {kind.__name__}"


@pytest.mark.parametrize("slug", [slug for slug in RULES if step_types(RULES[slug]) is not None])
def test_every_answer_type_of_a_step_occurs_in_recorded_java_answers(slug: str) -> None:
    steps = step_types(RULES[slug])
    assert steps is not None
    assert set(map(str, steps.values())) <= {str(kind) for kind, _ in answered(slug)}
