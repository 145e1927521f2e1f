"""Which rules a test is about, so that ``pytest -m exhaustive --changed`` leaves out the rules that have not changed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import pytest
from historical_bugs import Bug

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES

__all__ = ["rules_of", "without_unchanged"]


def rules_of(parameters: Iterable[object]) -> set[str]:
    """Return the slugs of the rules that a test's parameters name: a rule, its slug, a mutant, or a mistake of a port."""
    found = set[str]()
    for value in parameters:
        if isinstance(value, Mutant):
            found.add(value.rule)
        elif isinstance(value, Rule):
            found.add(value.slug)
        elif isinstance(value, Bug):
            found.update(value.asks)
        elif isinstance(value, str) and value in RULES:
            found.add(value)
    return found


def without_unchanged(
    items: Iterable[pytest.Item], unchanged: Collection[str]
) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests to run and those to leave out: the tests of rules that are ``unchanged``, but for one of each kind.

    One test of each function is kept: it proves that what the tests call still works. A test marked ``about(RULE, …)``
    proves something of these rules alone, and is left out like the others.
    """
    kept, left_out, seen = list[pytest.Item](), list[pytest.Item](), set[str]()
    for item in items:
        call, about = getattr(item, "callspec", None), item.get_closest_marker("about")
        rules = set(about.args) if about else rules_of(call.params.values()) if call is not None else set[str]()
        function = item.nodeid.partition("[")[0]
        if rules and rules <= set(unchanged) and (about or function in seen):
            left_out.append(item)
        else:
            kept.append(item)
            seen.add(function)
    return kept, left_out
