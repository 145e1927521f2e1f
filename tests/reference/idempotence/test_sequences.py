"""Steps of sequence numbers: as Java's ints compute them, and modulo 2^31 among sequence numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_reference.idempotence.sequences import LAST_SEQUENCE, added, decrement, increment

LEAST = -(2**31)
NUMBERS = st.integers(0, LAST_SEQUENCE)


# As the real class answered, in 0.11.0.0 and 4.4.0 alike.
@pytest.mark.parametrize(
    ("sequence", "by", "after"),
    [
        (0, 0, 0),
        (LAST_SEQUENCE, 0, LAST_SEQUENCE),
        (LAST_SEQUENCE, 1, 0),
        (LAST_SEQUENCE - 1, 3, 1),
        (LAST_SEQUENCE - 1, 1, LAST_SEQUENCE),
        (LAST_SEQUENCE, LAST_SEQUENCE, LAST_SEQUENCE - 1),
        (0, -1, LAST_SEQUENCE),
        (5, -1, -2147483644),
        (-1, 1, 0),
        (LEAST, LEAST, 0),
    ],
)
def test_sequence_increment_wraps_like_java_int_arithmetic(sequence: int, by: int, after: int) -> None:
    assert increment(sequence, by) == after


@pytest.mark.parametrize(
    ("sequence", "by", "before"),
    [
        (0, 0, 0),
        (0, 1, LAST_SEQUENCE),
        (1, 1, 0),
        (0, LAST_SEQUENCE, 1),
        (LAST_SEQUENCE, LAST_SEQUENCE, 0),
        (5, 7, LAST_SEQUENCE - 1),
        (0, -1, 1),
        (-1, 0, LAST_SEQUENCE),
        (-1, -1, 0),
        (LEAST, 0, 0),
        (LAST_SEQUENCE, -1, LEAST),
        (0, LEAST, LEAST),
    ],
)
def test_sequence_decrement_wraps_like_java_int_arithmetic(sequence: int, by: int, before: int) -> None:
    assert decrement(sequence, by) == before


def test_unchecked_sequence_addition_past_the_maximum_is_negative() -> None:
    assert added(LAST_SEQUENCE, 1) == LEAST
    assert added(LEAST, -1) == LAST_SEQUENCE


@given(NUMBERS, NUMBERS)
def test_sequence_arithmetic_is_modulo_two_to_the_31(sequence: int, by: int) -> None:
    assert increment(sequence, by) == (sequence + by) % 2**31
    assert decrement(sequence, by) == (sequence - by) % 2**31


@given(NUMBERS, NUMBERS)
def test_increment_and_decrement_are_inverse_for_sequences(sequence: int, by: int) -> None:
    assert decrement(increment(sequence, by), by) == sequence == increment(decrement(sequence, by), by)


@given(st.integers(LEAST, LAST_SEQUENCE), st.integers(LEAST, LAST_SEQUENCE))
def test_sequence_arithmetic_of_any_java_int_stays_in_int_range(sequence: int, by: int) -> None:
    for step in (added, increment, decrement):
        assert LEAST <= step(sequence, by) <= LAST_SEQUENCE
    assert (added(sequence, by) - sequence - by) % 2**32 == 0
