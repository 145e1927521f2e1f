"""Which records are read by default, what is left out, and how the report says it."""

from __future__ import annotations

import pytest
from admins import Admin, FakeSpark, Held

from kafka_conformance.audit.engines.spark.sources import Topic
from kafka_conformance.audit.isolation import OPTION, Reading, notes_of, reading_of
from kafka_conformance.audit.topics import Span

# Offsets 3 to 9: a transaction is open from 7 on.
WITHOUT = "of aborted transactions, markers of transactions, or compacted away"
HELD = {"t": Held((3, 7, 9), (0, 2, 2))}


@pytest.mark.parametrize(
    ("options", "spans"),
    [
        ({OPTION: "read_committed"}, {0: Span(3, 7, open=2), 1: Span(0, 2)}),
        ({OPTION: "read_uncommitted"}, {0: Span(3, 9), 1: Span(0, 2)}),
        ({}, {0: Span(3, 9), 1: Span(0, 2)}),
    ],
)
def test_topic_spans_end_at_last_stable_offset_with_read_committed_else_at_latest_offset(
    options: dict[str, str], spans: dict[int, Span]
) -> None:
    found = Topic.find(FakeSpark(Admin(HELD)), "t", options)  # type: ignore[arg-type]
    assert found.spans == spans


def test_resumed_audit_reads_the_offset_ranges_of_the_original_plan() -> None:
    planned = {0: Span(3, 6, open=1), 1: Span(0, 2)}
    found = Topic.find(FakeSpark(Admin(HELD)), "t", {OPTION: "read_committed"}, planned)  # type: ignore[arg-type]
    assert found.spans == planned


def test_offsets_without_record_and_beyond_the_last_stable_offset_are_counted() -> None:
    assert reading_of("read_committed", {0: Span(3, 7, open=2), 1: Span(0, 2)}, 5) == Reading("read_committed", 6, 1, 2)


def test_export_offsets_are_reported_missing_unless_the_records_fill_one_range_over_all_partitions() -> None:
    over_all = {0: Span(0, 99), 1: Span(1, 100), 2: Span(5, 50), 3: Span(0, 0)}
    reading = reading_of("", over_all, 100)
    assert reading == Reading("", 100, 0, 0, over_partitions=True)
    assert list(notes_of(reading)) == [
        "offsets are numbered over all partitions together, as by an export, so none is missing"
    ]
    assert reading_of("read_committed", over_all, 100) == Reading("read_committed", 243, 143, 0)
    assert reading_of("", over_all, 99) == Reading("", 243, 144, 0)
    assert reading_of("", {0: Span(0, 100)}, 99) == Reading("", 100, 1, 0)


@pytest.mark.parametrize(
    ("reading", "notes"),
    [
        (Reading("read_committed", 6, 0, 0), []),
        (Reading("read_committed", 6000, 1, 2), [
            f"t: 1 of 6,000 offsets gave no record: {WITHOUT} (--isolation read_committed)",
            "t: 2 offsets after the last stable offset are not read: a transaction is open there",
        ]),
        (Reading("read_uncommitted", 6, 1, 0), [
            "t: records of aborted and open transactions are read as well (--isolation read_uncommitted)",
            "t: 1 offsets hold no record: compacted away, or transaction markers",
        ]),
        (Reading("", 6, 0, 0), []),
    ],
)  # fmt: skip
def test_isolation_notes_count_unread_offsets_and_offsets_without_records(reading: Reading, notes: list[str]) -> None:
    assert list(notes_of(reading, "t")) == notes
