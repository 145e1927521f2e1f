"""Ways to put a mistake into an assignor of the reference while it answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from unittest.mock import patch

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.protocol import Answer
from kafka_conformance.rules import RULES
from kafka_reference.assignment.members import Member, java_order
from kafka_reference.behaviour import Behaviour, overridden
from kafka_reference.releases import Release

__all__ = ["but", "by_code_points", "instance_or_id", "last_runs", "with_behaviour"]


def but(rule: str, target: Any, **mistakes: Any) -> Ask:
    """The rule, with other attributes in a module or class of the reference."""

    def ask(question: Any, release: Release) -> Answer:
        with patch.multiple(target, **mistakes):
            return RULES[rule].ask(question, release)

    return ask


def with_behaviour(rule: str, record: type[Behaviour], **fields: Any) -> Ask:
    """The rule, with other values in a behaviour record."""

    def ask(question: Any, release: Release) -> Answer:
        with overridden(record, **fields):
            return RULES[rule].ask(question, release)

    return ask


def by_code_points(members: Sequence[Member], _: bool) -> list[Member]:
    """Members in order, compared by code points and not by UTF-16 units."""
    return sorted(members, key=lambda one: (one.instance is None, one.id if one.instance is None else one.instance))


def instance_or_id(members: Sequence[Member], _: bool) -> list[Member]:
    """Members by instance or else by member id, static and dynamic ones mixed."""
    return sorted(members, key=lambda one: java_order(one.instance or one.id))


def last_runs(members: Sequence[Member], _: bool) -> list[Member]:
    """Static members in order, then dynamic ones; where the two alternate, only the last of each that stand together."""
    runs = {static: list(run) for static, run in groupby(members, lambda one: one.instance is not None)}
    return by_code_points([*runs.get(True, []), *runs.get(False, [])], True)
