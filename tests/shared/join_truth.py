"""What a join must find, with and without Spark: held against counting every pair of records in plain Python.

``joined`` is the join under test. It takes the rows of two topics A and B, and their partition counts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from kafka_conformance.audit.join_result import Join
from kafka_conformance.core.errors import BadInput
from kafka_reference import partition_for_key

__all__ = ["Row", "check_agreement", "check_every_pair", "check_nothing_to_join", "check_same_partitions", "drawn_rows"]

Row = tuple[int, int, int | None, bytes | None]
"""Partition, offset, timestamp, key."""


def drawn_rows(seed: int, partitions: int) -> list[Row]:
    drawn = random.Random(seed)
    keys = [None if drawn.random() < 0.1 else b"k%d" % drawn.randrange(40) for _ in range(300)]
    return [
        (drawn.randrange(partitions) if key is None or drawn.random() < 0.1 else partition_for_key(key, partitions),
         at, None if at % 11 == 0 else 1_000 - at, key)
        for at, key in enumerate(keys)
    ]  # fmt: skip


def check_every_pair(joined: Callable[..., Join]) -> None:
    """Check all counts of a join of topics with different partition counts."""
    a, b = drawn_rows(7, 3), drawn_rows(8, 4)
    found = joined(a, b, (3, 4))
    pairs = [(one, other) for one in a for other in b if one[3] is not None and one[3] == other[3]]
    apart = [(one, other) for one, other in pairs if one[0] != other[0]]
    missed = {one[3] for one, _ in apart}
    meeting = {one[3] for one, other in pairs if one[0] == other[0]}
    assert (found.pairs, found.pairs_missed) == (len(pairs), len(apart))
    assert (found.keys_missed, found.keys_never) == (len(missed), len(missed - meeting))
    assert found.keys_in_both == len({one[3] for one, _ in pairs})
    by_rule = [
        {row[3] for row in rows}
        - {row[3] for row in rows if row[3] is not None and partition_for_key(row[3], count) != row[0]}
        for rows, count in ((a, 3), (b, 4))
    ]
    assert found.neither_to_blame == len(missed & by_rule[0] & by_rule[1])
    for side, rows, at in ((found.a, a, 0), (found.b, b, 1)):
        count = 3 + at
        affected = Counter(pair[at][3] for pair in {pair[at]: pair for pair in apart}.values())
        off = [row for row in rows if row[3] is not None and partition_for_key(row[3], count) != row[0]]
        assert (side.records, side.keyless) == (300, sum(row[3] is None for row in rows))
        assert side.keys == len({row[3] for row in rows} - {None})
        assert (side.off_records, side.off_keys) == (len(off), len({row[3] for row in off}))
        assert side.affected == affected.total()
        assert side.to_blame == len(missed & {row[3] for row in off})
    assert (found.same_count, found.whole) == (False, False)
    assert {bytes.fromhex(one.key) for one in found.missed} == missed
    assert list(found.missed) == sorted(found.missed, key=lambda one: (-one.affected, one.key))
    for one in found.missed:
        for places, rows in ((one.a, a), (one.b, b)):
            mine = [row for row in rows if row[3] == bytes.fromhex(one.key)]
            first = {row[0]: min((-1 if other[2] is None else other[2], other[1]) for other in mine if other[0] == row[0])
                     for row in mine}  # fmt: skip
            assert {place.partition: place.records for place in places} == Counter(row[0] for row in mine)
            assert {place.partition: (place.first.time_ms, place.first.offset) for place in places} == first
            assert [place.partition for place in places] == sorted(first)


def check_agreement(joined: Callable[..., Join]) -> None:
    """Check that topics with equal placements miss nothing, whatever the rule."""
    rows: list[Row] = [(at % 3, at, None, b"k%d" % at) for at in range(30)]
    found = joined(rows, rows)
    assert found.whole
    assert (found.a.to_blame, found.neither_to_blame, found.missed) == (0, 0, ())
    assert found.a.off_records > 0, "off Java's rule, both in the same way"


def check_same_partitions(joined: Callable[..., Join]) -> None:
    """Check that a key in the same two partitions of both topics is missed, partly."""
    both: list[Row] = [(0, 0, 1, b"x"), (1, 0, 2, b"x")]
    found = joined(both, both)
    assert (found.keys_missed, found.keys_never, found.pairs, found.pairs_missed) == (1, 0, 4, 2)
    assert (found.a.affected, found.b.affected) == (2, 2)


def check_nothing_to_join(joined: Callable[..., Join]) -> None:
    """Check the errors for topics without records, and without keys."""
    rows: list[Row] = [(0, 0, 1, b"k")]
    with pytest.raises(BadInput, match="B has no records: a join needs records in both topics"):
        joined(rows, [])
    with pytest.raises(BadInput, match="A has no record with a key: a join needs keys in both topics"):
        joined([(0, 0, 1, None)], rows)
