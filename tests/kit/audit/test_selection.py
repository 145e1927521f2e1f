"""Windows and shares: what they mean, and what cannot be understood."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.sampling import in_sample, sampled
from kafka_conformance.audit.selection import Bound, RecordSelection, parse_bound, parse_share
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.errors import BadInput

NOON = 1_740_830_400_000


class Source:
    """Three partitions; the record of offset i has the timestamp 1000 i."""

    name = "orders"
    spans: Mapping[int, Span] = {0: Span(10, 100, 5), 1: Span(0, 50), 2: Span(7, 7)}

    def offsets_at(self, time_ms: int) -> Mapping[int, int]:
        found = {number: max(span.first, -(-time_ms // 1000)) for number, span in self.spans.items()}
        return {number: offset for number, offset in found.items() if offset < self.spans[number].end}


def window(begin: str = "", end: str = "") -> dict[int, Span]:
    chosen = RecordSelection(parse_bound("--from", begin), parse_bound("--to", end))
    chosen.check()
    return chosen.spans(Source())


def test_selection_without_a_window_keeps_every_offset_and_has_no_notes() -> None:
    assert window() == Source.spans
    assert list(RecordSelection().notes()) == list(RecordSelection().texts()) == []


@pytest.mark.parametrize(
    ("begin", "end", "spans"),
    [
        ("offset:20", "", {0: Span(20, 100, 5), 1: Span(20, 50), 2: Span(7, 7)}),
        ("", "offset:20", {0: Span(10, 20), 1: Span(0, 20), 2: Span(7, 7)}),
        ("offset:0:40", "offset:1:5", {0: Span(40, 100, 5), 1: Span(0, 5), 2: Span(7, 7)}),
        ("offset:0:40,1:3", "offset:60", {0: Span(40, 60), 1: Span(3, 50), 2: Span(7, 7)}),
        ("1970-01-01T00:00:30Z", "1970-01-01T00:00:40.500Z", {0: Span(30, 41), 1: Span(30, 41), 2: Span(7, 7)}),
        ("1970-01-01T01:00:30+01:00", "", {0: Span(30, 100, 5), 1: Span(30, 50), 2: Span(7, 7)}),
        ("1970-01-01T00:01:00", "", {0: Span(60, 100, 5), 1: Span(50, 50), 2: Span(7, 7)}),
        ("offset:60", "1970-01-01T00:00:30Z", None),
        ("2030-01-01", "", None),
    ],
)
def test_time_or_offset_window_selects_offsets_and_raises_an_error_if_empty(
    begin: str, end: str, spans: dict[int, Span] | None
) -> None:
    if spans is None:
        with pytest.raises(
            BadInput, match=r"^orders has no offsets in the window --from .*: it has offsets 10 to 99 in"
        ):
            window(begin, end)
        return
    assert window(begin, end) == spans


def test_window_bounds_without_a_time_zone_are_utc() -> None:
    for text in ("2025-03-01T12:00:00Z", "2025-03-01T12:00:00", "2025-03-01 12:00", "2025-03-01T13:00:00+01:00"):
        assert parse_bound("--from", text) == Bound(text, time_ms=NOON)


@pytest.mark.parametrize(
    ("begin", "end", "line"),
    [
        (
            "yesterday",
            "",
            "--from yesterday: expected a time such as 2025-03-01T12:00:00Z, offset:N, or offset:P:N,P:N",
        ),
        ("5", "", "--from 5: expected a time"),
        ("", "offset:", "--to offset:: expected offset:N, or offset:P:N,P:N with each partition once"),
        ("offset:1:2,1:3", "", "--from offset:1:2,1:3: expected offset:N"),
        ("offset:-1", "", "--from offset:-1: expected offset:N"),
        ("offset:1:2,3", "", "--from offset:1:2,3: expected offset:N"),
        ("offset:9:2", "", "offset:9:2: orders has no partition 9, only 0 to 2"),
        ("offset:9", "offset:9", "--from offset:9 is not before --to offset:9: the window is empty"),
        ("2025-03-02", "2025-03-01", "--from 2025-03-02 is not before --to 2025-03-01"),
    ],
)
def test_malformed_empty_or_unknown_partition_window_bound_is_refused_with_bound_and_reason(
    begin: str, end: str, line: str
) -> None:
    with pytest.raises(BadInput) as raised:
        window(begin, end)
    assert str(raised.value).startswith(line)


@pytest.mark.parametrize(
    ("text", "share"), [("", 1), ("0.25", 0.25), ("5%", 0.05), ("1e-3", 0.001), ("100 %", 1), ("1", 1)]
)
def test_sample_option_is_parsed_as_a_fraction_or_percentage_and_defaults_to_1(text: str, share: float) -> None:
    assert parse_share(text) == share


@pytest.mark.parametrize("text", ["0", "1.5", "-1", "110%", "half", "%", "nan"])
def test_sample_option_other_than_a_number_above_0_up_to_1_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=rf"^--sample {text}: expected a share of the keys above 0 and up to 1"):
        parse_share(text)


def test_growing_key_sample_adds_whole_keys_to_about_the_share_and_never_keyless_records() -> None:
    keys = pa.array([None if at % 50 == 0 else b"k%d" % (at % 1999) for at in range(6000)], pa.binary())
    chosen = in_sample(keys, 0.1)
    by_key: dict[bytes | None, set[bool]] = {}
    for key, one in zip(keys.to_pylist(), chosen.tolist(), strict=True):
        by_key.setdefault(key, set()).add(one)
    assert all(len(found) == 1 for found in by_key.values())
    assert by_key[None] == {False}
    assert 0.07 < sum(found == {True} for found in by_key.values()) / 1999 < 0.13
    assert not (in_sample(keys, 0.05) & ~chosen).any(), "a smaller sample is a part of a larger one"
    offsets = np.arange(6000)
    (block,) = sampled([Block(3, offsets, offsets * 2, keys)], 0.1)
    assert block.offsets.tolist() == np.flatnonzero(chosen).tolist()
    assert block.keys.to_pylist() == keys.filter(pa.array(chosen)).to_pylist()
    assert list(sampled([Block(3, offsets[:1], offsets[:1], keys[:1])], 0.5)) == []


def test_key_sample_of_confluent_key_format_ignores_the_schema_id_prefix_of_keys() -> None:
    names = [b"user-%d" % number for number in range(400)]
    one, other = (pa.array([b"\0" + number.to_bytes(4, "big") + name for name in names]) for number in (7, 9))
    chosen = in_sample(one, 0.5, "confluent")
    assert 100 < np.count_nonzero(chosen) < 300
    assert in_sample(other, 0.5, "confluent").tolist() == chosen.tolist()


@pytest.mark.parametrize("text", [f"{'9' * 5000}", f"{'9' * 19}", f"0:{'9' * 30}", f"{'9' * 5000}:1", "0:1,0:2", "٣"])
def test_offset_bound_above_int64_with_non_ascii_digits_or_a_repeated_partition_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="expected offset:N"):
        parse_bound("--from", f"offset:{text}")
