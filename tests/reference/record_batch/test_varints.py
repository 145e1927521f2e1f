"""Variable-length integers: the bytes of numbers at the ends of each length, and what is too long or cut."""

from __future__ import annotations

import pytest

from kafka_reference.errors import IllegalArgumentException
from kafka_reference.record_batch.varints import read_varint, read_varlong, size_of_varint, write_varint, write_varlong

EDGES = (0, -1, 1, 63, -64, 64, -65, 8191, -8192, 8192, 2**20, 2**27 - 1, 2**27, 2**31 - 1, -(2**31))


@pytest.mark.parametrize("number", EDGES)
def test_varint_round_trip_keeps_value_in_the_predicted_size_of_at_most_5_bytes(number: int) -> None:
    written = write_varint(number)
    assert read_varint(written + b"\x05", 0) == (number, len(written))
    assert size_of_varint(number) == len(written) <= 5


@pytest.mark.parametrize("number", [*EDGES, 2**40, 2**63 - 1, -(2**63)])
def test_varlong_round_trip_keeps_value_in_at_most_10_bytes(number: int) -> None:
    written = write_varlong(number)
    assert read_varlong(b"\x05" + written, 1) == (number, 1 + len(written))
    assert len(written) <= 10


def test_varint_bytes_of_known_numbers_match_kafka() -> None:
    # ByteUtilsTest.testVarintSerde and testVarlongSerde of Kafka.
    assert [write_varint(number).hex() for number in (0, -1, 1, 63, -64, 64, -65, 2**31 - 1, -(2**31))] == [
        "00", "01", "02", "7e", "7f", "8001", "8101", "feffffff0f", "ffffffff0f",
    ]  # fmt: skip
    assert write_varlong(2**63 - 1).hex() == "feffffffffffffffff01"


def test_varint_excess_bits_are_dropped_and_excess_or_missing_bytes_throw() -> None:
    assert read_varint(b"\xff\xff\xff\xff\x7f", 0) == (-(2**31), 5)
    assert read_varlong(b"\xff" * 9 + b"\x7f", 0) == (-(2**63), 10)
    assert read_varint(b"\x82\x80\x00", 0) == (1, 3)
    with pytest.raises(IllegalArgumentException, match=r"Varint is too long.*5th byte.*ffffffff"):
        read_varint(b"\xff" * 5, 0)
    with pytest.raises(IllegalArgumentException, match=r"Varlong is too long.*10th byte.*ffffffffffffffff"):
        read_varlong(b"\xff" * 10, 0)
    for read in (read_varint, read_varlong):
        with pytest.raises(IndexError):
            read(b"\x80", 0)
