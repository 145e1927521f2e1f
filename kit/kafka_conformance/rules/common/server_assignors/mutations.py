"""Ways to make a mutant of a server-side assignor: another part of the reference, another behaviour, another group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from kafka_conformance.core.mutant import Ask
from kafka_conformance.core.protocol import Answer
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules.common.server_assignors import adapter
from kafka_conformance.rules.common.server_assignors.question import ServerAssignorQuestion
from kafka_reference.assignment.server.group import Group
from kafka_reference.behaviour import Behaviour, overridden
from kafka_reference.releases import Release

__all__ = ["PULL", "Mutations", "forgetful"]

PULL = "https://github.com/apache/kafka/pull/"


class Mutations:
    """Mutants of one rule."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule

    def replaced(self, target: Any, **mistakes: Any) -> Ask:
        """Return the rule, with other attributes in a module or class of the reference."""

        def ask(question: Any, release: Release) -> Answer:
            with patch.multiple(target, **mistakes):
                return self._rule.ask(question, release)

        return ask

    def behaving(self, record: type[Behaviour], **fields: Any) -> Ask:
        """Return the rule, with other values in a behaviour record."""

        def ask(question: Any, release: Release) -> Answer:
            with overridden(record, **fields):
                return self._rule.ask(question, release)

        return ask

    def grouped(self, change: Callable[[Group], Group]) -> Ask:
        """Return the rule, for a group that is changed on the way to the assignor."""
        original = adapter.group_of
        return self.replaced(adapter, group_of=lambda *arguments: change(original(*arguments)))

    def asked(self, change: Callable[[ServerAssignorQuestion], ServerAssignorQuestion]) -> Ask:
        """Return the rule, for a changed question."""
        return lambda question, release: self._rule.ask(change(question), release)


def forgetful(question: ServerAssignorQuestion) -> ServerAssignorQuestion:
    """Return the question without the last target assignment."""
    return replace(question, members=tuple(replace(member, assigned=()) for member in question.members))
