"""Histories, made once for all tests of this folder."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.core.sources import collect
from kafka_conformance.rules.record_accumulator.rule import RULE


@pytest.fixture(scope="session")
def histories() -> list[Any]:
    """Generated histories; the same for every test, so that they are generated once."""
    return collect(RULE, 300, 3)
