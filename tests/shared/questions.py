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


_LARGEST = {
    "broker-producer-state": 200, "builtin-partitioner": 1000, "consumer-fetch": 500, "delivery": 200, "high-watermark": 500,
    "isr": 500, "log-segment": 1500, "murmur2": 600, "offset-index": 1500,
    "partition-for-key": 1000, "produce-acks": 500, "producer-sequences": 150, "range-assignor": 600, "record-batch": 600,
    "record-sizes": 600, "time-index": 1500,
}  # fmt: skip
"""The most questions of a rule that a test takes, if not 300: generated at once, since generating takes most of the time."""
_FEW = 120
"""Up to this number are generated separately: tests of all rules may run in another process than those of one rule."""


def generated(slug: str, count: int) -> tuple[Any, ...]:
    """Return the first ``count`` of the questions that the rule's strategy generates from seed 7."""
    return _generated(slug, _FEW if count <= _FEW else max(count, _LARGEST.get(slug, 300)))[:count]


@cache
def _generated(slug: str, count: int) -> tuple[Any, ...]:
    return tuple(collect(RULES[slug], count, 7))


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
