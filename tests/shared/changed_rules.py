"""Which rule a test is about, so that ``pytest -m exhaustive --changed`` leaves out the rules that have not changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES

__all__ = ["rule_of", "without_unchanged"]


def rule_of(parameters: Iterable[object]) -> str | None:
    """Return the slug of the rule that a test's parameters name: a rule, its slug, or one of its mutants."""
    for value in parameters:
        if isinstance(value, Mutant):
            return value.rule
        if isinstance(value, Rule):
            return value.slug
        if isinstance(value, str) and value in RULES:
            return value
    return None


def without_unchanged(
    items: Iterable[pytest.Item], unchanged: Collection[str]
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests to run and those to leave out: the tests of rules that are ``unchanged``, but for one of each kind.

    One test of each function is kept: it proves that what the tests call still works.
    """
    kept, left_out, seen = list[pytest.Item](), list[pytest.Item](), set[str]()
    for item in items:
        call = getattr(item, "callspec", None)
        function = item.nodeid.partition("[")[0]
        if call is None or rule_of(call.params.values()) not in unchanged or function not in seen:
            kept.append(item)
            seen.add(function)
        else:
            left_out.append(item)
    return kept, left_out
