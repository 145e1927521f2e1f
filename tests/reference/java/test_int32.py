from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_reference.java.int32 import INT_MAX, INT_MIN, int32, uint32


@pytest.mark.parametrize(
    ("number", "wrapped"),
    [
        (0, 0),
        (-1, -1),
        (INT_MAX, INT_MAX),
        (INT_MAX + 1, INT_MIN),
        (INT_MIN, INT_MIN),
        (INT_MIN - 1, INT_MAX),
        (2 * INT_MAX, -2),
        (2**32, 0),
        (31 * INT_MAX, 31 * INT_MAX - 15 * 2**32),
    ],
)
def test_int32_wraps_at_32_bits_like_java_int(number: int, wrapped: int) -> None:
    assert int32(number) == wrapped


@given(st.integers())
def test_int32_and_uint32_of_a_number_have_equal_bits(number: int) -> None:
    assert INT_MIN <= int32(number) <= INT_MAX
    assert 0 <= uint32(number) < 2**32
    assert (int32(number) - number) % 2**32 == (uint32(number) - number) % 2**32 == 0
