"""The stream of events: what is written is read again, and told apart by its name."""

from __future__ import annotations

import msgspec
import pytest

from kafka_conformance.core.events import Began, Diagnosis, Differed, Ended, Stale, Target, from_lines, to_line

STREAM = [
    Began("0.1.0", Target("mine", "1", "go", "./mine"), ("4.4.0",), ("murmur2",), 7, 10),
    Differed("murmur2", "4.4.0", "ab", "frozen", "another hash", 2, {"key": ""}, {"hash": 1}, {"hash": 2}, "Utils.murmur2",
             "", diagnosis=Diagnosis("crc32", "CRC32", 2, 2)),
    Stale("murmur2 ab", "stale", "remove it"),
    Ended(1, "it differs", 2, 0, 2, 0, 0, 0, 0.5),
]  # fmt: skip


def test_event_stream_round_trips_through_json_lines() -> None:
    assert list(from_lines([*map(to_line, STREAM), b"\n"])) == STREAM


def test_event_json_has_the_event_type_in_field_event() -> None:
    assert [msgspec.json.decode(to_line(event))["event"] for event in STREAM] == ["began", "differed", "stale", "ended"]


@pytest.mark.parametrize("line", [b"{}", b'{"event":"rained"}', b"nonsense", b'{"event":"stale","entry":1}'])
def test_event_line_with_unknown_type_wrong_field_type_or_invalid_json_raises_msgspec_error(line: bytes) -> None:
    with pytest.raises((msgspec.ValidationError, msgspec.DecodeError)):
        list(from_lines([line]))


def test_unpaired_surrogate_in_event_is_replaced_by_question_mark() -> None:
    line = to_line(Stale("a \ud800 b", "stale", "größe"))
    assert list(from_lines([line])) == [Stale("a ? b", "stale", "größe")]
