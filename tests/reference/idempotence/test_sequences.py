from __future__ import annotations

import pytest

from kafka_reference.idempotence.sequences import added, decrement, increment, next_after
from kafka_reference.releases import release

MOST, LEAST = 2**31 - 1, -(2**31)


@pytest.mark.parametrize(
    ("sequence", "by", "later"),
    [(0, 1, 1), (MOST - 1, 1, MOST), (MOST, 1, 0), (MOST - 1, 3, 1), (5, 0, 5), (MOST, MOST, MOST - 1)],
)
def test_after_the_highest_comes_zero_and_back_again(sequence: int, by: int, later: int) -> None:
    assert increment(sequence, by) == later
    assert decrement(later, by) == sequence


def test_plain_addition_goes_negative() -> None:
    assert added(MOST, 1) == LEAST
    assert added(LEAST, -1) == MOST


@pytest.mark.parametrize(("version", "following"), [("0.11.0.3", LEAST), ("2.1.0", LEAST), ("2.1.1", 0), ("4.4.0", 0)])
def test_the_next_sequence_goes_round_since_2_1_1(version: str, following: int) -> None:
    assert next_after(release(version), MOST, 1) == following
