from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_reference.errors import IllegalArgumentException, NotInThisRelease
from kafka_reference.log_files.entries import read_offset_index, read_time_index
from kafka_reference.log_files.log_segment import (
    LogSegment,
    LogSegmentOffsetOverflowException,
    RollLimits,
    SegmentBatch,
)

BATCHES = [SegmentBatch(10 * number, (1000 + number,) * 10, 60) for number in range(5)]
LIMITS = RollLimits(1000, 500, 60, 60, 1010, 2000)


def filled(version: str = "4.4.0", *, together: bool = False) -> LogSegment:
    segment = LogSegment(0, index_interval_bytes=100, max_index_size=96, version=version)
    for batches in [BATCHES] if together else [[batch] for batch in BATCHES]:
        segment.append(batches)
    return segment


def entries(segment: LogSegment) -> tuple[object, object]:
    offsets, times = segment.offset_index, segment.time_index
    assert offsets.data is not None
    assert times.data is not None
    return (
        read_offset_index(offsets.data[: offsets.size_in_bytes]),
        read_time_index(times.data[: times.size_in_bytes]),
    )


@pytest.mark.parametrize("version", ["2.0.0", "3.9.0", "3.9.1", "4.0.0", "4.4.0"])
def test_segment_index_has_an_entry_per_index_interval_bytes(version: str) -> None:
    """The third batch is the first behind more than 100 bytes; the interval then starts with it."""
    assert entries(filled(version)) == ([(29, 120), (49, 240)], [(1002, 29), (1004, 49)])


@pytest.mark.parametrize(("version", "each"), [("3.9.0", False), ("3.9.1", True), ("4.0.0", False), ("4.0.1", True)])
def test_append_of_several_batches_indexes_each_interval_since_3_9_1_except_in_4_0_0(version: str, each: bool) -> None:
    assert entries(filled(version, together=True))[0] == ([(29, 120), (49, 240)] if each else [])


def test_segment_append_of_relative_offset_beyond_int_range_throws_offset_overflow() -> None:
    with pytest.raises(LogSegmentOffsetOverflowException):
        LogSegment(0).append([SegmentBatch(2**31, (0,), 60)])
    assert LogSegment(0).should_roll(replace(LIMITS, max_offset=2**31))


def test_segment_rolls_at_size_time_or_full_index() -> None:
    segment = filled()
    assert not segment.should_roll(LIMITS)
    assert segment.should_roll(replace(LIMITS, append_bytes=701))
    assert not segment.should_roll(replace(LIMITS, append_bytes=700))
    assert segment.should_roll(replace(LIMITS, max_timestamp=1501))
    assert not segment.should_roll(replace(LIMITS, max_timestamp=1500))
    assert not LogSegment(0).should_roll(replace(LIMITS, max_timestamp=10**9))
    assert LogSegment(0, max_index_size=12).should_roll(LIMITS)


def test_segment_read_starts_at_batch_with_the_offset_and_respects_maximum_size() -> None:
    segment = filled()
    assert segment.read(50, 100) is None
    found = segment.read(25, 1000)
    assert found is not None
    assert (found.offset, found.position, found.size, found.first_batch_incomplete) == (20, 120, 180, False)
    cut = filled("3.9.2").read(25, 59)
    assert cut is not None
    assert (cut.offset, cut.size, cut.first_batch_incomplete) == (25, 59, True)
    whole = segment.read(25, 1, min_one_message=True)
    assert whole is not None
    assert (whole.size, whole.first_batch_incomplete) == (60, False)
    nothing = segment.read(25, 0)
    assert nothing is not None
    assert nothing.size == 0
    with pytest.raises(IllegalArgumentException):
        segment.read(0, -1)


def test_segment_truncation_removes_batches_and_index_entries() -> None:
    segment = filled()
    assert segment.truncate_to(25) == 180
    assert (segment.size, segment.largest, entries(segment)) == (120, (1001, 19), ([], []))
    assert segment.truncate_to(100) == 0
    assert segment.truncate_to(0, 77) == 120
    assert segment.time_waited_for_roll(100, 0) == 23


def test_segment_recovery_rebuilds_indexes_up_to_invalid_batch() -> None:
    segment = filled()
    before = entries(segment)
    assert segment.recover() == 0
    assert entries(segment) == before
    segment.batches[3] = replace(segment.batches[3], valid=False)
    assert segment.recover() == 120
    assert entries(segment) == ([(29, 120)], [(1002, 29)])
    assert len(segment.offset_index.data or b"") == 8


def test_inactive_segment_trims_offset_and_time_index_files() -> None:
    segment = filled()
    segment.become_inactive()
    assert len(segment.offset_index.data or b"") == 16
    assert len(segment.time_index.data or b"") == 24


def test_segment_before_2_0_indexes_first_offsets_and_throws_illegal_argument_on_offset_overflow() -> None:
    assert entries(filled("1.1.1"))[0] == [(20, 120), (40, 240)]
    with pytest.raises(IllegalArgumentException):
        LogSegment(0, version="1.1.1").append([SegmentBatch(2**31, (0,), 60)])
    with pytest.raises(NotInThisRelease):
        LogSegment(0, version="0.10.2.2")


def test_timestamp_search_finds_first_record_not_older_from_the_start_offset() -> None:
    segment = LogSegment(0, index_interval_bytes=0)
    segment.append([SegmentBatch(0, (5, 3), 60), SegmentBatch(4, (4, 9), 60)])
    assert segment.find_offset_by_timestamp(4, 0) == (5, 0)
    assert segment.find_offset_by_timestamp(4, 1) == (4, 4)
    assert segment.find_offset_by_timestamp(10, 0) is None
    assert segment.read_next_offset() == 6


@pytest.mark.parametrize(("version", "sizes"), [("2.5.1", (0, 0)), ("2.6.0", (None, None)), ("4.4.0", (None, None))])
def test_closing_unused_segment_indexes_creates_empty_files_up_to_2_5(
    version: str, sizes: tuple[int | None, int | None]
) -> None:
    segment = LogSegment(0, version=version)
    segment.close()
    files = (segment.folder.get(f"{0:020}.index"), segment.folder.get(f"{0:020}.timeindex"))
    assert tuple(None if file is None else len(file) for file in files) == sizes


@pytest.mark.parametrize(
    ("version", "offset"), [("0.11.0.3", 5), ("3.6.2", 5), ("3.7.0", 7), ("4.0.0", 7), ("4.4.0", 7)]
)
def test_leader_append_maps_largest_timestamp_to_offset_of_the_record_up_to_3_6(version: str, offset: int) -> None:
    segment = LogSegment(4, version=version)
    segment.append([SegmentBatch(4, (30, 41, 41, 8), 60)], by_leader=True)
    assert segment.largest == (41, offset)


@pytest.mark.parametrize("version", ["0.11.0.3", "3.6.2", "4.4.0"])
def test_follower_append_maps_largest_timestamp_to_last_offset_of_the_batch(version: str) -> None:
    segment = LogSegment(4, version=version)
    segment.append([SegmentBatch(4, (30, 41, 41, 8), 60), SegmentBatch(8, (12,), 60)])
    assert segment.largest == (41, 7)


def test_segment_recovery_maps_largest_timestamp_to_last_offset_of_the_batch() -> None:
    segment = LogSegment(4, version="2.8.2")
    segment.append([SegmentBatch(4, (30, 41, 41, 8), 60)], by_leader=True)
    segment.recover()
    assert segment.largest == (41, 7)
