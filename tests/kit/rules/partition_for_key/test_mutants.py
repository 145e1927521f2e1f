from __future__ import annotations

import pytest

from kafka_conformance.rules.partition_for_key.mutants import remainder
from kafka_reference.java.int32 import INT_MIN


# JLS 15.17.3: 5 % 3, 5 % -3, -5 % 3, -5 % -3; and Integer.MIN_VALUE % -1.
@pytest.mark.parametrize(
    ("dividend", "divisor", "rest"), [(5, 3, 2), (5, -3, 2), (-5, 3, -2), (-5, -3, -2), (INT_MIN, -1, 0)]
)
def test_java_remainder_has_the_sign_of_the_dividend(dividend: int, divisor: int, rest: int) -> None:
    assert remainder(dividend, divisor) == rest
