from __future__ import annotations

import pytest

from kafka_reference.log_files.entries import (
    OffsetEntry,
    TimeEntry,
    read_offset_index,
    read_time_index,
    write_offset_index,
    write_time_index,
)


def test_offset_and_time_index_entries_round_trip() -> None:
    assert read_offset_index(write_offset_index([(55, 0), (60, 4096)], 50), 50) == [(55, 0), (60, 4096)]
    assert read_time_index(write_time_index([(1000, 55), (2**40, 60)], 50), 50) == [(1000, 55), (2**40, 60)]


@pytest.mark.parametrize("cut", range(8))
def test_partial_index_entry_at_the_end_is_ignored(cut: int) -> None:
    assert read_offset_index(write_offset_index([(1, 2)]) + bytes(cut)) == [OffsetEntry(1, 2)]
    assert read_time_index(write_time_index([(1, 2)]) + bytes(cut)) == [TimeEntry(1, 2)]


def test_offset_index_entry_stores_only_low_32_bits_of_the_offset() -> None:
    assert write_offset_index([(2**32 + 5, 0)]).hex() == "0000000500000000"
    assert read_offset_index(bytes.fromhex("ffffffff80000000"), 10) == [(9, -(2**31))]
