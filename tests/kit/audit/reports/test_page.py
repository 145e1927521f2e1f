"""The page of an audit: by a parser and in a browser, whatever keys and names hold."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import audits
import msgspec
import pytest
import streams
from pages import Page, assert_loads_and_runs_nothing, assert_policy, browser, look, shape, solid

from kafka_conformance.audit.reports import summary
from kafka_conformance.audit.reports.page import write
from kafka_conformance.audit.result import Audit
from kafka_conformance.core.sanitize import harmless


@pytest.mark.parametrize("name", audits.ALL)
def test_audit_page_loads_and_runs_nothing_external(name: str) -> None:
    text = write(audits.ALL[name])
    assert_loads_and_runs_nothing(text)
    assert_policy(text)
    assert len(text) < 250_000


@pytest.mark.parametrize("name", audits.ALL)
def test_every_large_number_on_the_audit_page_is_a_number_of_the_audit(name: str) -> None:
    audit = audits.ALL[name]
    body = write(audit).split("<body>")[1]
    text = re.sub("<[^>]*>", " ", re.sub("<text.*?</text>", "", body))  # the marks of axes are round
    found = re.findall(r"(?<![\w.:,-])\d{1,3}(?:,\d{3})+(?![\w.])", text)
    assert found or not audit.records
    assert {int(number.replace(",", "")) for number in found} <= audits.numbers(audit)


@cache
def _plain_shape() -> object:
    return shape(Page(write(audits.hostile("x"))))


def test_audit_page_defines_the_words_of_the_tables() -> None:
    text = " ".join(Page(write(audits.thousand())).text.split())
    for word, meaning in summary.DEFINITIONS.items():
        assert f"{word}: {meaning}" in text, word


@pytest.mark.parametrize("name", streams.HOSTILE)
def test_hostile_text_does_not_change_the_structure_of_the_audit_page(name: str) -> None:
    text = streams.HOSTILE[name]
    written = write(audits.hostile(text))
    page = Page(written)
    assert shape(page) == _plain_shape()
    assert_loads_and_runs_nothing(written)
    assert all(character.isprintable() or character == "\n" for character in written)
    assert solid(page.text).count(solid(harmless(text[:50], keep="\n"))) >= 8
    assert len(written) < 400_000


def test_audit_page_of_a_mixed_topic_contains_every_section() -> None:
    page = Page(write(audits.mixed()))
    for text_part in (
        "17.9 % of 3,911,112 keyed records are not where Java's producer puts them.",
        "Three kinds of producer wrote this topic: murmur2 (Java's own: murmur2, its sign masked) 82.0 %",
        "Since partition 0, offset 64,377, 2025-03-01T12:00:00.123Z: the first record placed by librdkafka-consistent.",
        "217 offsets between the first and the last were missing",
        "expected murmur2, 12 partitions",
        "3,958,008, of them 3,911,112 with a key, in 12 partitions",
        "698,412 (17.9 % of those with a key)",
        "/data/audits/orders/offending (Parquet)",
        "8,765 of 64,321 keys (13.6 %) are in several partitions",
        '"user-1"',
        "0x1b5b324a",
        "sticky runs 40,000 85.3 %",
        "unexplained - 7,356 0.2 %",
        "8,758 not shown",
        "48 more like these",
        "Written by kafka-conformance 0.1.0 in 12.3 s.",
    ):
        assert solid(text_part) in solid(page.text), text_part
    assert [tag for tag, attributes in page.tags if attributes.get("role") == "img"] == ["div"] * 4


@pytest.mark.parametrize(
    ("audit", "mood", "there", "not_there"),
    [
        (audits.healthy(), "exit-0", "Which placement wrote when", "The earliest runs"),
        (audits.librdkafka(), "exit-1", "may be of more than one", "Records without a key"),
        (audits.grown(), "exit-1", "0: 97,023, 1: 97,023, 2: 97,023", "Since partition"),
        (audits.keyless(), "plain", "Records without a key", "Placements"),
        (audits.empty(), "plain", "The topic has no records", "Partitions"),
        (audits.timeless(), "exit-1", "No record has a timestamp", "Shares of records over time"),
        (audits.thousand(), "exit-1", "976 partitions and 1,233,540 runs not drawn", "Records without a key"),
        (audits.thousand(), "exit-1", "976 partitions not shown, with 4,200 records elsewhere.", "No record carries"),
    ],
)
def test_audit_page_shows_verdict_class_and_sections_for_each_type_of_topic(
    audit: Audit, mood: str, there: str, not_there: str
) -> None:
    text = write(audit)
    assert f'<header class="verdict {mood}">' in text
    text_part = solid(Page(text).text)
    assert solid(there) in text_part
    assert solid(not_there) not in text_part


def test_audit_page_is_identical_for_equal_audits() -> None:
    assert write(audits.mixed()) == write(audits.mixed())


@pytest.mark.parametrize("name", audits.ALL)
def test_audit_json_round_trips_to_an_equal_audit(name: str) -> None:
    audit = audits.ALL[name]
    assert msgspec.json.decode(msgspec.json.encode(audit), type=Audit) == audit


@browser
def test_browser_renders_hostile_text_as_text_in_the_audit_page(tmp_path: Path) -> None:
    hostile = "\n".join(text for name, text in streams.HOSTILE.items() if name not in ("long", "jinja"))
    text = write(audits.hostile(hostile))
    seen = look(text, tmp_path)
    assert "owned&lt;/script&gt;" in seen.title.replace("'", "")
    assert not seen.complaints
    assert shape(Page(seen.dom)) == shape(Page(text))
