"""Stretches are counted in different keys."""

from __future__ import annotations

import numpy as np

from kafka_conformance.audit.attribution.stretches import inside, longest


def flags(text: str) -> np.ndarray:
    return np.array([character == "1" for character in text], np.uint8)


def marked(text: str, wanted: int, ids: list[int] | None = None) -> str:
    given = np.array(ids if ids is not None else range(len(text)), np.uint64)
    return "".join("#" if one else "." for one in inside(flags(text), given, wanted))


def test_what_is_inside_lies_so_many_keys_from_either_end() -> None:
    assert marked("0111111100", 2) == "...###...."
    assert marked("011100", 2) == "......"
    assert marked("0111100", 2) == "......."
    assert marked("01111100", 2) == "...#...."


def test_nothing_is_taken_off_where_the_flags_begin_or_end() -> None:
    assert marked("111110", 2) == "###..."
    assert marked("011111", 2) == "...###"
    assert marked("1111", 2) == "####"
    assert marked("111", 2) == "..."
    assert marked("", 2) == ""


def test_the_same_key_again_is_no_further_one() -> None:
    assert marked("0111111110", 2, [0, 7, 7, 7, 7, 7, 7, 7, 7, 1]) == ".........."
    assert marked("01111111110", 2, [0, 1, 1, 1, 2, 3, 4, 5, 5, 6, 0]) == ".....###..."


def test_longest_stretch_counts_distinct_keys() -> None:
    assert longest(flags("0110111010"), np.arange(10, dtype=np.uint64)) == 3
    assert longest(flags("1111011"), np.array([5, 5, 5, 5, 0, 1, 2], np.uint64)) == 2  # not the longer one, of one key
    assert longest(flags("000"), np.arange(3, dtype=np.uint64)) == 0
