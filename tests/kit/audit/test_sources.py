from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.sources import Span, chunked

SPANS = st.dictionaries(
    st.integers(0, 20), st.tuples(st.integers(0, 10**9), st.integers(0, 5_000)).map(lambda it: Span(it[0], sum(it)))
)


@given(SPANS, st.integers(1, 10_000))
def test_chunks_hold_every_offset_once_and_in_order(spans: dict[int, Span], records: int) -> None:
    chunks = chunked(spans, records)
    for partition, span in spans.items():
        pieces = [chunk[partition] for chunk in chunks if partition in chunk]
        assert sum(piece.end - piece.first for piece in pieces) == span.end - span.first
        if pieces:
            assert pieces[0].first == span.first
            assert pieces[-1].end == span.end
            assert all(one.end == other.first for one, other in pairwise(pieces))
    assert all(chunk for chunk in chunks)


@pytest.mark.parametrize("records", [1, 7, 1000])
def test_a_chunk_is_about_as_large_as_it_should_be(records: int) -> None:
    spans = {partition: Span(0, 5_000) for partition in range(4)}
    largest = max(sum(span.end - span.first for span in chunk.values()) for chunk in chunked(spans, records))
    assert largest <= max(records, 4) + 4


def test_nothing_is_no_chunk() -> None:
    assert chunked({0: Span(5, 5), 1: Span(0, 0)}, 100) == []
    assert chunked({}, 100) == []
