"""The rows of a run's folder, read and mapped by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from kafka_conformance.audit.findings import BLOCK, FORMS, KEYS, RECORD, Where, condition
from kafka_conformance.audit.record_files import RECORD_SCHEMA
from kafka_conformance.audit.scan import BLOCK_SCHEMA, KEYS_SCHEMA
from kafka_conformance.spark.arrow import to_arrow
from kafka_conformance.spark.runs import Run
from kafka_conformance.spark.workers import Work, mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkFindings"]

_SCHEMAS = {BLOCK: BLOCK_SCHEMA, KEYS: KEYS_SCHEMA, FORMS: KEYS_SCHEMA, RECORD: RECORD_SCHEMA}
_HEAVY = 8
"""Rows per batch of blocks and keys: each may hold a megabyte."""


class SparkFindings:
    """The rows of the first ``chunks`` chunks of a run, all of which are finished."""

    def __init__(self, run: Run, chunks: int) -> None:
        self._run, self._chunks = run, chunks

    def rows(self, kind: str, columns: Sequence[str], where: Where = ()) -> pa.Table:
        """Return these columns of the rows of a kind, in no order."""
        return to_arrow(self._frame(kind, where).select(*columns))

    def mapped(
        self, kind: str, columns: Sequence[str], work: Work, gives: pa.Schema, *, where: Where = (), buckets: int = 0
    ) -> pa.Table:
        """Return the rows that ``work`` makes of these columns; all rows of one of ``buckets`` are in one task."""
        from pyspark.sql.pandas.types import from_arrow_schema

        frame = self._frame(kind, where).select(*columns)
        if buckets:
            frame = frame.repartition(buckets, "bucket") if buckets > 1 else frame.coalesce(1)
        made = mapped(frame, work, from_arrow_schema(gives))
        if kind == RECORD:
            return to_arrow(made)
        with self._run.spark.batches_of(_HEAVY):
            return to_arrow(made)

    def _frame(self, kind: str, where: Where) -> DataFrame:
        from pyspark.sql import functions as f

        frame = self._run.read(self._chunks, _SCHEMAS[kind], f"kind={kind}")
        return frame.where(condition(where, f.col)) if where else frame
