"""The comparison of one block of a sweep, on an executor: what keys and scripts have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kafka_conformance.answerers.names import reference_or_mutant
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import WrongRelease
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release, parse_release

__all__ = ["BlockComparison"]


@dataclass(frozen=True)
class BlockComparison:
    """Compares a block of a part with Java's answers: a rule, a release, and the name of the answerer under test.

    At most ``wanted`` questions that differ are kept; with ``kills``, questions that kill a mutant are too.
    """

    part: int
    rule_slug: str
    version: str
    sha256: str
    actual: str
    wanted: int
    kills: bool

    @cached_property
    def rule(self) -> Rule:
        """The rule."""
        return RULES[self.rule_slug]

    @cached_property
    def release(self) -> Release:
        """The release that must answer."""
        return parse_release(self.version)

    @cached_property
    def answerer(self) -> Answerer:
        """The answerer that is compared with Java."""
        return reference_or_mutant(self.actual)

    def check_release(self, answered_by: str) -> None:
        """Check the release and the sha256 of the jar, as the executor read them back. Raises WrongRelease."""
        if answered_by != f"{self.version} {self.sha256}":
            raise WrongRelease(f"release {self.version} with sha256 {self.sha256} was sent, and {answered_by} answered")
