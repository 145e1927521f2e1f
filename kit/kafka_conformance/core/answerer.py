"""An answerer: the reference, the real Java of a release, a mutant, or an implementation under test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafka_conformance.core.protocol import Outcome, Question
from kafka_conformance.core.rule import Rule
from kafka_reference.releases import Release

__all__ = ["Answerer"]


class Answerer(Protocol):
    """Answers a batch of questions about one rule in one release, one outcome for each, in order."""

    @property
    def name(self) -> str:
        """The name of the answerer in reports."""
        ...

    def answer(self, rule: Rule, release: Release, questions: Sequence[Question]) -> Sequence[Outcome]:
        """Return the outcomes."""
        ...
