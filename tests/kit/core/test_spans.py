"""Runs: what is chosen, as far as nothing else stands between."""

from __future__ import annotations

import pytest

from kafka_conformance.core.spans import runs


@pytest.mark.parametrize(
    ("chosen", "found"),
    [("", []), ("a", ["a"]), ("abc", ["abc"]), ("ac", ["a", "c"]), ("bde", ["b", "de"]), ("x", [])],
)
def test_runs_split_at_elements_that_are_not_chosen(chosen: str, found: list[str]) -> None:
    assert ["".join(run) for run in runs(set(chosen), "abcde")] == found
