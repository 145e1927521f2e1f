from __future__ import annotations

import pytest

from kafka_reference.broker.batches import DataBatch, decremented, incremented, int32

MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("sequence", "by", "then"), [(0, 5, 5), (MOST, 0, MOST), (MOST, 1, 0), (MOST - 1, 3, 1), (MOST, MOST, MOST - 1)]
)
def test_sequences_go_round_and_back(sequence: int, by: int, then: int) -> None:
    assert incremented(sequence, by) == then
    assert decremented(then, by) == sequence


def test_an_int_is_32_bits() -> None:
    assert [int32(number) for number in (2**31, -(2**31) - 1, 2**32 + 5, -1)] == [-(2**31), MOST, 5, -1]


@pytest.mark.parametrize(("first", "records", "last"), [(0, 1, 0), (4, 3, 6), (MOST, 2, 0), (-1, 9, -1), (-2, 2, -1)])
def test_where_a_batch_ends(first: int, records: int, last: int) -> None:
    batch = DataBatch(7, 0, first, records, 100, 0)
    assert (batch.last_sequence, batch.last_offset) == (last, 99 + records)
