"""What is reported of keys that differ in their frame only."""

from __future__ import annotations

import io

import audits
import pytest
from rich.console import Console

from kafka_conformance.audit.reports.framing import rows, sentences, verdict
from kafka_conformance.audit.reports.page import write
from kafka_conformance.audit.reports.terminal import show
from kafka_conformance.audit.result import FormPlace, LogicalKey, Place

SPELLED = LogicalKey(
    b'{"a":1}'.hex(),
    9,
    (
        FormPlace('{"a":1}', Place(5, 3, 1), 4),
        FormPlace('{"a":1}', Place(6, 4, 1), 4),
        FormPlace('{ "a": 1 }', Place(7, 4, 2), 1),
    ),
)
LIE = "111 of 2,345 logical keys (4.7 %) lie in several partitions in different {}, with 3,456 records: a join misses them."
NONE = "No key lies in several partitions in different {}: 2,345 logical keys{}."
FRAMED = 'The earliest: "user" lies under schema id 7 in partition 2 and under schema id 9 in partition 5.'
JSON = 'The earliest: "{"a":1}" lies under {"a":1} in partition 3 and under { "a": 1 } in partition 4.'
OTHERS = "The 177 others are compared as a whole"


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, f"{LIE.format('frames')} {FRAMED}"),
        ({"format": "json", "earliest": (SPELLED,)}, f"{LIE.format('spellings')} {JSON}"),
        ({"split": 0}, NONE.format("frames", ", 1,234 of them in several frames")),
        ({"split": 0, "several": 0, "format": "json"}, NONE.format("spellings", "")),
    ],
)
def test_key_format_verdict_names_the_earliest_split_logical_key_or_that_none_is_split(
    more: dict[str, object], line: str
) -> None:
    assert verdict(audits.framing(**more)) == line


def test_key_format_report_counts_keys_with_and_without_schema_id_and_lists_partitions() -> None:
    assert sentences(audits.framing()) == [
        f"The key of 723 of 900 keyed records (80.3 %) has the frame of confluent. {OTHERS}.",
        "Frames: schema id 7 66.8 %, schema id 9 13.6 %.",
    ]
    assert sentences(audits.framing(framed=0, forms={})) == [
        f"The key of 0 of 177 keyed records (0 %) has the frame of confluent. {OTHERS}; is --key-format right?"
    ]
    every = sentences(audits.framing(format="json", unframed=0, forms={}))
    assert every == ["The key of 723 of 723 keyed records (100 %) is JSON."]
    first = "schema id 7: partition 2 from offset 63,456, 2025-03-01T00:00:00Z"
    second = "schema id 9: partition 5 from offset 63,463, 2025-03-01T01:00:00Z"
    assert list(rows(audits.framing())) == [('"user"', "1,003", f"{first}; {second}")]


@pytest.mark.parametrize("name", ["healthy", "framed"])
def test_terminal_and_html_reports_list_keys_split_by_schema_id_only_if_the_audit_has_any(name: str) -> None:
    audit, out = audits.ALL[name], io.StringIO()
    show(Console(file=out, width=200, highlight=False, force_terminal=False), audit)
    for report in (out.getvalue(), write(audit)):
        assert ("111 of 2,345 logical keys (4.7 %)" in report) == (name == "framed")
        assert ("schema id 9: partition 5 from offset 63,463" in report) == (name == "framed")
        assert ("110 not shown" in report) == (name == "framed")
