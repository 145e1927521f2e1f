"""The rows of a frame as an Arrow table, with every Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["to_arrow"]


def to_arrow(frame: DataFrame) -> Any:
    """Return the rows as a ``pyarrow.Table``: ``DataFrame.toArrow``, which Spark has since 4.0.

    Up to 3.5 it is made of the batches that ``toPandas`` is made of.
    """
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    old: Any = frame
    return pa.Table.from_batches(old._collect_as_arrow(), schema=to_arrow_schema(old.schema))  # noqa: SLF001
