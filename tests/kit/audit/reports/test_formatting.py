"""Shares, times, keys and places, as every report of an audit writes them."""

from __future__ import annotations

import pytest

from kafka_conformance.audit.reports.formatting import at, counted, key, named, percent, place, utc, when
from kafka_conformance.audit.result import EITHER, UNEXPLAINED, Place, Placed


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "-"),
        (0, 7, "0 %"),
        (7, 7, "100 %"),
        (1, 10_000_000, "< 0.1 %"),
        (9_999_999, 10_000_000, "> 99.9 %"),
        (1_120_000, 10_000_000, "11.2 %"),
        (1, 3, "33.3 %"),
    ],
)
def test_partial_share_is_never_printed_as_0_or_100_percent(part: int, whole: int, text: str) -> None:
    assert percent(part, whole) == text


@pytest.mark.parametrize(
    ("time_ms", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_740_787_200_123, "2025-03-01T00:00:00.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00Z"),
        (2**62, "4,611,686,018,427,387,904 ms"),
        (-(2**63), "-9,223,372,036,854,775,808 ms"),
    ],
)
def test_report_times_are_printed_in_utc_or_as_milliseconds_out_of_range(time_ms: int, text: str) -> None:
    assert utc(time_ms) == text


@pytest.mark.parametrize("none", [None, -1])
def test_missing_timestamp_is_printed_as_dash_or_omitted(none: int | None) -> None:
    assert (when(none), at(none)) == ("-", "")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"user-1", '"user-1"'),
        (b"", '""'),
        (b"\x00\xff\x10", "0x00ff10"),
        ("héllo 你好".encode(), '"héllo 你好"'),
        (b"\x1b[2J", "0x1b5b324a"),
        ("a\u202eb".encode(), "0x61e280ae62"),
        (b"a" * 48, '"' + "a" * 48 + '"'),
        (b"a" * 300, '"' + "a" * 48 + '…" (300 bytes)'),
        (b"\xff" * 3000, "0x" + "f" * 48 + "… (3,000 bytes)"),
        ("…".encode() * 2, '"……"'),
    ],
)
def test_printable_key_is_shown_as_text_binary_as_hex_and_long_ones_cut(raw: bytes, text: str) -> None:
    assert key(raw.hex()) == text


def test_key_that_is_not_hex_is_shown_as_text_and_shortened() -> None:
    assert key("<b>") == "<b>"
    assert len(key("z" * 10_000)) < 120


def test_record_places_and_partitioners_are_described_and_counts_up_to_twelve_spelled_out() -> None:
    assert place(Place(0, 3, 1234)) == "partition 3, offset 1,234, 1970-01-01T00:00:00Z"
    assert place(Place(-1, 3, 1234)) == "partition 3, offset 1,234"
    assert named(Placed("murmur2", 1)) == "murmur2, 1 partition"
    assert (named(EITHER), named(UNEXPLAINED), named("x@3")) == ("either of several", "unexplained", "x@3")
    assert [counted(count, "kind") for count in (1, 2, 12, 13)] == ["one kind", "two kinds", "twelve kinds", "13 kinds"]
