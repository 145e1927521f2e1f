"""The types of a rule's answers, discovered by package: ``rules/<package>/answer.py``.

A rule whose steps are classes (``core.step``) has no such file: each of its steps has the type of its answer.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace, UnionType
from typing import Any, get_args, get_type_hints

from kafka_conformance import rules
from kafka_conformance.core.answer_type import AnswerType, StepTypes
from kafka_conformance.core.rule import Rule
from kafka_conformance.core.step import Step
from kafka_conformance.rules.common.partitioner_answers import ScriptAnswer

__all__ = ["answer_type", "answer_types", "entry_types", "step_types", "struct_of"]


def answer_type(rule: Rule) -> type[AnswerType]:
    """Return the type of the answer to a question that does not throw."""
    found: type[AnswerType] = _module(rule).ANSWER
    return found


def step_types(rule: Rule) -> StepTypes | None:
    """Return the types of the answers to steps, by the type of the step; None for a rule without steps."""
    found: StepTypes | None = getattr(_module(rule), "STEPS", None)
    return found


def entry_types(rule: Rule) -> dict[str, type[AnswerType]]:
    """Return the types of the entries of lists that also hold exceptions, by the field of the answer."""
    found: dict[str, type[AnswerType]] = getattr(_module(rule), "ENTRIES", {})
    return found


def struct_of(answer: type[AnswerType] | UnionType) -> type[AnswerType]:
    """Return the type of a step's answer, without the null that may stand for it."""
    kinds: tuple[Any, ...] = get_args(answer) or (answer,)
    found: type[AnswerType] = next(one for one in kinds if one is not type(None))
    return found


def answer_types(rule: Rule) -> list[type[AnswerType]]:
    """Return the type of the answer to a question, then those of the answers to steps."""
    return [answer_type(rule), *map(struct_of, (step_types(rule) or {}).values())]


def _module(rule: Rule) -> ModuleType | SimpleNamespace:
    """Return what has the types of a rule's answers as ``ANSWER``, ``STEPS`` and ``ENTRIES``."""
    name = f"{rules.__name__}.{rule.slug.replace('-', '_')}.answer"
    if find_spec(name) is not None:
        return import_module(name)
    kinds: tuple[type[Step], ...] = get_args(get_args(get_type_hints(rule.question)["steps"])[0])
    return SimpleNamespace(ANSWER=ScriptAnswer, STEPS={kind: kind.answer for kind in kinds if kind.answer is not None})
