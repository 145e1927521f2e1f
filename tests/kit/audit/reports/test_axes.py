"""Where marks stand: at round places, few enough to be read, and within the axis."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kafka_conformance.audit.reports.axes import count_ticks, partition_ticks, short, time_ticks

HOUR = 3_600_000
MARCH = 1_740_787_200_000


@pytest.mark.parametrize(
    ("begin", "length", "texts"),
    [
        (MARCH, 3 * HOUR, ["03-01 00:00", "03-01 00:30", "03-01 01:00", "03-01 01:30", "03-01 02:00", "03-01 02:30",
                           "03-01 03:00"]),
        (MARCH + 1, 48 * HOUR, ["03-01 12:00", "03-02 00:00", "03-02 12:00", "03-03 00:00"]),
        (MARCH, 3000, ["00:00:00", "00:00:01", "00:00:02", "00:00:03"]),
        (MARCH, 20, ["00:00:00.000", "00:00:00.010", "00:00:00.020"]),
        (MARCH, 4 * 24 * HOUR, ["2025-03-01", "2025-03-02", "2025-03-03", "2025-03-04", "2025-03-05"]),
    ],
)  # fmt: skip
def test_time_ticks_stand_at_round_clock_times(begin: int, length: int, texts: list[str]) -> None:
    assert [text for _, text in time_ticks(begin, length)] == texts


@pytest.mark.parametrize("length", [1, 59, 1000, HOUR, 10**9, 10**12, 10**15, 2**63])
@pytest.mark.parametrize("begin", [0, MARCH, -(10**12), -(2**63), 2**62])
def test_time_axis_has_at_most_seven_ticks_within_bounds(begin: int, length: int) -> None:
    marks = time_ticks(begin, length)
    assert len(marks) <= 7
    assert all(0 <= x <= 100 for x, _ in marks)


@pytest.mark.parametrize(
    ("begin", "length", "texts"),
    [
        (0, 6, ["0", "1", "2", "3", "4", "5", "6"]),
        (1000, 122_472, ["50,000", "100,000"]),
        (0, 1_100_000, ["0", "200 k", "400 k", "600 k", "800 k", "1,000 k"]),
        (10_000_017, 100, ["10,000,020", "10,000,040", "10,000,060", "10,000,080", "10,000,100"]),
        (10**9, 10**7, ["1,000 M", "1,002 M", "1,004 M", "1,006 M", "1,008 M", "1,010 M"]),
    ],
)
def test_count_ticks_are_round_and_distinct(begin: int, length: int, texts: list[str]) -> None:
    assert [text for _, text in count_ticks(begin, length)] == texts


def test_partition_ticks_stand_at_column_centres_and_are_at_most_twelve() -> None:
    assert partition_ticks([0, 1]) == [(22.5, "0"), (72.5, "1")]
    many = partition_ticks(range(0, 1000, 3))
    assert len(many) <= 12
    assert len({right[0] - left[0] for left, right in pairwise(many)}) < 4
    assert partition_ticks([]) == []


@pytest.mark.parametrize(
    ("count", "label"),
    [(99_999, "99,999"), (100_000, "100 k"), (353_622, "354 k"), (12_345_678, "12.3 M"), (2 * 10**7, "20 M")],
)
def test_large_counts_are_abbreviated_with_k_and_m(count: int, label: str) -> None:
    assert short(count) == label
