from __future__ import annotations

import pytest

from kafka_reference.broker.batches import DataBatch

MOST = 2**31 - 1


@pytest.mark.parametrize(("first", "records", "last"), [(0, 1, 0), (4, 3, 6), (MOST, 2, 0), (-1, 9, -1), (-2, 2, -1)])
def test_last_sequence_wraps_or_stays_minus_1_and_last_offset_of_batch_counts_records(
    first: int, records: int, last: int
) -> None:
    batch = DataBatch(7, 0, first, records, 100, 0)
    assert (batch.last_sequence, batch.last_offset) == (last, 99 + records)
