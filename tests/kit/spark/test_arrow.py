from __future__ import annotations

from typing import Any

import pytest

from kafka_conformance.spark.arrow import to_arrow

pa = pytest.importorskip("pyarrow")
types = pytest.importorskip("pyspark.sql.types")

TABLE = pa.table({"key": pa.array([b"a", None], pa.binary()), "n": pa.array([1, 2], pa.int64())})


class Frame:
    """A frame of Spark 3.5."""

    schema = types.StructType([types.StructField("key", types.BinaryType()), types.StructField("n", types.LongType())])

    def __init__(self, batches: list[Any]) -> None:
        self._batches = batches

    def _collect_as_arrow(self) -> list[Any]:
        return self._batches


class NewFrame:
    """A frame of Spark 4."""

    def toArrow(self) -> Any:  # noqa: N802  Spark's own name
        return TABLE


@pytest.mark.parametrize("frame", [Frame(TABLE.to_batches()), NewFrame()], ids=["3.5", "4.0"])
def test_dataframe_of_spark_3_5_or_4_becomes_an_arrow_table(frame: Any) -> None:
    assert to_arrow(frame).equals(TABLE)


def test_empty_dataframe_becomes_an_arrow_table_with_schema() -> None:
    frame: Any = Frame([])
    assert to_arrow(frame).equals(TABLE.slice(0, 0))
