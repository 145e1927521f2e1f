"""Who judges a block of a sweep, on an executor: what keys and scripts have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kafka_conformance.answerers.mutant import mutant_answerer
from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.core.answerer import Answerer
from kafka_conformance.core.errors import WrongRelease
from kafka_conformance.core.rule import Rule
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release, parse_release

__all__ = ["REFERENCE", "Judging"]

REFERENCE = "reference"


@dataclass(frozen=True)
class Judging:
    """For which part, rule and release, and who: the reference or a mutant. At most ``wanted`` questions are kept."""

    part: int
    rule_slug: str
    version: str
    sha256: str
    who: str
    wanted: int
    kills: bool

    @cached_property
    def rule(self) -> Rule:
        """The rule."""
        return RULES[self.rule_slug]

    @cached_property
    def release(self) -> Release:
        """The release that has to answer."""
        return parse_release(self.version)

    @cached_property
    def judged(self) -> Answerer:
        """The one who is held to Java's answers."""
        return ReferenceAnswerer() if self.who == REFERENCE else mutant_answerer(self.who.removeprefix("mutant:"))

    def hold_to_release(self, who: str) -> None:
        """``who`` is the release and the sha256 of the jar, as the executor read them back. Raises WrongRelease."""
        if who != f"{self.version} {self.sha256}":
            raise WrongRelease(f"release {self.version} with sha256 {self.sha256} was sent, and {who} answered")
