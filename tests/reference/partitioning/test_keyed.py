"""What ``BuiltInPartitioner.partitionForKey`` of kafka-clients 4.4.0 answered."""

from __future__ import annotations

import pytest

from kafka_reference.errors import ArithmeticException, NullPointerException
from kafka_reference.partitioning.keyed import partition_for_key

INT_MAX = 2147483647
COUNTS = (1, 2, 3, 12, 1000, INT_MAX, -1, -7, -INT_MAX - 1)
# "foobar" hashes below zero, the last key to 0x80000000.
JAVA: dict[bytes, tuple[int, ...]] = {
    b"foo": (0, 0, 2, 8, 616, 597841616, 0, 1, 597841616),
    b"home": (0, 0, 1, 10, 426, 1521592426, 0, 4, 1521592426),
    b"": (0, 1, 0, 9, 681, 275646681, 0, 2, 275646681),
    b"foobar": (0, 0, 0, 6, 166, 1357151166, 0, 0, 1357151166),
    bytes.fromhex("a7d6506c"): (0, 0, 0, 0, 0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("key", JAVA)
def test_partition_for_key_matches_java_for_each_key_and_count(key: bytes) -> None:
    assert tuple(partition_for_key(key, count) for count in COUNTS) == JAVA[key]


def test_partition_for_key_without_partitions_throws_arithmetic_exception() -> None:
    with pytest.raises(ArithmeticException) as raised:
        partition_for_key(b"foo", 0)
    assert isinstance(raised.value, ZeroDivisionError)


@pytest.mark.parametrize("count", [12, 0, -1])
def test_null_key_throws_npe_for_any_partition_count(count: int) -> None:
    with pytest.raises(NullPointerException):
        partition_for_key(None, count)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [INT_MAX + 1, -INT_MAX - 2, 10**20])
def test_partition_count_beyond_java_int_raises_value_error(count: int) -> None:
    with pytest.raises(ValueError, match=f"is {count}: expected a Java int, -2147483648 to 2147483647"):
        partition_for_key(b"foo", count)


def test_str_key_is_refused_with_hint_to_encode() -> None:
    with pytest.raises(TypeError, match="encode it"):
        partition_for_key("foo", 12)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", ["12", None, [12]])
def test_partition_count_that_is_not_a_number_raises_type_error(count: object) -> None:
    with pytest.raises(TypeError):
        partition_for_key(b"foo", count)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [12.0, 2.5])
def test_partition_count_of_type_float_raises_type_error(count: float) -> None:
    with pytest.raises(TypeError):
        partition_for_key(b"foo", count)  # type: ignore[arg-type]
