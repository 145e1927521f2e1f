"""Histories and the reference's answers to them, made once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_conformance.core.mutant import Mutant
from kafka_conformance.core.sources import collect
from kafka_conformance.rules.record_accumulator.question import RecordAccumulatorQuestion
from kafka_conformance.rules.record_accumulator.rule import RULE
from kafka_reference.errors import NotInThisRelease


@pytest.fixture(scope="session")
def histories() -> list[Any]:
    """Generated histories; the same for every test, so that they are generated once."""
    return list(collect(RULE, 2000, 3))


@pytest.fixture(scope="session")
def differs() -> Callable[[Mutant, RecordAccumulatorQuestion], bool]:
    """Whether a mutant answers a question differently; the reference answers each question once for each release."""
    expected: dict[tuple[int, str], tuple[RecordAccumulatorQuestion, Any]] = {}

    def ask(mutant: Mutant, question: RecordAccumulatorQuestion) -> bool:
        key = id(question), str(mutant.at)
        try:
            if key not in expected:
                expected[key] = question, RULE.ask(question, mutant.at)
            return bool(mutant.ask(question, mutant.at) != expected[key][1])
        except NotInThisRelease:
            return False

    return ask
