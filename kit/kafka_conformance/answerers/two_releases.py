"""Java of a known release and of an unknown one, each rule of the latter in a separate class loader.

The unknown release is asked with the Java class of the oracle that the known one has. It is opened again for each rule: a
class that it lacks fails only the rule that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from kafka_conformance.answerers.java import JavaAnswerer
from kafka_conformance.core.protocol import Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_conformance.oracle.oracle import Oracle
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release, Spans

__all__ = ["TwoReleases"]

_EVERY_RELEASE = Spans(((Release((0,)), None),))


@dataclass(frozen=True, slots=True)
class TwoReleases:
    """Answers for ``known`` by ``oracle``, and for ``unknown`` by a separate oracle for each rule."""

    oracle: Oracle
    known: Release
    unknown: Release
    name: str = "java"
    _oracles: dict[str, Oracle] = field(default_factory=dict)

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> Sequence[Outcome]:
        """Return the outcomes, one for each question.

        Raises OracleFault, WrongRelease or JarError if the release cannot be opened for this rule; JvmLost.
        """
        if release != self.unknown:
            return JavaAnswerer(self.oracle).answer(rule, release, questions)
        if rule.by_parts is not None:
            return rule.by_parts(self._ask_part, release, questions)
        return JavaAnswerer(self._oracle_of(rule)).answer(self._as_known(rule), release, questions)

    def close(self) -> None:
        """Unload what is open of the unknown release, to free its memory before the next rule."""
        for oracle in self._oracles.values():
            oracle.close_release(str(self.unknown))
        self._oracles.clear()

    def _ask_part(self, slug: str, parts: Sequence[dict[str, Any]]) -> Sequence[Outcome]:
        rule = RULES[slug]
        return self.answer(rule, self.unknown, [msgspec.convert(part, type=rule.question) for part in parts])

    def _oracle_of(self, rule: Rule) -> Oracle:
        if rule.slug not in self._oracles:
            java_class = rule.java_class(self.known)
            classes = {} if java_class is None else {rule.slug: java_class}
            self._oracles[rule.slug] = self.oracle.beside(lambda _: classes)
        return self._oracles[rule.slug]

    def _as_known(self, rule: Rule) -> Rule:
        """Return the rule as if the unknown release had the Java class that the known one has."""
        java_class = rule.java_class(self.known)
        return replace(rule, java=() if java_class is None else ((_EVERY_RELEASE, java_class),))
