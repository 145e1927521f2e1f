"""Where keys were build_index first and where next, held to a plain count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafka_conformance.audit.totals.split_key_index import build_index

Row = tuple[tuple[int, int], int, int, int, int]
"""An identity, a time, a partition, an offset, how many records."""

NUMBER = st.integers(0, 3)
ROWS = st.lists(
    st.tuples(st.tuples(NUMBER, NUMBER), st.integers(-1, 4), NUMBER, st.integers(0, 9), st.integers(1, 5)), max_size=40
)


def plainly(rows: list[Row]) -> dict[tuple[int, int], tuple[int, tuple[int, int, int] | None]]:
    found = {}
    for key in {row[0] for row in rows}:
        mine = [row for row in rows if row[0] == key]
        first: dict[int, tuple[int, int, int]] = {}
        for _, ms, partition, offset, _ in mine:
            first[partition] = min(first.get(partition, (ms, partition, offset)), (ms, partition, offset))
        places = sorted(first.values())
        found[key] = sum(row[4] for row in mine), places[1] if len(places) > 1 else None
    return found


@given(ROWS)
def test_split_key_index_has_each_keys_record_count_and_first_record_in_second_partition(rows: list[Row]) -> None:
    ids = np.array([row[0] for row in rows], np.uint64).reshape(len(rows), 2)
    kinds = np.int64, np.int32, np.int64, np.uint32
    columns = [np.array([row[at] for row in rows], kind) for at, kind in enumerate(kinds, 1)]
    keys = build_index(ids, *columns)
    found = {}
    for row, key in zip(rows, keys.key_of.tolist(), strict=True):
        second = int(keys.ms[key]), int(keys.partition[key]), int(keys.offset[key])
        found[row[0]] = int(keys.records[key]), second if second[1] >= 0 else None
    assert found == plainly(rows)
    assert len(keys.records) == len(found)
