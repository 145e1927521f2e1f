"""What is printed of an audit: the verdict first, nothing that a terminal would obey, no number of our own."""

from __future__ import annotations

import io
import re

import audits
import msgspec
import pytest
import streams
from rich.console import Console

from kafka_conformance.audit.isolation import Reading
from kafka_conformance.audit.reports.terminal import show
from kafka_conformance.audit.result import Audit, Interval


def printed(audit: Audit, width: int = 160) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, highlight=False, force_terminal=False), audit)
    return out.getvalue()


@pytest.mark.parametrize("name", audits.ALL)
def test_every_large_number_in_the_terminal_report_is_a_number_of_the_audit(name: str) -> None:
    audit = audits.ALL[name]
    found = set(re.findall(r"(?<![\w.:,-])\d{1,3}(?:,\d{3})+(?![\w.])", printed(audit)))
    assert found or not audit.records
    assert {int(number.replace(",", "")) for number in found} <= audits.numbers(audit)


@pytest.mark.parametrize("name", audits.ALL)
def test_audit_output_fits_forty_lines_of_a_terminal(name: str) -> None:
    """Forty lines of a hundred columns, as a terminal wraps them."""
    lines = printed(audits.ALL[name], 100).splitlines()
    assert sum(max(1, -(-len(line) // 100)) for line in lines) <= 40


def test_mixture_shares_are_printed_with_confidence_bounds() -> None:
    """Rounded outwards."""
    audit = audits.mixed()
    estimates = Interval(0.58, 0.5712, 0.5893), Interval(0.39, 0.38, 0.4), Interval(0.0021, 0.0018, 0.0025)
    shares = [msgspec.structs.replace(share, estimated=one) for share, one in zip(audit.shares, estimates, strict=True)]
    mixture = msgspec.structs.replace(audit, shares=tuple(shares), foreign=Interval(0.02, 0.0, 0.0401))
    report = " ".join(printed(mixture, 100).split())
    assert "murmur2 (Java's own: murmur2, its sign masked) 58.0 % (57.1 to 59.0 %); librdkafka-consistent" in report
    assert "Three kinds of producer wrote this topic, beside unknown ones: " in report
    assert "; unknown 2.0 % (0.0 to 4.1 %)." in report
    assert "attributed share estimated explains" in report
    assert "82.0 % 57.1 to 59.0 % 3,207,905" in report
    assert "0.21 % (0.18 to 0.25 %)" in report
    assert "unexplained - 7,356 0.2 % 0.0 to 4.1 % -" in report
    assert "estimated: share of all keyed records, with 99 % confidence" in report


def test_terminal_report_begins_with_topic_and_verdict_and_ends_with_the_misplaced_records_path() -> None:
    lines = printed(audits.mixed()).splitlines()
    assert lines[0] == "orders"
    assert lines[1] == "17.9 % of 3,911,112 keyed records are not where Java's producer puts them."
    assert lines[2].startswith("Three kinds of producer wrote this topic: ")
    assert lines[3].startswith("Since partition 0, offset 64,377, ")
    assert lines[4].startswith(
        "Next: set partitioner=murmur2_random (librdkafka and its bindings), then kafka-conformance repair"
    )
    assert any(line.startswith("note: 217 offsets") for line in lines[5:7])
    assert lines[-1] == "698,412 records elsewhere than expected, as Parquet: /data/audits/orders/offending"


def test_terminal_report_names_the_isolation_level() -> None:
    audit = audits.mixed(reading=Reading("read_committed", 10, 0, 0))
    assert "12.3 s, read_committed, kit 0.1.0" in printed(audit)


def test_terminal_report_of_a_mixed_topic_contains_every_table() -> None:
    report = " ".join(printed(audits.mixed(), 200).split())
    for words in (
        "murmur2 (expected) 12 3,207,888 82.0 % 3,207,905 ",
        "either of several - 4,812 0.1 %",
        "attributed: keyed records that no other producer is likely to have sent. explains: keyed records that",
        "0 64,377 109,358 44,982 murmur2 and librdkafka-consistent 2025-03-01T12:00:00Z",
        "The earliest runs not placed as expected (70 more)",
        "8,765 of 64,321 keys (13.6 %) are in several partitions",
        '"user-1": 250 records in partitions 3, 4',
        "46,896 records without a key, by pattern: sticky runs 85.3 %, round robin 12.8 %, unclear 1.9 %",
        "3 of 12 partitions, those with the most records elsewhere",
        "4 352,622 58,201 16.7 % murmur2 83.2 %; librdkafka-consistent 14.6 %; 3 more",
        "The fullest partition, 4, holds 1.07 × the mean; the emptiest, 0, 0.95 ×; coefficient of variation 0.04.",
        "12.3 s, kit 0.1.0; the page (--html FILE) and audit.json have every row",
    ):
        assert words in report, words


def test_terminal_report_states_a_partition_count_increase_with_last_old_offsets() -> None:
    report = printed(audits.grown())
    assert "The partition count increased while this was in use: murmur2, from 3 to 12 partitions." in report
    assert "last offset with the old count by partition: 0: 97,023, 1: 97,023, 2: 97,023\n" in report


def test_terminal_report_counts_omitted_partitions_and_runs() -> None:
    report = printed(audits.thousand())
    assert "3 of 1,000 partitions, those with the most records elsewhere\n" in report
    assert "The earliest runs not placed as expected (25 more, 1,233,540 runs not kept)\n" in report


def test_terminal_report_of_an_empty_topic_has_no_tables() -> None:
    assert printed(audits.empty()).splitlines() == [
        "orders",
        "The topic has no records.",
        "note: the topic is empty",
    ]


def test_terminal_report_of_keyless_records_lists_patterns_but_no_partitioners() -> None:
    report = printed(audits.keyless())
    assert "241,200 records without a key, by pattern: sticky runs 100 %" in report
    assert "placement" not in report
    assert "Since" not in report


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_terminal_report_escapes_control_characters_of_hostile_names(name: str) -> None:
    report = printed(audits.hostile(streams.HOSTILE[name]))
    assert all(character.isprintable() or character == "\n" for character in report)
    begun = {"::", "##"} if "\n" in streams.HOSTILE[name] else set()
    assert not any(line.startswith(tuple(begun)) for line in report.splitlines() if begun)
    assert len(report) < 120_000


def test_terminal_report_of_100_columns_does_not_truncate_numbers() -> None:
    assert "3,207,888" in printed(audits.mixed(), 100)
