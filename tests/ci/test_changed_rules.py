"""Tests that ``--changed`` leaves out: those of rules that have not changed, but for one of each function."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from changed_rules import rule_of, without_unchanged

from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import mutant_named


def _item(name: str, **parameters: object) -> Any:
    call = SimpleNamespace(params=parameters) if parameters else None
    return SimpleNamespace(nodeid=name, callspec=call) if call else SimpleNamespace(nodeid=name)


@pytest.mark.parametrize(
    ("parameters", "rule"),
    [
        ([mutant_named("time-index-rounds-up")], "time-index"),
        ([RULES["murmur2"]], "murmur2"),
        (["4.4.0", "isr"], "isr"),
        (["4.4.0", 7], None),
    ],
)
def test_the_rule_of_a_test(parameters: list[object], rule: str | None) -> None:
    assert rule_of(parameters) == rule


def test_one_test_of_each_function_is_kept() -> None:
    items = [
        _item("a.py::test_one[murmur2]", slug="murmur2"),
        _item("a.py::test_one[isr]", slug="isr"),
        _item("a.py::test_one[time-index]", slug="time-index"),
        _item("a.py::test_other[time-index]", slug="time-index"),
        _item("a.py::test_alone"),
        _item("a.py::test_number[1]", number=1),
        _item("a.py::test_number[2]", number=2),
    ]
    kept, left_out = without_unchanged(cast("list[pytest.Item]", items), {"murmur2", "time-index"})
    assert [item.nodeid for item in left_out] == ["a.py::test_one[time-index]"]
    assert len(kept) == len(items) - 1
