from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from kafka_conformance.audit.findings import condition


def test_filter_for_several_column_combinations_selects_rows_that_match_all_columns_of_one() -> None:
    rows = pa.table({"a": [1, 1, 1, 2, 2], "b": [1, 2, 3, 1, 2]})
    found = rows.filter(condition(({"a": (1,), "b": (2, 3)}, {"a": (2,), "b": (1,)}), pc.field))
    assert list(zip(*found.to_pydict().values(), strict=True)) == [(1, 2), (1, 3), (2, 1)]
