"""Timestamps: the smallest and largest of each segment, and those that are no times of records."""

from __future__ import annotations

import io
import shutil
import time
from pathlib import Path

import pytest
from log_edits import bases, kinds, seen
from log_partitions import START_MS, Log, data
from rich.console import Console

from kafka_conformance.log_inspect.reports.text import retention_lines, show

DAY_MS = 86_400_000


def written(folder: Path, timestamp: int) -> Path:
    log = Log(folder)
    log.append(data(2))
    log.append(data(2, timestamp=timestamp))
    return log.write()


@pytest.mark.parametrize(
    ("timestamp", "kind", "words"),
    [
        (START_MS * 1_000, "time-in-the-future", "microseconds it is 2023-11-14 22:13:20.000 UTC"),
        (START_MS * 1_000_000, "time-in-the-future", "nanoseconds it is 2023-11-14"),
        (START_MS // 1_000, "time-before-2000", "seconds it is 2023-11-14"),
        (2**62, "time-in-the-future", "is in the future"),
    ],
)
def test_timestamp_in_another_unit_or_far_future_is_suspicious_and_names_a_fitting_unit(
    tmp_path: Path, timestamp: int, kind: str, words: str
) -> None:
    found = seen(written(tmp_path / "t-0", timestamp))
    assert (kinds(found), kinds(found, "suspicious")) == (set(), {kind})
    (row,) = [row for row in found.findings if row.kind == kind]
    assert words in row.what
    assert (row.offset, row.effect) == (2, "wrong afterwards")


def test_timestamp_a_few_ms_after_epoch_is_noted_and_partition_is_sound(tmp_path: Path) -> None:
    found = seen(written(tmp_path / "t-0", 5))
    assert (found.verdict, found.suspicious, kinds(found, "note")) == ("sound", 0, {"time-before-2000"})


@pytest.mark.parametrize("ahead", [-DAY_MS, DAY_MS // 2])
def test_timestamp_up_to_12_hours_ahead_of_clock_gives_no_finding(tmp_path: Path, ahead: int) -> None:
    assert seen(written(tmp_path / "t-0", time.time_ns() // 1_000_000 + ahead)).findings == []


def test_record_with_timestamp_minus_1_is_not_suspicious(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(1, timestamp=-1))
    assert kinds(seen(log.write()), "suspicious") == set()


def test_inspection_reports_timestamps_records_and_bytes_of_every_segment(log: Log) -> None:
    (one,) = seen(log.folder).partitions
    assert [row.base_offset for row in one.by_segment] == bases(log)
    assert sum(row.records for row in one.by_segment) == one.records
    assert sum(row.bytes for row in one.by_segment) == one.bytes
    for row in one.by_segment:
        assert START_MS < row.smallest_timestamp <= row.largest_timestamp < START_MS + 1_000
    assert one.smallest_timestamp == one.by_segment[0].smallest_timestamp
    assert one.largest_timestamp == one.by_segment[-1].largest_timestamp


def test_segment_with_late_timestamp_delays_retention_of_later_segments(tmp_path: Path) -> None:
    log = Log(tmp_path / "t-0")
    log.append(data(2))
    for timestamp in (START_MS + 3 * DAY_MS, START_MS + DAY_MS, START_MS):
        log.roll()
        log.append(data(1, timestamp=timestamp))
    found = seen(log.write())
    held = found.partitions[0].retention_held_by
    assert held is not None
    assert (held.base_offset, held.segments, held.until) == (2, 2, START_MS + 3 * DAY_MS)
    assert held.longer_ms == 2 * DAY_MS
    (line,) = retention_lines(found.partitions)
    assert "t-0: segment 2 has the largest timestamp, 2023-11-17 22:13:20.000 UTC" in line
    assert "for the 2 segments after it too, 2.0 days longer" in line


def test_segments_with_ascending_timestamps_have_no_delayed_retention(log: Log) -> None:
    found = seen(log.folder)
    assert found.partitions[0].retention_held_by is None
    assert list(retention_lines(found.partitions)) == []


def test_terminal_report_lists_segments_only_when_requested(log: Log) -> None:
    found = seen(log.folder)
    printed = []
    for segments in (False, True):
        out = Console(file=io.StringIO(), width=200)
        show(out, found, segments=segments)
        printed.append(out.file.getvalue())  # type: ignore[attr-defined]
    before, after = printed
    assert "smallest timestamp" not in before
    for base in bases(log):
        assert any(line.split()[:2] == ["orders-0", str(base)] for line in after.splitlines())


def test_report_limited_to_50_partitions_lists_user_topics_before_consumer_offsets(tmp_path: Path) -> None:
    log = Log(tmp_path / "__consumer_offsets-0")
    log.append(data(1))
    log.write()
    for number in range(1, 60):
        shutil.copytree(log.folder, tmp_path / f"__consumer_offsets-{number}")
    for path in tmp_path.glob("*/*.log"):
        path.write_bytes(path.read_bytes()[:-1])
    Log(tmp_path / "orders-0").write()
    out = Console(file=io.StringIO(), width=200)
    show(out, seen(tmp_path))
    table = out.file.getvalue().split("… and ")[0].splitlines()  # type: ignore[attr-defined]
    names = [line.split()[0] for line in table if line.startswith(("orders", "__"))]
    assert (names[0], len(names)) == ("orders-0", 50)
