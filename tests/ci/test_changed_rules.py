"""Tests that ``--changed`` leaves out: those of rules that have not changed, but for one of each function."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from changed_rules import rules_of, without_unchanged
from historical_bugs import Bug

from kafka_conformance.rules import RULES
from kafka_conformance.rules.mutants import mutant_named


def _item(name: str, *about: str, **parameters: object) -> Any:
    marker = SimpleNamespace(args=about) if about else None
    item = SimpleNamespace(nodeid=name, get_closest_marker={"about": marker}.get)
    if parameters:
        item.callspec = SimpleNamespace(params=parameters)
    return item


@pytest.mark.parametrize(
    ("parameters", "rules"),
    [
        ([mutant_named("time-index-rounds-up")], {"time-index"}),
        ([RULES["murmur2"]], {"murmur2"}),
        (["4.4.0", "isr"], {"isr"}),
        ([Bug("sign", "is lost", dict.fromkeys(("murmur2", "isr"), cast("Any", None)))], {"murmur2", "isr"}),
        (["4.4.0", 7], set()),
    ],
)
def test_rules_of_a_test_are_found_in_the_pytest_parameters(parameters: list[object], rules: set[str]) -> None:
    assert rules_of(parameters) == rules


def test_changed_option_deselects_tests_whose_about_marker_names_only_unchanged_rules() -> None:
    items = [
        _item("a.py::test_alone", "murmur2"),
        _item("a.py::test_both", "murmur2", "isr"),
        _item("a.py::test_each[isr]", "isr", slug="isr"),
        _item("a.py::test_each[murmur2]", "murmur2", slug="murmur2"),
    ]
    kept, _ = without_unchanged(cast("list[pytest.Item]", items), {"murmur2", "time-index"})
    assert [item.nodeid for item in kept] == ["a.py::test_both", "a.py::test_each[isr]"]


def test_changed_option_keeps_the_first_test_of_each_unmarked_function_for_unchanged_rules() -> None:
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
