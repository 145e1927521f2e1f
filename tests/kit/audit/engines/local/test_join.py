"""What a join of two topics misses, found in this process: held against counting every pair of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from join_truth import Row, check_agreement, check_every_pair, check_nothing_to_join, check_same_partitions, drawn_rows

from kafka_conformance.audit import join_judgement
from kafka_conformance.audit.attribution.block import Block
from kafka_conformance.audit.engines.local import join as local_join
from kafka_conformance.audit.engines.local.join import join_locally
from kafka_conformance.audit.join_result import Join
from kafka_conformance.audit.topics import Span
from kafka_conformance.core.progress import Steps


class Rows:
    """A source of these rows, in blocks of seven."""

    def __init__(self, name: str, partitions: int, rows: list[Row]) -> None:
        self.name, self.partitions, self._rows = name, partitions, rows
        self.spans = {number: Span(0, len(rows)) for number in range(partitions)}

    def blocks(self, spans: Mapping[int, Span]) -> Iterator[Block]:
        for partition in spans:
            rows = sorted(row for row in self._rows if row[0] == partition)
            for at in range(0, len(rows), 7):
                _, offsets, times, keys = zip(*rows[at : at + 7], strict=True)
                stamps = np.array([-1 if time is None else time for time in times])
                yield Block(partition, np.array(offsets), stamps, pa.array(keys, pa.binary()))

    def sample(self, records: int) -> pa.Table:
        raise NotImplementedError


def joined(a: list[Row], b: list[Row], counts: tuple[int, int] = (3, 3), rule: str = "murmur2", **given: Any) -> Join:
    sources = [Rows(name, count, rows) for name, count, rows in zip("AB", counts, (a, b), strict=True)]
    return join_locally(*sources, kit="0", clock=lambda: 1.0, rule=rule, progress=Steps("join", 1), **given)


@pytest.mark.parametrize("merged", [1, 1_000_000])
@pytest.mark.parametrize("batch", [3, 65_536])
def test_join_counts_equal_counting_every_pair_of_records(
    merged: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_join, "_MERGED", merged)
    monkeypatch.setattr(local_join, "_BATCH", batch)
    check_every_pair(joined)


def test_join_of_equally_placed_topics_misses_no_key_even_if_misplaced_against_murmur2() -> None:
    check_agreement(joined)


def test_key_spread_over_the_same_two_partitions_of_both_topics_is_partly_missed_by_a_join() -> None:
    check_same_partitions(joined)


@pytest.mark.parametrize("batch", [4, 65_536])
def test_join_result_keeps_only_the_worst_missed_keys_up_to_the_limit(
    batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_join, "_BATCH", batch)
    a: list[Row] = [(0, at, 1, b"k%02d" % (at % 20)) for at in range(50)]
    found = joined(a, [(1, at, 1, b"k%02d" % at) for at in range(20)], kept=7)
    assert (found.keys_missed, [bytes.fromhex(one.key) for one in found.missed]) == (
        20,
        [b"k%02d" % at for at in range(7)],
    )
    assert msgspec.json.decode(msgspec.json.encode(found), type=Join) == found


def test_join_of_a_key_sample_finds_a_subset_of_the_missed_keys() -> None:
    a, b = drawn_rows(7, 3), drawn_rows(8, 4)
    whole, half = joined(a, b, (3, 4)), joined(a, b, (3, 4), share=0.5)
    assert 0 < len(half.missed) < len(whole.missed)
    assert set(half.missed) < set(whole.missed)
    assert half.a.keyless == 0


def test_record_pair_counts_beyond_64_bits_are_exact() -> None:
    many = np.array([3 * 10**12, 5])
    assert join_judgement._product(many, many) == 9 * 10**24 + 25
    assert join_judgement._product(many[1:], many[1:]) == 25


def test_join_with_a_topic_without_records_or_keys_raises_an_error_that_names_the_topic() -> None:
    check_nothing_to_join(joined)
