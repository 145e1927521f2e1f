from __future__ import annotations

import pytest

from kafka_reference.java.int64 import int64


@pytest.mark.parametrize(
    ("number", "wrapped"),
    [
        (0, 0),
        (-1, -1),
        (2**63 - 1, 2**63 - 1),
        (2**63, -(2**63)),
        (-(2**63) - 1, 2**63 - 1),
        (2**64 + 5, 5),
    ],
)
def test_int64_wraps_at_64_bits_like_java_long(number: int, wrapped: int) -> None:
    assert int64(number) == wrapped
