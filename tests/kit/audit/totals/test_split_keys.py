from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.attribution.distinct_keys import KeysSeen, pack
from kafka_conformance.audit.result import Place
from kafka_conformance.audit.totals.split_keys import EARLIEST, buckets_for, found_in, into_buckets

Seen = list[tuple[int, list[tuple[tuple[int, int], int, int, int]]]]
"""Blocks: a partition, and of each key its identity, first offset, first moment, records."""

IDS = st.tuples(st.integers(0, 3), st.integers(0, 3))
KEYS = st.lists(
    st.tuples(IDS, st.integers(0, 99), st.integers(-1, 20), st.integers(1, 5)), unique_by=lambda key: key[0]
)
BLOCKS = st.lists(st.tuples(st.integers(0, 3), KEYS), max_size=8)


def seen(keys: list[tuple[tuple[int, int], int, int, int]]) -> KeysSeen:
    ids = np.array([key[0] for key in keys], np.uint64).reshape(len(keys), 2)
    columns = [np.array([key[at] for key in keys], kind) for at, kind in ((1, np.int64), (2, np.int64), (3, np.uint32))]
    return KeysSeen(ids, *columns)


def packed(keys: list[tuple[tuple[int, int], int, int, int]]) -> bytes:
    return pack(seen(keys))


def plainly(blocks: Seen) -> tuple[int, dict[tuple[int, int], tuple[list[Place], int]]]:
    """How many keys there are, and the split ones: their first places in order, and how many records."""
    first: dict[tuple[int, int], dict[int, Place]] = defaultdict(dict)
    records: dict[tuple[int, int], int] = defaultdict(int)
    for partition, keys in blocks:
        for key, offset, ms, count in keys:
            place = Place(ms, partition, offset)
            first[key][partition] = min(first[key].get(partition, place), place)
            records[key] += count
    return len(first), {key: (sorted(at.values()), records[key]) for key, at in first.items() if len(at) > 1}


@given(BLOCKS)
def test_split_keys_are_those_found_in_several_partitions(blocks: Seen) -> None:
    keys, split = plainly(blocks)
    found = found_in([(partition, packed(each)) for partition, each in blocks] or [(0, packed([]))])
    assert (found.keys, found.split) == (keys, len(split))
    assert found.records == sum(count for _, count in split.values())
    earliest = sorted(([*places], count) for places, count in found.earliest)
    assert earliest == sorted(split.values())
    assert [places[1] for places, _ in found.earliest] == sorted(places[1] for places, _ in found.earliest)


def test_earliest_split_keys_are_ordered_by_first_record_in_the_second_partition() -> None:
    """Keys split in the order of their numbers, with many records in the first partition before that."""
    count = 3 * EARLIEST
    blocks: Seen = [(0, [((key, 0), key, key % 7, 1) for key in range(count)]) for _ in range(3)]
    blocks.append((1, [((key, 0), key, 1_000 + key, 1) for key in reversed(range(count))]))
    found = found_in([(partition, packed(keys)) for partition, keys in blocks])
    assert [places[1].time_ms for places, _ in found.earliest] == list(range(1_000, 1_000 + EARLIEST))


def test_number_of_key_buckets_is_one_per_two_million_records_and_at_most_4096() -> None:
    counts = 0, 1, 2_000_000, 2_000_001, 10_000_000, 10**15
    assert [*map(buckets_for, counts)] == [1, 1, 1, 2, 5, 4_096]


@pytest.mark.parametrize("buckets", [1, 2, 7])
@given(blocks=BLOCKS)
def test_number_of_buckets_does_not_change_split_keys(buckets: int, blocks: Seen) -> None:
    pieces: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for partition, each in blocks:
        for bucket, some in into_buckets(seen(each), buckets):
            pieces[bucket].append((partition, some))
    assert set(pieces) <= set(range(buckets))
    found = [found_in(each) for each in pieces.values()]
    keys, split = plainly(blocks)
    assert (sum(one.keys for one in found), sum(one.split for one in found)) == (keys, len(split))
