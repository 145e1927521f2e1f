"""Stretches are counted in different keys."""

from __future__ import annotations

import numpy as np

from kafka_conformance.audit.attribution.key_runs import inside, longest


def flags(text: str) -> np.ndarray:
    return np.array([character == "1" for character in text], np.uint8)


def marked(text: str, wanted: int, ids: list[int] | None = None) -> str:
    given = np.array(ids if ids is not None else range(len(text)), np.uint64)
    return "".join("#" if one else "." for one in inside(flags(text), given, wanted))


def test_interior_of_a_run_excludes_the_given_number_of_distinct_keys_at_each_end() -> None:
    assert marked("0111111100", 2) == "...###...."
    assert marked("011100", 2) == "......"
    assert marked("0111100", 2) == "......."
    assert marked("01111100", 2) == "...#...."


def test_run_at_a_column_edge_is_not_trimmed_there_unless_shorter_than_both_trims() -> None:
    assert marked("111110", 2) == "###..."
    assert marked("011111", 2) == "...###"
    assert marked("1111", 2) == "####"
    assert marked("111", 2) == "..."
    assert marked("", 2) == ""


def test_repeated_key_counts_once_when_run_ends_are_trimmed() -> None:
    assert marked("0111111110", 2, [0, 7, 7, 7, 7, 7, 7, 7, 7, 1]) == ".........."
    assert marked("01111111110", 2, [0, 1, 1, 1, 2, 3, 4, 5, 5, 6, 0]) == ".....###..."


def test_longest_run_is_measured_in_distinct_keys() -> None:
    assert longest(flags("0110111010"), np.arange(10, dtype=np.uint64)) == 3
    assert longest(flags("1111011"), np.array([5, 5, 5, 5, 0, 1, 2], np.uint64)) == 2  # not the longer one, of one key
    assert longest(flags("000"), np.arange(3, dtype=np.uint64)) == 0
