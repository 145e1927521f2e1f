from __future__ import annotations

import pytest

from kafka_reference.errors import IllegalArgumentException, IllegalStateException
from kafka_reference.log_files.errors import (
    BufferOverflowException,
    CorruptIndexException,
    IndexOffsetOverflowException,
    InvalidOffsetException,
)
from kafka_reference.log_files.time_index import TimeIndex


def filled(size: int = 48, version: str = "4.4.0") -> TimeIndex:
    index = TimeIndex(50, size, version=version)
    index.maybe_append(1000, 55)
    index.maybe_append(2000, 60)
    return index


def test_time_index_lookup_finds_last_entry_not_newer() -> None:
    found = [filled().lookup(timestamp) for timestamp in (999, 1000, 1999, 2000, 9999)]
    assert found == [(-1, 50), (1000, 55), (1000, 55), (2000, 60), (2000, 60)]


def test_last_slot_of_time_index_is_reserved_for_append_at_roll() -> None:
    index = filled(36)
    with pytest.raises(IllegalArgumentException, match="full time index"):
        index.maybe_append(3000, 70)
    index.maybe_append(3000, 70, True)
    with pytest.raises(BufferOverflowException):
        index.maybe_append(4000, 80, True)


def test_time_index_ignores_append_of_equal_timestamp_and_throws_for_smaller_timestamp_or_offset() -> None:
    index = filled()
    index.maybe_append(2000, 99)
    assert index.last_entry == (2000, 60)
    with pytest.raises(InvalidOffsetException, match=r"offset \(59\) to slot 2 no larger"):
        index.maybe_append(3000, 59)
    with pytest.raises(IllegalStateException, match=r"timestamp \(1999\) to slot 2 no larger"):
        index.maybe_append(1999, 60)


def test_time_index_append_after_failed_append_of_overflowing_offset_throws_illegal_state() -> None:
    index = filled()
    with pytest.raises(IndexOffsetOverflowException):
        index.maybe_append(3000, 2**40)
    with pytest.raises(IllegalStateException, match="3 entries but file position in index is 44"):
        index.maybe_append(4000, 70)


def test_time_index_truncation_drops_entries_from_the_offset() -> None:
    index = filled()
    index.truncate_to(60)
    assert (index.entries, index.last_entry) == (1, (1000, 55))


def test_time_index_with_decreasing_timestamps_fails_sanity_check() -> None:
    file = bytes.fromhex("000000000000000500000001000000000000000300000002")
    with pytest.raises(CorruptIndexException, match=r"last timestamp is 3 which is less than the first timestamp 5$"):
        TimeIndex(0, 24, file).sanity_check()
    with pytest.raises(IllegalArgumentException, match=r"no larger than the first timestamp 5$"):
        TimeIndex(0, 24, file, version="1.0.0").sanity_check()


def test_time_index_last_entry_loses_high_bits_of_the_offset_up_to_1_0() -> None:
    for version, last in (("1.0.2", (3000, 50)), ("1.1.1", (3000, 50 + 2**32))):
        index = filled(version=version)
        if version == "1.0.2":
            index.truncate()
        index.maybe_append(3000, 50 + 2**32)
        assert index.last_entry == last
