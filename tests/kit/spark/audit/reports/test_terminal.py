"""What is printed of an audit: the verdict first, nothing that a terminal would obey, no number of our own."""

from __future__ import annotations

import io
import re

import audits
import pytest
import streams
from rich.console import Console

from kafka_conformance.spark.audit.reports.terminal import show
from kafka_conformance.spark.audit.result import Audit


def printed(audit: Audit, width: int = 160) -> str:
    out = io.StringIO()
    show(Console(file=out, width=width, highlight=False, force_terminal=False), audit)
    return out.getvalue()


@pytest.mark.parametrize("name", audits.ALL)
def test_every_number_is_the_audits(name: str) -> None:
    audit = audits.ALL[name]
    found = set(re.findall(r"(?<![\w.:,-])\d{1,3}(?:,\d{3})+(?![\w.])", printed(audit)))
    assert found or not audit.records
    assert {int(number.replace(",", "")) for number in found} <= audits.numbers(audit)


def test_the_verdict_is_first_and_where_to_look_is_last() -> None:
    lines = printed(audits.mixed()).splitlines()
    assert lines[0] == "orders"
    assert lines[1] == "17.9 % of 3,911,112 keyed records are not where Java's producer puts them."
    assert lines[2].startswith("Three kinds of producer wrote this topic: ")
    assert lines[3].startswith("Since partition 0, offset 64,377, ")
    assert lines[4].startswith("note: 217 offsets")
    assert lines[-1] == "698,412 offending records, as Parquet: /data/audits/orders/offending"


def test_the_report_is_complete() -> None:
    report = " ".join(printed(audits.mixed(), 200).split())
    for words in (
        "murmur2 (expected) 12 3,207,888 82.0 % 3,207,905 3,207,859 Java's own: murmur2, its sign masked",
        "either of several - 4,812 0.1 %",
        "sarama-hash 2025-03-02T06:00:00.123Z 0 182,309 2025-03-02T08:00:00.123Z 11 ",
        "0 64,377 109,358 44,982 murmur2 and librdkafka-consistent 2025-03-01T12:00:00Z 2025-03-01T18:59:59.999Z",
        "60 more like these",
        "8,765 of 64,321 keys (13.6 %) are in several partitions",
        '"user-1" 250 3 from offset 63,456, 2025-03-01T12:00:00Z; 4 from offset 63,463',
        "8,758 not shown",
        "46,896 records without a key, by the pattern of their partitions",
        "sticky runs 40,000 85.3 % round robin 6,000 12.8 % unclear 896 1.9 %",
        "0 1,000 313,110 312,110 308,202 3,908 58,201 18.9 % murmur2 81.0 %; librdkafka-consistent 16.5 %",
        "The fullest partition, 4, holds 1.07 × the mean; the emptiest, 0, 0.95 ×; coefficient of variation 0.04.",
        "12.3 s, kit 0.1.0",
    ):
        assert words in report, words


def test_a_topic_that_grew() -> None:
    report = printed(audits.grown())
    assert "The partition count increased while this was in use: murmur2, from 3 to 12 partitions." in report
    assert (
        "the last offset with the old partition count, of each partition\n0: 97,023, 1: 97,023, 2: 97,023\n" in report
    )


def test_of_many_partitions_the_rest_is_counted() -> None:
    report = printed(audits.thousand())
    assert "The 24 most affected of 1,000 partitions\n" in report
    assert "976 partitions not shown, with 4,200 offending records\n" in report
    assert "15 more like these, and 1,233,540 runs not kept\n" in report
    assert len(report.splitlines()) < 90


def test_an_empty_topic_has_no_tables() -> None:
    assert printed(audits.empty()).splitlines() == [
        "orders",
        "The topic has no records.",
        "note: the topic is empty",
    ]


def test_a_topic_without_keys_has_patterns_and_no_placements() -> None:
    report = printed(audits.keyless())
    assert "sticky runs  241,200  100 %" in report
    assert "placement" not in report
    assert "Since" not in report


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_text_is_text(name: str) -> None:
    report = printed(audits.hostile(streams.HOSTILE[name]))
    assert all(character.isprintable() or character == "\n" for character in report)
    begun = {"::", "##"} if "\n" in streams.HOSTILE[name] else set()
    assert not any(line.startswith(tuple(begun)) for line in report.splitlines() if begun)
    assert len(report) < 120_000


def test_on_a_narrow_terminal_nothing_is_lost() -> None:
    assert "3,207,888" in printed(audits.mixed(), 100)
