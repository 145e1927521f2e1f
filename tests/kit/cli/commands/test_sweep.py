"""``sweep``: what its options ask for."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from kafka_conformance.cli.commands import sweep
from kafka_conformance.rules import RULES
from kafka_reference.releases import NEWEST


def test_sweep_longest_option_changes_the_plan_of_random_keys() -> None:
    def plan(**given: int) -> object:
        wanted = {"every": -1, "keys": 100, "longest": 9, "scripts": 0, "seed": 1, **given}
        (part,) = sweep._parts([RULES["murmur2"]], [NEWEST], **wanted)
        return part.work.plan()

    assert plan(longest=9) == plan()
    assert plan(longest=3) != plan()
