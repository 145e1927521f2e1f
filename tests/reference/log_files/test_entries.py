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


def test_what_is_written_is_read() -> None:
    assert read_offset_index(write_offset_index([(55, 0), (60, 4096)], 50), 50) == [(55, 0), (60, 4096)]
    assert read_time_index(write_time_index([(1000, 55), (2**40, 60)], 50), 50) == [(1000, 55), (2**40, 60)]


@pytest.mark.parametrize("cut", range(8))
def test_a_cut_entry_is_left_out(cut: int) -> None:
    assert read_offset_index(write_offset_index([(1, 2)]) + bytes(cut)) == [OffsetEntry(1, 2)]
    assert read_time_index(write_time_index([(1, 2)]) + bytes(cut)) == [TimeEntry(1, 2)]


def test_numbers_lose_their_high_bits() -> None:
    assert write_offset_index([(2**32 + 5, 0)]).hex() == "0000000500000000"
    assert read_offset_index(bytes.fromhex("ffffffff80000000"), 10) == [(9, -(2**31))]
