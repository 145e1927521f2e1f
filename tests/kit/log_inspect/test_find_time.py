"""A search by time finds what reading every record finds, also where timestamps are out of order."""

from __future__ import annotations

import io
import shutil
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_edits import bases, file, rewrite
from log_partitions import START_MS, Log, healthy
from rich.console import Console

from kafka_conformance.core.errors import BadInput
from kafka_conformance.log_inspect.directory import open_directory
from kafka_conformance.log_inspect.find_time import TimeSearch, TimeSearches, find_time, parse_time
from kafka_conformance.log_inspect.reports import text
from kafka_reference.record_batch import Codec, NewBatch, NewRecord


def batch(timestamps: list[int], *, codec: Codec = Codec.NONE) -> NewBatch:
    return NewBatch(records=[NewRecord(START_MS + at, b"k", b"v" * 50) for at in timestamps], codec=codec)


def written(folder: Path, segments: list[list[list[int]]], codec: Codec = Codec.NONE) -> Log:
    """Segments of batches of timestamps, in ms after ``START_MS``."""
    log = Log(folder)
    for number, batches in enumerate(segments):
        if number:
            log.roll()
        for timestamps in batches:
            log.append(batch(timestamps, codec=codec))
    log.write()
    return log


def search(folder: Path, first: int, last: int, *, scan: bool = False) -> TimeSearch:
    found = find_time(open_directory(folder), (START_MS + first, START_MS + last), scan=scan)
    (one,) = found.partitions
    assert found.judged
    assert found.found == bool(one.batches)
    return one


TIMES = st.integers(0, 40)
BATCHES = st.lists(st.lists(TIMES, min_size=1, max_size=4), min_size=1, max_size=8)


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(segments=st.lists(BATCHES, min_size=1, max_size=4), first=TIMES, length=st.integers(0, 10), scan=st.booleans(),
       codec=st.sampled_from([Codec.NONE, Codec.GZIP]))  # fmt: skip
def test_time_search_finds_first_offset_since_range_start_and_every_batch_within_range(
    segments: list[list[list[int]]], first: int, length: int, codec: Codec, tmp_path: Path, *, scan: bool
) -> None:
    folder = tmp_path / "orders-0"
    shutil.rmtree(folder, ignore_errors=True)
    # Without scan a record that is before the first one of its batch may be missed.
    made = segments if scan else [[[min(each), *each[1:]] for each in batches] for batches in segments]
    written(folder, made, codec)
    found = search(folder, first, first + length, scan=scan)
    offset, expected, answer = 0, [], None
    for timestamps in (each for batches in made for each in batches):
        within = [at for at in timestamps if first <= at <= first + length]
        later = [offset + n for n, at in enumerate(timestamps) if at >= first]
        if answer is None and later:
            answer = later[0]
        if within:
            expected.append((offset, offset + len(timestamps) - 1))
        offset += len(timestamps)
    assert (found.first and found.first.offset) == answer
    assert found.batches == len(expected)
    covered = {at for one in found.ranges for at in range(one.first_offset, one.last_offset + 1)}
    assert covered == {at for low, high in expected for at in range(low, high + 1)}


def test_time_search_also_finds_out_of_order_record_after_offset_returned_by_broker(tmp_path: Path) -> None:
    log = written(tmp_path / "orders-0", [[[10], [12]], [[11], [13]]])
    found = search(log.folder, 11, 11)
    assert found.first is not None
    assert (found.first.offset, found.first.segment) == (1, 0)
    (one,) = found.ranges
    assert (one.segment, one.position, one.first_offset, one.last_offset) == (2, 0, 2, 2)
    assert (one.smallest_timestamp, one.largest_timestamp) == (START_MS + 11, START_MS + 11)


def test_time_search_skips_segments_that_time_index_shows_to_be_earlier(log: Log) -> None:
    found = search(log.folder, 150, 150)
    assert (found.skipped, found.segments, found.first and found.first.segment) == (2, 3, bases(log)[2])
    for base in bases(log)[:2]:
        file(log, base, "log").write_bytes(b"no batch at all, and nobody reads it")
    assert search(log.folder, 150, 150) == found


def test_time_search_reads_closed_segment_whose_largest_timestamp_equals_the_searched_time(tmp_path: Path) -> None:
    log = written(tmp_path / "orders-0", [[[10], [12]], [[13]]])
    found = search(log.folder, 12, 12)
    assert (found.skipped, found.batches) == (0, 1)
    assert search(log.folder, 13, 13).skipped == 1


def test_time_scan_finds_record_that_a_broker_misses_because_header_max_timestamp_is_low(tmp_path: Path) -> None:
    log = written(tmp_path / "orders-0", [[[10, 30], [20]]])

    def lower(batch: bytearray) -> None:
        batch[35:43] = struct.pack(">q", START_MS + 10)  # the largest timestamp

    rewrite(file(log, 0, "log"), 0, lower)
    found = search(log.folder, 30, 30, scan=True)
    assert [(one.first_offset, one.last_offset) for one in found.ranges] == [(0, 1)]
    assert found.first is None
    assert search(log.folder, 30, 30).batches == 0
    found = search(log.folder, 15, 35, scan=True)
    assert found.batches == 2
    assert found.first is not None
    assert found.first.offset == 2


@pytest.mark.parametrize("suffix", ["index", "timeindex"])
def test_time_search_has_equal_result_if_an_index_of_a_segment_cannot_be_opened(log: Log, suffix: str) -> None:
    expected = search(log.folder, 0, 500)
    path = file(log, bases(log)[1], suffix)
    path.unlink()
    path.mkdir()
    assert search(log.folder, 0, 500) == expected


def test_time_search_reads_only_headers_of_large_batches_outside_the_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path / "orders-0")
    for number in range(40):
        log.append(NewBatch(records=[NewRecord(START_MS + number, b"k", b"v" * 200_000)]))
    log.write()
    read: list[int] = []
    plain = __import__("os").pread

    def counted(descriptor: int, count: int, position: int) -> bytes:
        data: bytes = plain(descriptor, count, position)
        read.append(len(data))
        return data

    monkeypatch.setattr("os.pread", counted)
    found = search(log.folder, 3, 3)
    assert found.batches == 1
    assert sum(read) < 200_000 * 2 + 40 * 4_096


def test_time_search_lists_20_matching_ranges_and_counts_further_ranges(tmp_path: Path) -> None:
    log = written(tmp_path / "orders-0", [[[5], [50]] * 30])
    found = search(log.folder, 5, 5)
    assert (len(found.ranges), found.more_ranges, found.batches) == (20, 10, 30)


def test_time_search_of_segment_with_corrupt_tail_is_reported_as_not_judged(log: Log) -> None:
    path = file(log, bases(log)[1], "log")
    path.write_bytes(path.read_bytes()[:-5] + b"\xff" * 300)
    found = find_time(open_directory(log.folder), (START_MS, START_MS + 500), scan=True)
    assert not found.judged
    assert any(str(bases(log)[1]) in why for why in found.partitions[0].unread)


def test_time_search_accepts_preallocated_zeros_at_end_of_active_segment(log: Log) -> None:
    path = file(log, bases(log)[2], "log")
    path.write_bytes(path.read_bytes() + bytes(10_000))
    assert search(log.folder, 0, 500).first is not None


def test_time_search_covers_all_partitions_unless_a_partition_is_named(tmp_path: Path) -> None:
    for name in ("orders-0", "orders-1"):
        healthy(tmp_path / name)
    directory, times = open_directory(tmp_path), (START_MS, START_MS + 5_000)
    assert [each.partition for each in find_time(directory, times).partitions] == ["orders-0", "orders-1"]
    assert [each.partition for each in find_time(directory, times, name="orders-1").partitions] == ["orders-1"]
    with pytest.raises(BadInput, match="no partition 'x-1'"):
        find_time(directory, times, name="x-1")


def test_time_search_calls_progress_callbacks_when_each_partition_begins_and_ends(tmp_path: Path) -> None:
    for name in ("orders-0", "orders-1"):
        healthy(tmp_path / name)
    reported: list[str] = []
    find_time(open_directory(tmp_path), (0, 1), begins=reported.append, ends=lambda: reported.append("end"))
    assert reported == ["orders-0", "end", "orders-1", "end"]


def test_time_search_report_lists_50_partitions_without_match_and_counts_the_others() -> None:
    one = TimeSearch(
        partition="orders-0", first=None, ranges=[], more_ranges=0, batches=0, segments=1, skipped=0, unread=[]
    )
    out = Console(file=io.StringIO(), width=140)
    text.show_times(out, TimeSearches(first_ms=0, last_ms=0, partitions=[one] * 53))
    shown = out.file.getvalue()  # type: ignore[attr-defined]
    assert shown.count("a broker's search by time returns none") == 50
    assert "… of 3 more partitions (--json has all)\n" in shown


@pytest.mark.parametrize(
    ("words", "times"),
    [
        ("1700000000123", (1_700_000_000_123, 1_700_000_000_123)),
        ("02024", (2_024, 2_024)),
        ("2024", (1_704_067_200_000, 1_735_689_599_999)),
        ("2023-12", (1_701_388_800_000, 1_704_067_199_999)),
        ("2024-02", (1_706_745_600_000, 1_709_251_199_999)),
        ("20231114", (1_699_920_000_000, 1_700_006_399_999)),
        ("2023-11-14", (1_699_920_000_000, 1_700_006_399_999)),
        ("2023-11-14T22", (1_699_999_200_000, 1_700_002_799_999)),
        ("2023-11-14T22:13", (1_699_999_980_000, 1_700_000_039_999)),
        ("2023-11-14 22:13:20", (1_700_000_000_000, 1_700_000_000_999)),
        ("2023-11-14T22:13:20.123Z", (1_700_000_000_123, 1_700_000_000_123)),
        ("2023-11-14T23:13+01:00", (1_699_999_980_000, 1_700_000_039_999)),
    ],
)
def test_time_text_is_parsed_as_range_from_first_to_last_matching_millisecond(
    words: str, times: tuple[int, int]
) -> None:
    assert parse_time(words) == times


@pytest.mark.parametrize(
    "words",
    [
        "",
        "x",
        "2023-13-01",
        "2023-11-14T25",
        "1969-12-31",
        "-5",
        "٣",
        "9" * 30,
        "2023-13",
        "1969",
        "9999",
        "20231399",
        "2023-1",
    ],
)
def test_text_that_is_not_a_time_since_1970_is_refused(words: str) -> None:
    with pytest.raises(BadInput, match="is not a time since 1970"):
        parse_time(words)
