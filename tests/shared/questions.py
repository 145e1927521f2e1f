"""Questions, the reference's answers and frozen cases that several tests use, made once in each test process."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from kafka_conformance.answerers.reference import ReferenceAnswerer
from kafka_conformance.cases.store import Frozen, frozen
from kafka_conformance.core.protocol import Outcome
from kafka_conformance.core.sources import collect
from kafka_conformance.rules import RULES
from kafka_reference.releases import Release


@cache
def space_questions(slug: str) -> tuple[Any, ...]:
    """Return every question of the rule's spaces."""
    return tuple(question for space in RULES[slug].spaces for question in space.questions())


@cache
def generated(slug: str, count: int, seed: int = 7) -> tuple[Any, ...]:
    """Return ``count`` questions that the rule's strategy generates from this seed."""
    return tuple(collect(RULES[slug], count, seed))


@cache
def space_outcomes(slug: str, release: Release) -> tuple[Outcome, ...]:
    """Return the reference's outcomes of ``space_questions``."""
    return tuple(ReferenceAnswerer().answer(RULES[slug], release, space_questions(slug)))


@cache
def shipped_cases(slug: str) -> Frozen:
    """Return the rule's frozen cases that ship."""
    found = frozen(RULES[slug])
    assert found is not None, f"no frozen cases of {slug}"
    return found


def missing_labels(slug: str, questions: Iterable[Any], required: Iterable[str] | None = None) -> set[str]:
    """Return the required labels that none of these questions has, by default the rule's."""
    missing = set(RULES[slug].required_labels if required is None else required)
    for question in questions:
        missing.difference_update(RULES[slug].labels(question))
        if not missing:
            break
    return missing
