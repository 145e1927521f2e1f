"""Runs: what is chosen, as far as nothing else stands between."""

from __future__ import annotations

import pytest

from kafka_conformance.core.spans import runs


@pytest.mark.parametrize(
    ("chosen", "found"),
    [("", []), ("a", ["a"]), ("abc", ["abc"]), ("ac", ["a", "c"]), ("bde", ["b", "de"]), ("x", [])],
)
def test_chosen_elements_are_grouped_into_runs_of_consecutive_elements(chosen: str, found: list[str]) -> None:
    assert ["".join(run) for run in runs(set(chosen), "abcde")] == found
